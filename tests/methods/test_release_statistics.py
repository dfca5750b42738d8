"""What a release consists of, counted by hand on a few items."""

from dataclasses import replace

from methods.evaluation.items import Item, Turn
from methods.evaluation.slices import MOST_VALUES
from methods.release_statistics import (
    CategoryCounts,
    Distribution,
    distributions,
    histogram,
    shares,
    summary,
    token_classes,
)

DIALOGUE = Item(
    "d",
    (
        Turn(1, "Compare these two.", (1, 2), {"answer": "One is red."}),
        Turn(2, "And <image-1>?", (), {"answer": "It is a boat."}),
    ),
    ("a", "b"),
    labels={"category": "boats"},
)
CHOICE = Item(
    "c",
    (Turn(1, "Which one?", (1,), {"key": "B"}),),
    ("a",),
    choices=("cat", "dog"),
    labels={"category": "animals"},
)


def test_sizes_of_dialogues_and_lengths_of_their_texts() -> None:
    assert distributions([DIALOGUE, DIALOGUE], len) == [
        Distribution("Turns per dialogue", "turns", "dialogues", (2, 2)),
        Distribution("Images per dialogue", "images", "dialogues", (2, 2)),
        # 18 + 11 + 14 + 13 characters and three between them.
        Distribution("Text tokens per dialogue, estimated", "tokens", "dialogues", (59, 59)),
        Distribution("Words per question", "words", "questions", (3, 2, 3, 2)),
        Distribution("Words per reference answer", "words", "answers", (3, 4, 3, 4)),
    ]


def test_what_single_questions_lack_is_left_out() -> None:
    assert [each.name for each in distributions([CHOICE], len)] == [
        "Images per item",
        "Text tokens per item, estimated",
        "Words per question",
    ]
    text_only = Item("t", (Turn(1, "Who?"),))
    assert "Images per item" not in [each.name for each in distributions([text_only], len)]
    assert distributions([], len) == [] and shares([]) == []


def test_items_are_counted_by_tokens_of_images_and_texts() -> None:
    # Texts have 59 tokens; both images together decide the class.
    sizes = [{"a": 3_000, "b": 940}, {"a": 3_941, "b": 0}, {"a": 4_000, "b": 7_941}]
    classes = [
        next(name for name, n in token_classes([DIALOGUE], len, tokens)[0].counts if n)
        for tokens in (*sizes, {"a": 12_000, "b": 1})
    ]
    assert classes == ["under 4k", "4k to 8k", "8k to 12k", "over 12k"]
    assert token_classes([DIALOGUE], len, {"a": 1}) == [], "the size of b is not known"


def test_sources_are_counted_and_ids_are_no_shares():
    by_source = [replace(CHOICE, labels={"source": name}) for name in ("COCO", "VSR", "COCO")]
    assert CategoryCounts("Source", "items", (("COCO", 2), ("VSR", 1))) in shares(by_source)
    # Labels that are ids are no shares.
    items = [
        Item(str(n), (Turn(1, "Who?"),), labels={"id": str(n)}) for n in range(MOST_VALUES + 1)
    ]
    assert "Id" not in [share.name for share in shares(items)]


def test_kinds_of_questions_choices_and_labels() -> None:
    assert shares([DIALOGUE, CHOICE]) == [
        CategoryCounts(
            "A question is about", "questions", (("one image", 2), ("several images", 1))
        ),
        CategoryCounts("Choices offered", "dialogues", (("2", 1),)),
        CategoryCounts("Right choice", "questions", (("B", 1),)),
        CategoryCounts("Category", "dialogues", (("animals", 1), ("boats", 1))),
    ]


def test_values_in_words_and_bins_of_round_numbers():
    assert summary([1, 2, 2, 9]) == "n = 4, mean 3.5, median 2, range 1–9"
    assert summary([1, 2, 3]) == "n = 3, mean 2, median 2, range 1–3"
    assert summary([]) == "nothing to show"
    # Bins are round numbers.
    assert histogram([5]) == [(5, 5, 1)]
    assert [each.first for each in histogram([5, 12])] == [5, 6, 7, 8, 9, 10, 11, 12]
    # 77 to 172: 70 to 179 in steps of ten.
    assert [len(histogram([0, most])) for most in (11, 12)] == [12, 7], "at most twelve"
    assert histogram([77, 172])[0] == (70, 79, 1) and histogram([77, 172])[-1] == (170, 179, 1)
