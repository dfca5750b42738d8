"""The card of a release: what it says of licences and checks, and what is no card."""

import pytest

from methods.release_card import card_markdown, card_of, exported_card, facts, row_of

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
    # Of imports and of earlier versions nothing was counted.
    assert "Licences" not in dict(facts(CARD))


def test_items_left_out_for_an_image_are_shown_by_reason() -> None:
    settings = {"release.releases": {"broken_images": {"truncated": 2, "missing": 1}}}
    found = dict(facts({**CARD, "settings": settings}))
    assert found["Items left out for a broken image"] == "missing 1, truncated 2"
    assert "Items left out for a broken image" not in dict(facts(CARD))


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
