"""The card of a release, and what a release consists of."""

from dataclasses import replace

import pytest

from methods.evaluation.items import Item, Turn
from methods.evaluation.slices import MOST_VALUES
from methods.release_card import card_markdown, card_of, exported_card, facts, row_of
from methods.release_statistics import (
    CategoryCounts,
    Distribution,
    distributions,
    histogram,
    shares,
    summary,
    token_classes,
)

CARD = {
    **{"name": "mmdu", "kind": "benchmark", "n_items": 2, "n_turns": 2, "n_images": 4},
    **{"created_at": "2026-11-25", "review_policy": "none", "review_share": 0.0},
    "provider": "mock",
}
IMAGES = {"CC-BY-NC-ND-4.0": 1, "CC-BY-SA-4.0": 2, "unknown": 1}


def said(licences: dict[str, dict[str, int]]) -> dict[str, str]:
    return dict(facts({**CARD, "licences": licences}))


def test_licences_are_shown_by_name_and_by_term_with_what_was_left_out() -> None:
    found = said({"images": IMAGES, "left_out": {"ND": 2, "unknown": 1}})
    assert found["Licences"] == (
        "CC-BY-SA-4.0 50.0 % (2), CC-BY-NC-ND-4.0 25.0 % (1), unknown 25.0 % (1)"
    )
    assert found["Terms"] == (
        "unknown 25.0 % (1), ND 25.0 % (1), NC 25.0 % (1), share-alike 50.0 % (2)"
    )
    assert found["Items left out for a licence"] == "unknown 1, ND 2"
    many = said({"images": {f"LicenseRef-{n:02}": 1 for n in range(12)}, "left_out": {}})
    assert many["Licences"].endswith("LicenseRef-09 25.0 % (1), and 2 more")
    assert "Items left out for a licence" not in many
    settings = {"release.releases": {"broken_images": {"truncated": 2, "missing": 1}}}
    found = dict(facts({**CARD, "settings": settings}))
    assert found["Items left out for a broken image"] == "missing 1, truncated 2"
    # Of imports and of earlier versions nothing was counted.
    bare = dict(facts(CARD))
    assert "Licences" not in bare and "Items left out for a broken image" not in bare
    assert (bare["Items"], bare["Review policy"]) == ("2", "none")
    assert dict(facts({**CARD, "n_turns": 3}))["Dialogues"] == "2"


def test_a_card_that_is_published_does_not_tell_how_the_right_choices_were_placed() -> None:
    settings = {"choice.order": {"seed": 7, "n_choices": 4}, "release.releases": {"seed": 8}}
    shown = {**settings, "choice.order": {"n_choices": 4}}
    assert exported_card({**CARD, "settings": settings})["settings"] == shown


CHECKS = {"pass": 7, "review": 1, "drop": 2, "refusal": 2, "leak": 1, "unchecked": 0}


def checks(**counts: int) -> dict[str, str]:
    """What a card says of the checks of its pairs."""
    return {name: value for name, value in facts({**CARD, "quality": counts}) if "hecks" in name}


def test_the_shares_of_the_outcomes_of_checks_and_what_they_found_are_shown() -> None:
    assert checks(**CHECKS) == {
        "Checks of pairs": "pass 70.0 % (7), review 10.0 % (1), drop 20.0 % (2)",
        "Found by the checks": "refusal 2, leak 1",
    }
    left_out = {"pairs_left_out": 2, "dialogues_left_out": 1, "pairs_with_dialogues": 3}
    found = checks(**{"pass": 3, "unchecked": 1}, **left_out)
    assert found["Checks of pairs"].endswith("unchecked 25.0 % (1)")
    assert found["Left out by the checks"] == "pairs 2, whole dialogues 1, their other pairs 3"
    assert found["Found by the checks"] == "nothing"
    # A release of before the checks says nothing of them.
    assert checks() == {} and "Checks" not in card_markdown({**CARD, "release_id": "mmdu-0123"})


def test_edited_shared_and_unchecked_pairs_and_a_sample_are_shown() -> None:
    quality = {"unchecked": 1, "unchecked_ungrounded": 4, "edited": 3, "shared_pairs_left_out": 2}
    sample = {"review_policy": "sample", "review_share": 0.25}
    found = dict(facts({**CARD, **sample, "quality": quality}))
    assert found["Edited by"] == "people, 3 pairs"
    assert found["Found by rules in unchecked pairs"] == "ungrounded 4"
    assert found["Left out as shared"] == "pairs 2" and "Left out by the checks" not in found
    assert found["Review policy"] == "sample (25 %)"


LICENCES = {"images": IMAGES, "left_out": {}}


@pytest.mark.parametrize(
    ("field", "counts", "wrong"),
    [
        (
            *("licences", LICENCES),
            [[], {"images": IMAGES}, {**LICENCES, "left_out": {"ND": "2"}}, {**LICENCES, "x": {}}],
        ),
        ("quality", CHECKS, [{"pass": "7"}, ["pass"], {"pass": True}]),
    ],
)
def test_a_card_comes_back_from_its_row_and_wrong_counts_are_refused(field, counts, wrong) -> None:
    row = row_of({**CARD, field: counts})
    assert isinstance(row[field], str) and card_of(row)[field] == counts
    for each in wrong:
        with pytest.raises(ValueError, match=f"{field} has no counts"):
            row_of({**CARD, field: each})


@pytest.mark.parametrize("version", ["1}", "", 1, "x" * 101])
def test_a_card_whose_version_is_none_is_refused(version: object) -> None:
    with pytest.raises(ValueError, match="project_version is not a version"):
        row_of({**CARD, "project_version": version})


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
