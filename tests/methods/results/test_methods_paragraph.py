"""The paragraph on how scores were made, and the axes of radars and quadrants."""

import math
from dataclasses import replace
from typing import Any

import pytest

from methods.benchmarks import BENCHMARKS
from methods.evaluation.judging import PANEL
from methods.evaluation.metrics.mean import Mean
from methods.results.methods_paragraph import (
    CallSettings,
    EvaluationCalls,
    citations,
    methods_paragraph,
)
from methods.results.results_table import JudgeResults, MetricKey
from methods.results.shapes import MOST, RadarData, ScorePlane, planes, radars
from tests.methods.results.test_tables import RESULT, model, pair, results, slice_

CARD = {
    **{"n_items": 4, "n_turns": 20, "n_images": 9, "release_id": "mmdu-1", "benchmark": "mmdu"},
    **{"created_at": "2026-03-02T09:14:55+00:00", "project_version": "0.2.0"},
}
VERSION = "0.2.0"
NO_CALLS = EvaluationCalls([], {})
AGGREGATIONS = ("micro", "macro", "macro by task")
AVERAGES = {
    MetricKey(metric.name, metric.aggregation): metric.in_words
    for metric in (
        *(
            Mean(name="Overall Score", lowest=0.0, highest=100.0, aggregation=a)
            for a in AGGREGATIONS
        ),
        *(BENCHMARKS[name].metrics[0] for name in ("convbench", "mmbench")),
    )
}


def rated(name: str, **changed: Any) -> dict[str, Any]:
    return {**model(name, 50.0, 1), "method": "unseen cluster", **changed}


def compared_by(first: str, second: str, p: float, p_holm: float) -> dict[str, Any]:
    return {**pair(first, second, 1.0, p), "p_holm": p_holm}


def called(name: str, role: str = "answer", **changed: Any) -> CallSettings:
    of = CallSettings(role, name, [0.0], [2048], [], ["ask@1"], "2026-03-01", "2026-03-01")
    return of._replace(**changed)


def text(of: JudgeResults, *calls: CallSettings, **readers: int) -> str:
    return methods_paragraph(of, CARD, VERSION, EvaluationCalls(calls, readers), AVERAGES)


ONE = results([rated("a")])


def test_models_are_counted_without_baselines_and_blind_runs() -> None:
    names = ("a", "b", "baseline:random", "no-images:a", "other-images:a")
    said = text(results([rated(name) for name in names]))
    assert (
        "We evaluated 2 models, with 1 baseline and 2 runs without the right images for comparison, on "
        "the release mmdu-1 (4 items, 20 turns, 9 pictures)" in said
    )
    assert "We evaluated 1 model on the release" in text(ONE)


def test_temperature_limit_and_dates_of_models_are_those_of_their_calls() -> None:
    two = results([rated("a"), rated("b")])
    of_judge = called("a", "judge", temperatures=[0.9])
    same = text(two, called("a"), called("b", last_day="2026-03-04"), of_judge)
    assert (
        "Models were asked between 2026-03-01 and 2026-03-04, at temperature 0; tokens of a reply: at "
        "most 2048; prompts: ask@1." in same
    )
    other = text(two, called("a"), called("b", temperatures=[0.7], limits=[None]))
    assert "Models were asked on 2026-03-01, at temperature 0 (a), 0.7 (b);" in other
    assert "at most 2048 (a), as many as its server allows (b);" in other
    assert "asked" not in text(two, called("left the board"))


def test_servers_versions_imports_and_marks_are_stated():
    said = text(ONE, called("a", served_as=["a-2026-02-01", "a-2026-03-01"]))
    assert "By the names of their servers, a is a-2026-02-01, a-2026-03-01." in said
    assert "servers" not in text(ONE, called("a"))
    # Imported predictions are named.
    said = text(results([rated("a"), rated("file:b")]), called("a"))
    assert "Predictions of b were imported from files." in said
    assert "imported" not in text(ONE, called("a"))
    # The mark beside a rank is explained with the label of the model.
    warm = rated("warm", label="warm (T=0.7)", mark="2 of 4 items were asked.")
    assert "Marked in the tables: warm (T=0.7): 2 of 4 items were asked." in text(results([warm]))


def test_the_extractor_is_named_with_its_share() -> None:
    said = text(ONE, rule=79, reader=35)
    assert "a model read them: 35 by reader, of 114 answers in all." in said
    asked = text(ONE, called("reader", "reader", served_as=["gpt-4o"]), rule=79, reader=35)
    assert "The extractor was asked on 2026-03-01, at temperature 0;" in asked
    assert "reader is gpt-4o." in asked
    assert "The letters of all 79 answers were read by rule." in text(ONE, rule=79)
    assert "letters" not in text(ONE).lower()


@pytest.mark.parametrize(
    ("aggregation", "words"),
    [
        ("micro", "the mean over all turns of Overall Score"),
        ("macro", "the mean over items of the mean of their turns of Overall Score"),
        ("macro by task", "the mean over the values of the label task, each of which weighs the"),
    ],
)
def test_averaging_is_said_in_plain_words(aggregation: str, words: str) -> None:
    assert f"a model's score is {words}" in text(results([rated("a", aggregation=aggregation)]))


def test_a_formula_and_a_share_of_questions_are_not_called_a_mean_over_turns() -> None:
    assert (
        "a model's score is R1 = 0.5 R2 + 0.5 SO; R2 = 0.333 S1 + 0.333 S2 + 0.333 S3; S1, the share "
        "of comparisons of a turn that the model wins, where both orders are compared and a tie is "
        "half a win, and so on. What it failed" in text(results([rated("a", metric="R1")]))
    )
    assert (
        "a model's score is Circular, the share of questions whose every pass is right. What"
        in text(results([rated("a", metric="Circular")]))
    )
    assert "a model's score is Own (micro). What" in text(results([rated("a", metric="Own")]))


