"""Learning difficulty: by hand, against SciPy, and what cannot be compared."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from extras.task_map.methods.difficulty import TooFewAccuraciesError, learning_difficulty


def test_four_tasks_by_hand() -> None:
    # Ranks 1, 2, 3, 4 and 2, 1, 4, 3: rho = 1 - 6 * (4 x 1) / (4 x 15) = 0.6.
    found = learning_difficulty(
        {"a": 0.1, "b": 0.2, "c": 0.6, "d": 0.9, "alone": 1.0},
        {"a": 30, "b": 20, "c": 80, "d": 70, "other": 50},
        n_resamples=999,
    )
    assert found.rho.value == pytest.approx(0.6) and found.n == 4
    # Of the 24 orders, 5 have a rho of 0.6 or more, and as many one of -0.6 or less.
    assert found.p == pytest.approx(10 / 24)
    assert found.rho.ci_low is not None and found.rho.ci_low <= 0.6 <= (found.rho.ci_high or 0)
    assert found.hard == ("a", "b")
    assert (found.only_fine_tuned, found.only_asked) == (("alone",), ("other",))


def test_against_scipy_on_as_many_tasks_as_the_paper_has() -> None:
    generator = np.random.default_rng(4)
    first = generator.normal(size=52)
    second = first + generator.normal(size=52)
    names = [f"t{number}" for number in range(52)]
    found = learning_difficulty(
        dict(zip(names, first, strict=True)), dict(zip(names, second, strict=True))
    )
    assert found.rho.value == pytest.approx(spearmanr(first, second).statistic)
    assert found.p is not None and found.p <= 0.001


def test_equal_accuracies_have_no_order() -> None:
    found = learning_difficulty(dict.fromkeys("abc", 1.0), {"a": 1, "b": 2, "c": 3})
    assert found.rho.value is None and found.p is None and found.reason


def test_two_common_tasks_are_too_few() -> None:
    with pytest.raises(
        TooFewAccuraciesError, match=r"there are 2: name tasks as the release does \(a, b, c"
    ):
        learning_difficulty({"a": 1, "b": 2, "z": 3}, {"a": 1, "b": 2, "c": 3})


def test_a_task_is_hard_where_both_accuracies_are_below_their_median() -> None:
    found = learning_difficulty(
        {"a": 0.1, "b": 0.2, "c": 0.6, "d": 0.9},
        {"a": 30, "b": 80, "c": 20, "d": 70},
        n_resamples=9,
    )
    assert found.hard == ("a",)
