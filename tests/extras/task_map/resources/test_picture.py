"""The figures of a task map, by hand, and the table of its clusters."""

import numpy as np
from matplotlib.colors import to_hex

from extras.task_map.methods.clustering import TaskMap, leaves
from extras.task_map.resources.picture import picture_of, plane_figure, tree_figure
from resources.reports.figures import OTHER, PALETTE, page_colour

# a and b are 1 apart; c is 3 and 3.5 from them: the tree joins a and b at 1, and c at 3.25.
THREE = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 3.5], [3.0, 3.5, 0.0]])
MADE = TaskMap(("a", "b", "c"), THREE, (2, 2, 1), np.array([[0.0, 0.0], [0.0, 1.0], [4.0, 0.5]]))


ORDER = leaves(THREE)


def test_tasks_have_their_numbers_and_one_scale_for_both_directions() -> None:
    (axes,) = plane_figure(MADE, ORDER).axes
    (marks,) = axes.collections
    assert marks.get_offsets().tolist() == MADE.places[ORDER].tolist()
    assert [text.get_text() for text in axes.texts] == ["1", "2", "3"]
    assert axes.get_aspect() == 1


def test_branches_meet_at_their_distance_in_the_colour_of_their_cluster() -> None:
    (axes,) = tree_figure(MADE, ORDER, {"a": "  12.3"}).axes
    names = {
        round(y): text.get_text()
        for y, text in zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)
    }
    assert [names[y] for y in (5, 15, 25)] == ["1  c", "2  a  12.3", "3  b"]
    bottom, top = axes.get_ylim()
    assert bottom > top, "the first task is at the top"
    branches = {
        max(x for path in lines.get_segments() for x, _ in path): lines.get_color()[0]
        for lines in axes.collections
    }
    assert sorted(branches) == [1.0, 3.25]
    colours = {distance: to_hex(colour) for distance, colour in branches.items()}
    assert colours == {1.0: PALETTE[1], 3.25: OTHER}


def test_clusters_have_their_mean_distance_and_score() -> None:
    first, second = picture_of(MADE, {"a": 10, "b": 20, "c": 70}, decimals=0).clusters
    assert (first.tasks, first.within, first.score) == (["c"], "–", "70")
    assert (second.tasks, second.within, second.score) == (["a", "b"], "1.00", "15")


def test_tasks_that_are_all_alike_are_drawn() -> None:
    picture = picture_of(TaskMap(("a", "b", "c"), np.zeros((3, 3)), (1, 1, 1), np.zeros((3, 2))))
    assert picture.stress == "0.00" and picture.plane.count("<title>") == 3


def test_more_clusters_than_colours_begin_the_colours_again() -> None:
    n = len(PALETTE) + 1
    names = tuple(f"t{number:02}" for number in range(n))
    made = TaskMap(names, 1 - np.eye(n), tuple(range(1, n + 1)), np.zeros((n, 2)))
    assert picture_of(made).clusters[-1].colour == page_colour(PALETTE[0])
