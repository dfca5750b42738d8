"""Scores of one model: means over what was judged, counts of all the rest."""

import pytest

from methods.evaluation.scores import score_rows


class TwoDimensions:
    """As much of a benchmark as scoring looks at."""

    dimensions = ("Accuracy", "Overall")
    scale = 10.0


def turn(
    item: str,
    status: str,
    accuracy: int | None = None,
    overall: int = 5,
    withheld: bool = False,
) -> dict:
    scores = None if accuracy is None else {"Accuracy": accuracy, "Overall": overall}
    judge = None if accuracy is None else "offline"
    return {
        "item_id": item,
        "status": status,
        "withheld": withheld,
        "provider": "openai",
        "judge_provider": judge,
        "scores": scores,
    }


TURNS = [
    turn("a", "answered", 8),
    turn("a", "answered", 6),
    turn("a", "answered"),  # The judge's reply could not be read.
    turn("b", "refused", 1),  # Declined in words: judged.
    turn("b", "refused", withheld=True),  # By a filter: nothing to judge.
    turn("b", "refused"),  # Declined in words, and the judgment of that is lost.
    turn("c", "failed"),
]


@pytest.fixture
def rows() -> dict[tuple[str, str], dict]:
    made = score_rows(TwoDimensions(), TURNS, seed=0)  # type: ignore[arg-type]
    return {(row["dimension"], row["aggregation"]): row for row in made}


def test_there_is_a_row_for_each_dimension_and_aggregation(rows) -> None:
    assert set(rows) == {
        (dimension, aggregation)
        for dimension in ("Accuracy", "Overall")
        for aggregation in ("micro", "macro")
    }


def test_means_are_over_what_was_judged(rows) -> None:
    # Turns: (8 + 6 + 1) / 3 = 5, times 10. Dialogues: a (8 + 6) / 2 = 7, b 1, c has none:
    # (7 + 1) / 2 = 4, times 10.
    assert rows["Accuracy", "micro"]["value"] == pytest.approx(50)
    assert rows["Accuracy", "macro"]["value"] == pytest.approx(40)


def test_failures_and_refusals_are_counted_beside_the_mean(rows) -> None:
    for row in rows.values():
        assert (row["n_items"], row["n_turns"], row["n_judged"]) == (3, 7, 3)
        assert row["n_failed"] == 3  # a's third turn, b's third and c's.
        assert row["n_refused"] == 3  # b's, one of them judged.


def test_the_provider_names_both_sides_when_they_differ(rows) -> None:
    assert {row["provider"] for row in rows.values()} == {"offline + openai"}


def test_a_model_that_was_never_judged_has_counts_and_no_value() -> None:
    row = score_rows(TwoDimensions(), [turn("a", "failed")], seed=0)[0]  # type: ignore[arg-type]
    assert (row["value"], row["ci_low"], row["ci_high"]) == (None, None, None)
    assert (row["n_judged"], row["n_failed"], row["provider"]) == (0, 1, "openai")
