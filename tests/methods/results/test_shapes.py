"""Radars and quadrants: which axes they have, and what stands where."""

import math
from typing import Any

from methods.benchmarks import BENCHMARKS
from methods.results.results_table import JudgeResults
from methods.results.shapes import MOST, RadarData, ScorePlane, planes, radars
from tests.methods.results.test_tables import RESULT, model, results


def metric(name: str, of: str, value: float | None, **more: Any) -> dict[str, Any]:
    around = {"ci_low": value, "ci_high": value} if value is not None else {}
    row = {**RESULT, "metric": name, "model": of, "label": of, "value": value, "n_units": 1}
    return {**row, **around, **more}


def board(benchmark: str, ranking: str, *names: str, **rows: Any) -> JudgeResults:
    models = [{**model(name, None, 1), "benchmark": benchmark, "metric": ranking} for name in names]
    return results(models, [], [*rows.get("metrics", []), *rows.get("slices", [])])


def radars_of(of: JudgeResults) -> list[RadarData]:
    return list(radars(of, BENCHMARKS[of.scores[0]["benchmark"]]))


def planes_of(of: JudgeResults) -> list[ScorePlane]:
    return list(planes(of, BENCHMARKS[of.scores[0]["benchmark"]]))


def test_without_abilities_the_axes_are_the_metrics_on_the_scale_of_the_one_that_ranks() -> None:
    rows = [
        metric("Overall Score", "a", 80.0),
        metric("Overall Score", "a", 70.0, aggregation="macro"),
        metric("Richness", "a", 60.0),
        metric("Creativity", "a", 30.0),
        metric("Creativity", "b", 20.0),
        metric("Creativity", "no-images:a", 20.0),
        metric("Unheard of", "a", 1.0),
    ]
    (radar,) = radars_of(board("mmdu", "Overall Score", "a", "b", "no-images:a", metrics=rows))
    assert radar.axes == ("Overall Score", "Creativity", "Richness"), "in the benchmark's order"
    assert (radar.name, radar.ends) == ("radar-metrics", (10.0, 100.0))
    assert radar.lines == [("a", (80.0, 30.0, 60.0)), ("b", (None, 20.0, None))]


def slices(label: str, *values: str) -> list[dict[str, Any]]:
    return [
        {**metric("Circular", "a", float(place)), "subset_label": label, "subset_value": value}
        for place, value in enumerate(values)
    ]


def test_each_level_of_ability_that_can_be_read_is_a_radar() -> None:
    rows = [
        *slices("l1-category", "perception", "reasoning"),
        *slices("l2-category", "x10", "x9", "y"),
        *slices("category", *map(str, range(MOST + 1))),
        *slices("n_choices", "2", "3", "4"),
    ]
    (radar,) = radars_of(board("mmbench", "Circular", "a", slices=rows))
    assert (radar.name, radar.title) == ("radar-l2-category", "Circular by l2-category")
    assert radar.axes == ("x9", "x10", "y") and radar.lines == [("a", (1.0, 0.0, 2.0))]


def test_convbench_s_perception_stands_against_reasoning_and_creation() -> None:
    rows = [
        *(metric("S1", name, value) for name, value in (("a", 40.0), ("b", 60.0), ("c", 90.0))),
        *(metric("S2", name, value) for name, value in (("a", 10.0), ("b", 30.0), ("c", None))),
        metric("S3", "a", 5.0, ci_low=1.0, ci_high=9.0),
    ]
    with_reasoning, with_creation = planes_of(board("convbench", "R1", *"abc", metrics=rows))
    assert with_reasoning.name == "quadrants-s1-s2"
    assert with_reasoning.middle == (50.0, 20.0), "medians of the two models that have both"
    assert with_reasoning.without == 1 and with_reasoning.ends == ((0.0, 100.0), (0.0, 100.0))
    ((name, x, y),) = with_creation.points
    assert (name, tuple(x), tuple(y)) == ("a", (40.0, 40.0, 40.0), (5.0, 1.0, 9.0))
    assert with_creation.corners[1] == ("low creation", "high creation")


def test_a_mean_stands_against_the_inverse_of_a_spread_which_has_no_end() -> None:
    rows = [
        metric("Rating", "a", 5.0),
        metric("Alignment score", "a", math.inf),
        metric("Mean deviation", "a", 0.0),
    ]
    (plane,) = planes_of(board("alignmmbench", "Rating", "a", metrics=rows))
    assert plane.axes == ("Rating", "Alignment score") and plane.ends[1][1] is None
    assert math.isinf(plane.middle[1])


def test_a_benchmark_that_is_not_installed_has_neither() -> None:
    unknown = board("gone", "x", "a", metrics=[metric("x", "a", 5.0)])
    assert [*radars(unknown, None), *planes(unknown, None)] == []
