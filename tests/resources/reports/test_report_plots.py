"""Plots of scores: places worked by hand, infinite scores, what lacks a score."""

import math

import pytest

from resources.reports.estimate import Estimate, Scale
from resources.reports.report_plots import (
    BOTTOM,
    INFINITE,
    LEFT,
    RIGHT,
    TOP,
    quadrants_of,
    radar_of,
)
from resources.reports.report_scores import Judged, MetricShown, Who

RATING = MetricShown("Rating", "micro", 0, Scale(1, 10), True, False)
ALIGNMENT = MetricShown("Alignment score", "micro", 3, Scale(None, None), True, True)


def judged(**scores):
    """A model for each name: (rating, alignment with its interval)."""
    whole = {}
    for name, (rating, alignment, low, high) in scores.items():
        whole[name, *RATING.key, "floor"] = row(rating, rating, rating)
        whole[name, *ALIGNMENT.key, "floor"] = row(alignment, low, high)
    who = [Who(name, ()) for name in scores]
    return Judged("j", "v", [RATING, ALIGNMENT], whole, [], {}, [], [], who), who


def row(value, low, high):
    return {"value": value, "ci_low": low, "ci_high": high, "n_units": 4}


def test_points_stand_by_both_scores_and_lines_by_their_medians():
    plot = quadrants_of(*judged(a=(10, 4, 3, 4), b=(1, 1, 1, 1), c=(5.5, 2, 1, 3)))
    assert [(point.x, point.y) for point in plot.points] == [
        (RIGHT, TOP),
        (LEFT, BOTTOM - (BOTTOM - TOP) / 4),
        ((LEFT + RIGHT) / 2, (BOTTOM + TOP) / 2),
    ]
    assert plot.middle == ((LEFT + RIGHT) / 2, (BOTTOM + TOP) / 2)
    assert [line.quadrant for line in plot.lines] == [
        "better, steadier",
        "worse, less steady",
        "as good as the median, as steady as the median",
    ]


def test_an_infinite_score_stands_on_the_line_of_its_own_and_an_interval_reaches_it():
    plot = quadrants_of(*judged(a=(10, math.inf, math.inf, math.inf), b=(1, 2, 1, math.inf)))
    steady, other = plot.points
    assert (steady.y, steady.low, steady.high) == (INFINITE, INFINITE, INFINITE)
    assert other.high == INFINITE and other.low > TOP and plot.has_infinite


def test_models_at_one_place_share_their_numbers_and_those_without_a_score_are_named():
    plot = quadrants_of(*judged(a=(5, 2, 2, 2), b=(5, 2, 2, 2), c=(5, None, None, None)))
    assert [point.numbers for point in plot.points] == ["1, 2", ""]
    assert [who.name for who in plot.without] == ["c"]


def test_without_the_inverse_of_a_spread_there_is_no_plot():
    whole, who = judged(a=(5, 2, 2, 2))
    assert quadrants_of(Judged("j", "v", [RATING], whole.whole, [], {}, [], [], who), who) is None


# --- Radars ----------------------------------------------------------------------------------------

ONE = [Who("m", ())]


def estimates(*values: float | None) -> list[list[Estimate]]:
    return [[Estimate(value)] for value in values]


def test_the_first_axis_is_at_the_top_and_the_others_follow_clockwise() -> None:
    radar = radar_of("abcd", ONE, estimates(100, 50, 0, 25), Scale())
    assert radar is not None
    assert [axis.end for axis in radar.axes] == [(0, -100), (100, 0), (0, 100), (-100, 0)]
    assert radar.shapes[0].points == radar.mean == "0,-100 50,0 0,0 -25,0"
    assert radar.rings[-1] == "0,-100 100,0 0,100 -100,0"
    assert radar.shapes[0].dots[1] == ((50.0, 0.0), "b: 50.0")


def test_an_ability_without_a_score_leaves_the_other_dots_and_no_polygon() -> None:
    radar = radar_of("abc", ONE, estimates(100, None, 50), Scale())
    assert radar is not None
    (shape,) = radar.shapes
    assert shape.points is None and [said for _, said in shape.dots] == ["a: 100.0", "c: 50.0"]


@pytest.mark.parametrize(("n", "scale"), [(2, Scale()), (13, Scale()), (5, Scale(0.0, None))])
def test_too_few_axes_too_many_and_a_scale_without_an_end_make_no_radar(n, scale) -> None:
    assert radar_of("x" * n, ONE, estimates(*[1.0] * n), scale) is None
