"""What a release's card says of the checks of its pairs."""

import pytest

from methods.release_card import card_markdown, card_of, facts, row_of

CARD = {
    **{"release_id": "mmdu-0123456789", "name": "mmdu", "kind": "instruction"},
    **{"n_items": 2, "n_turns": 9, "n_images": 5, "review_policy": "none", "review_share": 0.0},
    **{"provider": "mock", "created_at": "2026-03-02T09:14:55+00:00"},
}
COUNTS = {"pass": 7, "review": 1, "drop": 2, "refusal": 2, "leak": 1, "unchecked": 0}


def told(**counts: int) -> dict[str, str]:
    return {name: value for name, value in facts({**CARD, "quality": counts}) if "hecks" in name}


def test_it_says_the_shares_of_the_outcomes_and_what_was_found() -> None:
    assert told(**COUNTS) == {
        "Checks of pairs": "pass 70.0 % (7), review 10.0 % (1), drop 20.0 % (2)",
        "Found by the checks": "refusal 2, leak 1",
    }


def test_it_says_what_was_left_out_and_what_was_not_read() -> None:
    said = told(**{"pass": 3, "unchecked": 1, "pairs_left_out": 2, "dialogues_left_out": 1})
    assert said["Checks of pairs"].endswith("unchecked 25.0 % (1)")
    assert said["Left out by the checks"] == "pairs 2, whole dialogues 1"
    said = told(
        **{"pass": 3, "pairs_left_out": 2, "dialogues_left_out": 1, "pairs_with_dialogues": 3}
    )
    assert said["Left out by the checks"] == "pairs 2, whole dialogues 1, their other pairs 3"
    assert said["Found by the checks"] == "nothing"


def test_the_counts_survive_the_table_and_wrong_ones_are_refused():
    row = row_of({**CARD, "quality": COUNTS})
    assert isinstance(row["quality"], str) and card_of(row)["quality"] == COUNTS
    # Counts that are none are refused.
    for wrong in ({"pass": "7"}, ["pass"], {"pass": True}):
        with pytest.raises(ValueError, match="quality"):
            row_of({**CARD, "quality": wrong})
    # A release of before the checks says nothing of them.
    assert told() == {} and "Checks" not in card_markdown(CARD)
