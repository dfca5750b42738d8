"""The card of a release: what it says of licences, and what is no card."""

import pytest

from methods.release_card import card_of, exported_card, facts, row_of

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


def test_a_card_comes_back_from_its_row_and_wrong_counts_are_refused() -> None:
    licences = {"images": IMAGES, "left_out": {}}
    assert card_of(row_of({**CARD, "licences": licences}))["licences"] == licences
    wrong = [[], {"images": IMAGES}, {**licences, "left_out": {"ND": "2"}}, {**licences, "x": {}}]
    for each in wrong:
        with pytest.raises(ValueError, match="licences has no counts"):
            row_of({**CARD, "licences": each})
