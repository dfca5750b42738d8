"""Distances from scores of models: by hand, and what is left out."""

import numpy as np
import pytest

from extras.task_map.methods.profiles import SAME, correlation_distances, profiles

MODELS = ("m1", "m2", "m3")


def scores(**of: tuple[float, ...]) -> dict[str, dict[str, float]]:
    return {task: dict(zip(MODELS, values, strict=False)) for task, values in of.items()}


def test_three_tasks_by_hand() -> None:
    # a and b rise together; c falls; r of (1, 2, 3) and (1, 3, 2) is 1/2.
    found = profiles(scores(a=(10, 20, 30), b=(50, 60, 70), c=(9, 6, 3), d=(1, 3, 2)))
    assert found.why_no_map is None and found.models == MODELS
    assert correlation_distances(found) == pytest.approx(
        np.array([[0, 0, 2, 0.5], [0, 0, 2, 0.5], [2, 2, 0, 1.5], [0.5, 0.5, 1.5, 0]])
    )


def test_a_task_on_which_all_models_are_alike_has_no_profile() -> None:
    found = profiles(scores(a=(1, 2, 3), b=(2, 1, 3), c=(3, 2, 1), flat=(50, 50, 50)))
    assert found.tasks == ("a", "b", "c")
    assert found.other_tasks == {"flat": SAME}


def test_a_model_with_a_gap_is_left_out_and_named() -> None:
    table = scores(a=(1, 2, 3), b=(2, 1, 3), c=(3, 2, 1))
    table["a"]["m4"] = table["b"]["m4"] = 5
    found = profiles(table)
    assert found.models == MODELS and found.scores.shape == (3, 3)
    assert found.other_models == {"m4": "It has no score on c."}


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (scores(a=(1, 2), b=(2, 1), c=(1, 3)), "needs 3 models .* there are 2"),
        (scores(a=(1, 2, 3), b=(2, 1, 3)), "needs 3 tasks .* there are 2"),
        (scores(a=(1, 2, 3), b=(2, 1, 3), c=(5, 5, 5)), "needs 3 tasks that models differ on"),
        ({}, "needs 3 models .* there are 0"),
    ],
)
def test_too_little_is_no_map(table: dict[str, dict[str, float]], why: str) -> None:
    said = profiles(table).why_no_map
    assert said is not None
    with pytest.raises(AssertionError, match=why):
        raise AssertionError(said)
