"""The figures of a task map, by hand, and the table of its clusters."""

import numpy as np
from matplotlib.colors import to_hex

from extras.task_map.methods.clustering import TaskMap, leaves
from extras.task_map.resources.picture import picture_of, plane_figure, tree_figure
from resources.reports.figures import OTHER, PALETTE

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