def test_the_judge_is_named_with_prompts_and_settings_and_a_rule_is_no_judge() -> None:
    judge = called("judge", "judge", temperatures=[0.2])
    said = text(ONE, judge, called("another", "judge"))
    assert "by the judge judge under the prompts p@1" in said
    assert "The judge was asked on 2026-03-01, at temperature 0.2;" in said
    by_rule = text(replace(ONE, judge="rule", version="letter@2"), judge)
    assert "scored by rule (letter@2)" in by_rule and "judge" not in by_rule
    panel = text(replace(ONE, judge=PANEL, version="mean of x y"), judge, called("y", "judge"))
    assert "by a panel of judges (mean of x y)" in panel and "The judges were asked" in panel


def test_p_is_called_adjusted_only_where_it_was() -> None:
    three = [rated(name) for name in "abc"]
    pairs = [compared_by("a", "b", 0.01, 0.02), compared_by("a", "c", 0.02, 0.02)]
    blind = compared_by("a", "no-images:a", 0.01, 0.01)
    said = text(results(three, [*pairs, blind]))
    assert "(2 pairs) by one test, which gives the interval of the difference, too;" in said
    assert "; p is adjusted by Holm" in said
    assert "p is not adjusted, as there is one pair" in text(results(three, [pairs[1], blind]))
    equal = [pairs[1], pairs[1] | {"first": "b"}]
    assert "over the 2 pairs changes no p" in text(results(three, equal))
    assert "compared" not in text(results(three, [blind]))


def test_the_test_of_differences_and_the_method_of_subsets_are_named() -> None:
    part = {**slice_("a", "task", "seeing", 50.0), "method": "t, two pseudo-clusters"}
    named = {**compared_by("a", "b", 0.01, 0.02), "method": "paired t, CR2, Cornish-Fisher"}
    said = text(results([rated("a"), rated("b")], [named], [part]))
    assert "(1 pair) by the test paired t, CR2, Cornish-Fisher, which gives the interval" in said
    assert "by the methods t, two pseudo-clusters and unseen cluster, over" in said


def test_models_without_a_rank_are_named_and_refusals_are_those_of_models() -> None:
    rows = [rated("a", n_refused=2, n_judged=17), rated("b", rank=None, n_refused=1, n_judged=20)]
    said = text(results([*rows, rated("baseline:random", rank=None, n_refused=9)]))
    assert "b has no rank, as nothing was judged." in said
    assert "Answers that models declined: 3; turns without a judgment: 3." in said
    assert "Scores were made with vlm-loom 0.2.0." in said
    assert "of an unknown version." in methods_paragraph(ONE, CARD, None, NO_CALLS, AVERAGES)


def test_the_paper_of_the_benchmark_and_the_release_are_cited() -> None:
    cited = citations(CARD, ["paired t, CR2, Cornish-Fisher", "bootstrap percentiles"])
    assert "eprint = {2406.11833}" in cited and "@misc{mmdu-1," in cited
    articles = ["pustejovsky2018", "johnson1978", "holm1979"]
    assert [line[9:-1] for line in cited.splitlines() if line.startswith("@article")] == articles
    assert citations({**CARD, "benchmark": "own"}, []).count("@") == 1
    crafted = citations({**CARD, "project_version": '1}} @preamble{"\\input{x}"}'}, [])
    assert r"vlm-loom 1\}\} @preamble\{" in crafted


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
    names = ("a", "b", "of nothing", "no-images:a")
    (radar,) = radars_of(board("mmdu", "Overall Score", *names, metrics=rows))
    assert radar.axes == ("Overall Score", "Creativity", "Richness"), "in the benchmark's order"
    assert (radar.name, radar.ends) == ("radar-metrics", (10.0, 100.0))
    assert radar.lines == [("a", (80.0, 30.0, 60.0)), ("b", (None, 20.0, None))]


def slices(label: str, *values: str) -> list[dict[str, Any]]:
    subsets = [{"subset_label": label, "subset_value": value} for value in values]
    return [metric("Circular", "a", float(n), **subset) for n, subset in enumerate(subsets)]


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
        *(metric(name, "baseline:empty", 90.0) for name in ("S1", "S2")),
    ]
    names = (*"abc", "baseline:empty")
    with_reasoning, with_creation = planes_of(board("convbench", "R1", *names, metrics=rows))
    assert with_reasoning.name == "quadrants-s1-s2"
    assert with_reasoning.middle == (50.0, 20.0), "medians of the two models that have both"
    assert with_reasoning.without == 1 and with_reasoning.ends == ((0.0, 100.0), (0.0, 100.0))
    ((name, x, y),) = with_creation.points
    assert (name, tuple(x), tuple(y)) == ("a", (40.0, 40.0, 40.0), (5.0, 1.0, 9.0))
    assert with_creation.corners[1] == ("low creation", "high creation")
    assert planes_of(board("convbench", "R1", "a", metrics=rows[:1])) == []


def test_a_mean_stands_against_the_inverse_of_a_spread_which_has_no_end() -> None:
    values = {"Rating": 5.0, "Alignment score": math.inf, "Mean deviation": 0.0}
    rows = [metric(name, "a", value) for name, value in values.items()]
    (plane,) = planes_of(board("alignmmbench", "Rating", "a", metrics=rows))
    assert plane.axes == ("Rating", "Alignment score") and plane.ends[1][1] is None
    assert math.isinf(plane.middle[1])
    # A benchmark that is not installed has neither.
    unknown = board("gone", "x", "a", metrics=[metric("x", "a", 5.0)])
    assert [*radars(unknown, None), *planes(unknown, None)] == []
