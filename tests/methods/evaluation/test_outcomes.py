"""From observations to right, wrong or unknown: circular passes, refusals, what was lost."""

import numpy as np

from methods.benchmarks import BENCHMARKS
from methods.evaluation.outcomes import is_right_or_wrong, items_in, outcomes_of, right_matrix
from tests.methods.evaluation.metrics.numbers import scored
from tests.methods.evaluation.observed import ScoredObservation, frame

CIRCULAR = BENCHMARKS["mmbench"].metrics[0]


def passes(item: str, *said: float | str) -> list[ScoredObservation]:
    """Passes of an item of three choices: 1, 0, or the status of one without a value."""
    return [
        scored(item, None, status=value, trial=f"shift-{shift}", metric="right", choices="3")
        if isinstance(value, str)
        else scored(item, value, trial=f"shift-{shift}", metric="right", choices="3")
        for shift, value in enumerate(said)
    ]


def test_an_item_is_right_in_all_passes_wrong_in_one_and_unknown_otherwise() -> None:
    observed = {
        "m": [
            *passes("right", 1, 1, 1),
            *passes("wrong", 1, 0),
            *passes("lost", 1, "failed", 1),
            *passes("unread", "not_judged"),
            *passes("lost and wrong", "failed", 0),
            *passes("short", 1, 1),
        ]
    }
    assert outcomes_of(CIRCULAR, frame(observed)) == {
        "m": {
            "right": True,
            "wrong": False,
            "lost": None,
            "unread": None,
            "lost and wrong": False,
            "short": None,
        }
    }


def test_what_a_model_does_instead_of_answering_is_not_right() -> None:
    for status in ("refused", "truncated", "reasoning_only", "empty"):
        assert outcomes_of(CIRCULAR, frame({"m": passes("q", 1, status)})) == {"m": {"q": False}}


def test_of_mmiu_a_question_is_asked_once() -> None:
    (metric, *_) = BENCHMARKS["mmiu"].metrics
    values = {"a": (1.0, "judged"), "b": (0.0, "judged"), "c": (None, "failed")}
    values["d"] = (None, "refused")
    observed = [
        scored(item, value, metric="right", status=status)
        for item, (value, status) in values.items()
    ]
    found = outcomes_of(metric, frame({"m": observed}))
    # A unit without a value is none: what was lost is not among the outcomes.
    assert {item: found["m"].get(item) for item in "abcd"} == {
        **{"a": True, "b": False, "c": None, "d": False}
    }


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
