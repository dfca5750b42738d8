"""Places on the picture of a task map, by hand, and the shapes of its tree."""

import numpy as np
import pytest

from extras.task_map.methods.clustering import TaskMap
from extras.task_map.resources.picture import HEIGHT, MARGIN, picture_of
from resources.reports.figures import PALETTE

# a and b are 1 apart; c is 3 and 3.5 from them: the tree joins a and b at 1, and c at 3.25.
THREE = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 3.5], [3.0, 3.5, 0.0]])
MADE = TaskMap(("a", "b", "c"), THREE, (2, 2, 1), np.array([[0.0, 0.0], [0.0, 1.0], [4.0, 0.5]]))


def test_tasks_stand_in_the_order_of_the_tree_with_one_scale_for_both_directions() -> None:
    tasks = {task.name: task for task in picture_of(MADE, {"a": 12.34}).tasks}
    assert [tasks[name].number for name in "cab"] == [1, 2, 3]
    assert (tasks["a"].fact, tasks["b"].fact) == ("12.3", "")
    # From margin to margin across: 88 percent for 4 units, so one unit up is 22 of the width.
    assert (tasks["a"].left, tasks["c"].left) == (MARGIN, 100 - MARGIN)
    assert tasks["a"].top - tasks["b"].top == pytest.approx(22 / HEIGHT, abs=0.02)
    assert tasks["c"].top == 50


def test_branches_meet_at_their_distance_in_the_colour_of_their_cluster() -> None:
    picture = picture_of(MADE)
    # a is in row 2 and b in row 3; 1 of 3.25 is 30.77 percent. c is in row 1, a and b meet between.
    assert [branch.path for branch in picture.branches] == [
        "M0.00 1.5H30.77V2.5H0.00",
        "M0.00 0.5H100.0V2.0H30.77",
    ]
    assert [branch.colour for branch in picture.branches] == [PALETTE[1], None]
    assert picture.largest == "3.25"


def test_clusters_have_their_mean_distance_and_score() -> None:
    first, second = picture_of(MADE, {"a": 10, "b": 20, "c": 70}, decimals=0).clusters
    assert (first.tasks, first.within, first.score) == (["c"], "–", "70")
    assert (second.tasks, second.within, second.score) == (["a", "b"], "1.00", "15")


def test_tasks_that_are_all_alike_stand_in_the_middle() -> None:
    picture = picture_of(TaskMap(("a", "b", "c"), np.zeros((3, 3)), (1, 1, 1), np.zeros((3, 2))))
    assert {(task.left, task.top) for task in picture.tasks} == {(50, 50)}
    assert picture.largest == "0.00" and picture.stress == "0.00"


def test_more_clusters_than_colours_begin_the_colours_again() -> None:
    n = len(PALETTE) + 1
    names = tuple(f"t{number:02}" for number in range(n))
    made = TaskMap(names, 1 - np.eye(n), tuple(range(1, n + 1)), np.zeros((n, 2)))
    assert picture_of(made).clusters[-1].colour == PALETTE[0]
