"""Messages without their images, or with those of another item."""

import pytest

from methods.evaluation.ablations import (
    NoOtherImages,
    images_of_others,
    with_images,
    without_images,
)
from methods.evaluation.items import Item, Turn
from methods.prompts.messages import Image, Message, Text

FIRST = (Text("Image1: "), Image("a"), Text(" Compare it with <image-2>: "), Image("b"))
SAID = (
    Message("user", FIRST),
    Message.from_text("assistant", "Both are red."),
    Message("user", (Text("And "), Image("a"), Text("?"))),
)


def item(name: str, *images: str, group: str | None = None) -> Item:
    return Item(name, (Turn(1, "Which colour?"),), images, group_id=group)


def texts(messages: tuple[Message, ...]) -> list[str]:
    return ["".join(p.text for p in each.parts if isinstance(p, Text)) for each in messages]


def pictures(messages: tuple[Message, ...]) -> list[str]:
    return [p.image_id for each in messages for p in each.parts if isinstance(p, Image)]


def test_without_images_the_words_stay_with_their_numbers() -> None:
    sent = without_images(SAID)
    assert pictures(sent) == []
    assert texts(sent) == texts(SAID)
    assert texts(sent)[0] == "Image1:  Compare it with <image-2>: "
    assert [each.role for each in sent] == ["user", "assistant", "user"]


def test_images_are_replaced_where_they_stand() -> None:
    sent = with_images(SAID, {"a": "x", "b": "y"})
    assert pictures(sent) == ["x", "y", "x"]
    assert texts(sent) == texts(SAID)
    # A picture that is none of the item's stays.
    assert pictures(with_images(SAID, {"a": "x"})) == ["x", "b", "x"]


def instead_of_all(items: list[Item]) -> dict[str, dict[str, str]]:
    return {item.item_id: images_of_others(items, place) for place, item in enumerate(items)}


def test_the_next_item_with_an_image_at_the_position_lends_it() -> None:
    items = [item("1", "a", "b"), item("2", "c"), item("3", "d", "e"), item("4")]
    assert instead_of_all(items) == {
        # The second image of item 1 is that of item 3, since item 2 has one only.
        "1": {"a": "c", "b": "e"},
        "2": {"c": "d"},
        # The items after the last one are the first ones.
        "3": {"d": "a", "e": "b"},
        "4": {},
    }


def test_items_of_the_same_group_and_images_of_ones_own_are_passed_over() -> None:
    items = [
        *(item("1", "a", group="g"), item("2", "b", group="g")),
        *(item("3", "a"), item("4", "c")),
    ]
    instead = instead_of_all(items)
    assert instead == {"1": {"a": "c"}, "2": {"b": "a"}, "3": {"a": "c"}, "4": {"c": "a"}}


@pytest.mark.parametrize(
    "items",
    [
        [item("1", "a")],
        [item("1", "a"), item("2")],
        [item("1", "a"), item("2", "a")],
        [item("1", "a", group="g"), item("2", "b", group="g")],
    ],
)
def test_a_release_without_other_images_is_refused_in_a_sentence(items: list[Item]) -> None:
    with pytest.raises(NoOtherImages) as refused:
        instead_of_all(items)
    assert str(refused.value) == (
        "No other item of the release has an image to show in place of image 1 of 1, so other-images "
        "cannot be asked about it."
    )
