"""From observations to right, wrong or unknown: circular passes, refusals, what was lost."""

import numpy as np
import pytest

from methods.benchmarks import BENCHMARKS
from methods.evaluation.outcomes import is_right_or_wrong, items_in, outcomes_of, right_matrix
from tests.methods.evaluation.metrics.numbers import scored
from tests.methods.evaluation.observed import ScoredObservation, frame

CIRCULAR = BENCHMARKS["mmbench"].metrics[0]


def passes(item: str, *said: float | str) -> list[ScoredObservation]:
    """Passes of an item of three choices: 1, 0, or the status of one without a value."""
    return [
        scored(item, None if isinstance(each, str) else each, trial=f"shift-{shift}",
               status=each if isinstance(each, str) else "", metric="right", choices="3")
        for shift, each in enumerate(said)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ((1, 1, 1), True),
        ((1, 0), False),
        ((1, "failed", 1), None),
        (("not_judged",), None),
        (("failed", 0), False),
        ((1, 1), None),
        # What a model does instead of answering is not right.
        *(((1, status), False) for status in ("refused", "truncated", "reasoning_only", "empty")),
    ],
)
def test_an_item_is_right_in_all_passes_wrong_in_one_and_unknown_otherwise(said, outcome) -> None:
    assert outcomes_of(CIRCULAR, frame({"m": passes("q", *said)})) == {"m": {"q": outcome}}


def test_which_benchmarks_have_right_and_wrong() -> None:
    having = {name for name, each in BENCHMARKS.items() if is_right_or_wrong(each)}
    assert {"mmbench", "mmiu"} <= having
    assert "mmdu" not in having


def test_the_matrix_has_no_number_where_nothing_is_known() -> None:
    outcomes = {"m": {"a": True, "b": None}, "n": {"a": False}}
    assert items_in(outcomes) == ["a", "b"]
    expected = [[1.0, np.nan], [0.0, np.nan]]
    np.testing.assert_array_equal(right_matrix(outcomes, ["m", "n"], ["a", "b"]), expected)
    assert right_matrix(outcomes, [], ["a"]).shape == (0, 1)
