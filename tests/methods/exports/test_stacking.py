"""Exported dialogues stacked to a budget of tokens, and the page of a dataset."""

from dataclasses import replace

import pytest

from methods.evaluation.items import Turn
from methods.exports.dataset_card import DatasetCardInput, page_text, summary
from methods.exports.rows import CreditedImage, ExportedItem, messages, shown_images
from methods.exports.stacking import (
    TokenBudget,
    estimate_tokens,
    join_dialogues,
    stacking_summary,
    stacks,
    tokens_of,
)
from methods.licences.combination import SetLicence

HERE = "<ImageHere>"


def dialogue(name: str, *said: tuple[str, tuple[int, ...], str], pictures: str = ""):
    turns = [
        Turn(place, question, positions, {"answer": answer})
        for place, (question, positions, answer) in enumerate(said, start=1)
    ]
    return ExportedItem(name, tuple(turns), tuple(map(CreditedImage, pictures)))


LAKES = dialogue(
    "lakes",
    (f"Image1: {HERE}, Image2: {HERE}. Is <image-1> <image-2>?", (1, 2), "<image-2> is."),
    (f"Image3: {HERE}. And <IMAGE-3>? Image1: no.", (3,), "No."),
    pictures="abc",
)
OWLS = dialogue("owls", (f"{HERE}Who is <image-1>?", (1,), "An owl."), pictures="d")
TALK = dialogue("talk", ("Why?", (), "Because."))


def test_images_count_on_through_a_record() -> None:
    # No turn shows the picture "e".
    unseen = replace(OWLS, pictures=(*OWLS.pictures, CreditedImage("e")))
    stack = join_dialogues([unseen, LAKES, TALK])
    assert [each.text("[]") for each in messages(stack)] == [
        *("[]Who is <image-1>?", "An owl."),
        *("Image2: [], Image3: []. Is <image-2> <image-3>?", "<image-3> is."),
        *("Image4: []. And <image-4>? Image1: no.", "No."),
        *("Why?", "Because."),
    ]
    assert [picture.image_id for picture in stack.pictures] == list("dabc")
    assert shown_images(messages(stack)) == [0, 1, 2, 3]
    assert stack.stacked == ("owls", "lakes", "talk") and join_dialogues([OWLS]) is OWLS


def test_tokens_are_those_of_texts_pictures_and_messages() -> None:
    assert [estimate_tokens(text) for text in ("", "abcd", "大", "大人")] == [0, 2, 1, 2]
    # "Who is <image-1>?" has 17 bytes, "An owl." 7: 6 + 3 tokens, one picture, two messages.
    assert tokens_of(OWLS, estimate_tokens, TokenBudget(100, 50)) == 6 + 3 + 50 + 2 * 5


def test_a_dialogue_stands_in_the_first_record_with_room_for_it() -> None:
    one, other, small = (
        dialogue(name, ("x" * n, (), "y")) for name, n in zip("abc", (60, 60, 3), strict=True)
    )
    made = stacks([one, other, small], len, TokenBudget(71 + 14, 0))
    assert [[item.item_id for item in stack.items] for stack in made] == [["a", "c"], ["b"]]
    assert [stack.tokens for stack in made] == [71 + 14, 71]


def test_what_is_longer_or_names_what_it_does_not_show_stands_alone_and_whole() -> None:
    lost = dialogue("lost", ("Where is <image-7>?", (), "Nowhere."))
    endless = dialogue("endless", ("?", (), "<image-" + "9" * 5_000 + ">"))
    long = dialogue("long", ("x" * 200, (), "y"))
    made = stacks([lost, TALK, long, OWLS, endless], len, TokenBudget(150, 0))
    records = [["lost"], ["talk", "owls"], ["long"], ["endless"]]
    assert [[item.item_id for item in stack.items] for stack in made] == records
    assert [stack.whole for stack in made] == [True, True, False, False]
    assert join_dialogues(made[2].items) == long
    # No picture has two numbers in a record.
    again = replace(OWLS, item_id="again")
    apart = stacks([OWLS, again, TALK], len, TokenBudget(10_000, 0))
    assert [len(stack.items) for stack in apart] == [2, 1]


@pytest.mark.parametrize("n_longer", [0, 2])
def test_a_page_says_how_it_was_counted_and_what_is_longer(n_longer: int) -> None:
    said = stacking_summary(TokenBudget(8192, 576, "/m/tokenizer.json"), [3, 1], n_longer)
    assert "4 dialogues in 2 records of at most 8192 tokens by the tokenizer /m/tokenizer.j" in said
    assert ("2 longer dialogues are whole records of their own." in said) == bool(n_longer)


def test_split_and_language_are_shown_as_they_are_and_act_as_nothing() -> None:
    card = {
        **{"benchmark": "mmbench", "kind": "benchmark", "origin": "imported", "settings": "{}"},
        **{"n_items": 1, "n_turns": 1, "n_images": 0},
        "split": "<script>alert(1)</script>",
        "language": "[x](javascript:alert(1))\n`<img src=http://a/x>",
    }
    said = summary(card)
    outside, _, inside = said.partition("`")
    inside, _, after = inside.partition("`")
    assert "<script>" in inside and "<img" in inside and "\n" not in inside
    assert not set("<[`") & set(outside + after)


def test_names_that_an_imported_release_says_are_shown_and_act_as_nothing() -> None:
    card = {
        **{"release_id": "mmdu-0", "name": "mmdu", "benchmark": "mmdu", "kind": "benchmark"},
        **{"n_items": 1, "n_turns": 1, "n_images": 0, "provider": None, "created_at": "2026-01-01"},
        **{"review_policy": "all", "review_share": 1.0, "project_version": "1\n```\n# Mine"},
    }
    name = "[click](javascript:alert(1)) **b** ![p](http://a/p) <img src=http://a/x>"
    page = page_text(DatasetCardInput([card], SetLicence(name), {}, [], {}, stated="MIT"))
    assert f"The whole is under `{name}`. For its texts" in page
    assert "made with vlm-loom 1 ``` # Mine}" in page and "\n# Mine" not in page
    unknown = page_text(DatasetCardInput([card], SetLicence(None, 2), {}, [], {}))
    assert "none is known of 2 pictures" in unknown
