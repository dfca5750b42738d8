"""Dialogues that are too long for a model, and messages without their images."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, get_args

import pytest

from methods.evaluation import ablations
from methods.evaluation.asking import (
    Answer,
    AnswerRequest,
    AskingLimits,
    ContextPolicy,
    policy_of,
    with_policy,
)
from methods.evaluation.items import Item, Turn
from methods.mmdu import Mmdu
from methods.mmiu import Mmiu
from methods.prompts.messages import Image, Message, Text
from resources.settings.prompts import prompt
from tests.methods.evaluation.driving import drive

DIALOGUE = Item(
    "i",
    (
        Turn(1, "Q1 <ImageHere> <ImageHere>", (1, 2)),
        Turn(2, "Q2"),
        Turn(3, "Q3 <ImageHere>", (3,)),
        Turn(4, "Q4"),
        Turn(5, "Q5 <ImageHere>", (4,)),
    ),
    ("a", "b", "c", "d"),
)
TooLong = Callable[[AnswerRequest], bool]


def asked(
    policy: ContextPolicy, too_long: TooLong, item: Item = DIALOGUE, benchmark: Any = Mmdu
) -> list[AnswerRequest]:
    """Everything that is yielded to a model for which some prompts are too long."""

    def answer(ask: AnswerRequest) -> Answer:
        if too_long(ask):
            return Answer("failed", too_long=True)
        return Answer("answered", f"A{ask.turn}")

    steps = drive(benchmark().ask(item, AskingLimits(policy, prompt)), answer)
    return [step for step in steps if isinstance(step, AnswerRequest)]


def longer_than(n_messages: int) -> TooLong:
    return lambda ask: len(ask.messages) > n_messages


def words(ask: AnswerRequest) -> str:
    """Everything that is sent, a picture as its name in brackets."""
    return "|".join(
        "".join(p.text if isinstance(p, Text) else f"[{p.image_id}]" for p in message.parts)
        for message in ask.messages
    )


def last_of(asks: list[AnswerRequest], turn: int) -> AnswerRequest:
    return [ask for ask in asks if ask.turn == turn][-1]


def test_under_fail_or_for_another_reason_a_turn_is_asked_once():
    asks = asked("fail", longer_than(7))
    assert [(ask.turn, ask.can_be_shorter) for ask in asks] == [(n, False) for n in range(1, 6)]
    # A failure for another reason is not asked again.
    given = {1: Answer("answered", "A"), 2: Answer("failed")}
    steps = drive(Mmdu().ask(DIALOGUE, AskingLimits("truncate")), lambda ask: given[ask.turn])
    assert [step.turn for step in steps if isinstance(step, AnswerRequest)] == [1, 2]


@pytest.mark.parametrize(
    ("n_messages", "left_out", "sent"),
    [
        (
            7,
            1,
            "The first turn of this dialogue is left out, as the whole of it is too long. "
            "Left out with it: <image-1> to <image-2>. The first picture below is <image-3>.\n\n"
            "Q2|A2|Q3 [c]|A3|Q4|A4|Q5 [d]",
        ),
        (
            1,
            4,
            "The first 4 turns of this dialogue are left out, as the whole of it is too long. "
            "Left out with them: <image-1> to <image-3>. The first picture below is <image-4>.\n\n"
            "Q5 [d]",
        ),
    ],
)
def test_the_oldest_turns_are_left_out_with_their_images_and_the_model_is_told(
    n_messages, left_out, sent
):
    fifth = last_of(asked("truncate", longer_than(n_messages)), 5)
    assert (fifth.turns_left_out, words(fifth)) == (left_out, sent)
    assert [message.role for message in fifth.messages[:2]] == ["user", "assistant"][:n_messages]


def test_a_question_or_an_image_that_is_too_long_alone_fails():
    asks = asked("truncate", lambda ask: ask.turn == 3)
    assert [(ask.turn, ask.turns_left_out, ask.can_be_shorter) for ask in asks] == [
        *[(1, 0, False), (2, 0, True), (3, 0, True), (3, 1, True), (3, 2, False)]
    ]
    # A model that is shown no picture any more is told no next one.
    fourth = last_of(asked("truncate", lambda ask: ask.turn == 4 and len(ask.messages) > 1), 4)
    assert words(fourth).endswith("Left out with them: <image-1> to <image-3>.\n\nQ4")
    # One image that is too long fails.
    asks = sampled(0)
    assert (asks[-1].images_left_out, asks[-1].can_be_shorter) == (24, False)
    assert len(asks) < 25


def test_a_grid_that_is_too_long_fails_and_one_picture_makes_no_grid() -> None:
    asks = asked("tile", lambda ask: ask.turn == 3)
    last_two = [(ask.turn, ask.in_a_grid, ask.can_be_shorter) for ask in asks[-2:]]
    assert last_two == [(3, False, True), (3, True, False)]
    alone = Item("i", (Turn(1, "Q <ImageHere>", (1,)),), ("a",))
    (only,) = asked("tile", lambda ask: True, alone)
    assert only == AnswerRequest("plain", 1, (Message("user", (Text("Q "), Image("a"))),))


QUESTION = Turn(1, "<ImageHere>" * 25, tuple(range(1, 26)), {"key": "A"})
MANY = Item("many", (QUESTION,), tuple(f"p{n}" for n in range(25)), ("x", "y"))


def sampled(most: int) -> list[AnswerRequest]:
    """Everything that is asked of a model that takes so many pictures."""
    return asked("sample", lambda ask: len(pictures_in(ask.messages)) > most, MANY, Mmiu)


def test_images_are_left_out_by_a_tenth_until_the_rest_fits_and_texts_take_their_places() -> None:
    asks = sampled(20)
    sent = [pictures_in(ask.messages) for ask in asks]
    # 25, less 2 of 25, less 2 of 23, less 2 of 21.
    assert [ask.images_left_out for ask in asks] == [0, 2, 4, 6]
    assert [len(pictures) for pictures in sent] == [25, 23, 21, 19]
    # What is left stands in its order, what is sent last was sent before, too.
    for pictures, fewer in pairwise(sent):
        assert [each for each in pictures if each in fewer] == fewer
    assert [ask.can_be_shorter for ask in asks] == [True] * 4
    *_, last = asks
    kept = sent[-1]
    due = ",\n".join(
        f"Image{n + 1}: " + (f"[p{n}]" if f"p{n}" in kept else f"<image {n + 1} is left out>")
        for n in range(25)
    )
    assert words(last).startswith(f"{due}\nQuestion: ") and "(A) x" in words(last)


def test_a_version_names_the_policy_and_tells_it() -> None:
    for policy in get_args(ContextPolicy):
        assert policy_of(with_policy("dialogue@1", policy)) == policy
    assert with_policy("dialogue@1", "fail") == "dialogue@1"


FIRST = (Text("Image1: "), Image("a"), Text(" Compare it with <image-2>: "), Image("b"))
SAID = (
    Message("user", FIRST),
    Message.from_text("assistant", "Both are red."),
    Message("user", (Text("And "), Image("a"), Text("?"))),
)


def item_with(name: str, *images: str, group: str | None = None) -> Item:
    return Item(name, (Turn(1, "Which colour?"),), images, group_id=group)


def texts(messages: tuple[Message, ...]) -> list[str]:
    return ["".join(p.text for p in each.parts if isinstance(p, Text)) for each in messages]


def pictures_in(messages: tuple[Message, ...]) -> list[str]:
    return [p.image_id for each in messages for p in each.parts if isinstance(p, Image)]


def test_without_images_the_words_stay_with_their_numbers() -> None:
    sent = ablations.without_images(SAID)
    assert pictures_in(sent) == []
    assert texts(sent) == texts(SAID)
    assert texts(sent)[0] == "Image1:  Compare it with <image-2>: "
    assert [each.role for each in sent] == ["user", "assistant", "user"]


def test_images_are_replaced_where_they_stand() -> None:
    sent = ablations.with_images(SAID, {"a": "x", "b": "y"})
    assert pictures_in(sent) == ["x", "y", "x"]
    assert texts(sent) == texts(SAID)
    # A picture that is none of the item's stays.
    assert pictures_in(ablations.with_images(SAID, {"a": "x"})) == ["x", "b", "x"]


def instead_of_all(items: list[Item]) -> dict[str, dict[str, str]]:
    return {item.item_id: ablations.images_of_others(items, n) for n, item in enumerate(items)}


def test_the_next_item_with_an_image_at_the_position_lends_it() -> None:
    items = [item_with("1", "a", "b"), item_with("2", "c"), item_with("3", "d", "e", "f")]
    items.append(item_with("4"))
    assert instead_of_all(items) == {
        # The second image of item 1 is that of item 3, since item 2 has one only.
        "1": {"a": "c", "b": "e"},
        "2": {"c": "d"},
        # The items after the last one are the first ones, and no other item has a third image.
        "3": {"d": "a", "e": "b", "f": "a"},
        "4": {},
    }


def test_items_of_the_same_group_and_images_of_ones_own_are_passed_over() -> None:
    items = [
        *(item_with("1", "a", group="g"), item_with("2", "b", group="g")),
        *(item_with("3", "a", "c"), item_with("4", "c")),
    ]
    instead = instead_of_all(items)
    of_third = {"a": "b", "c": "b"}
    assert instead == {"1": {"a": "c"}, "2": {"b": "a"}, "3": of_third, "4": {"c": "a"}}


@pytest.mark.parametrize(
    "others",
    [[], [item_with("2")], [item_with("2", "a", group="h")], [item_with("2", "b", group="g")]],
)
def test_a_release_without_other_images_is_refused_in_a_sentence(others: list[Item]) -> None:
    with pytest.raises(ablations.NoOtherImages) as refused:
        instead_of_all([item_with("1", "a", group="g"), *others])
    assert str(refused.value) == (
        "No other item of the release has an image to show in place of image 1 of 1, so other-images "
        "cannot be asked about it."
    )
