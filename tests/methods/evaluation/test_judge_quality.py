"""Rows of judge quality from observations: numbers worked by hand, and what has no value."""

import math
from dataclasses import replace

import pytest

from methods.evaluation import judge_quality as measuring
from methods.evaluation.judge_quality import (
    EXTERNAL,
    INTERNAL,
    JUDGED_ONCE,
    NO_SCORE,
    OF_PEOPLE,
    ONE_SCORE,
    AnswerKey,
    JudgeScale,
    ReferenceMeasures,
)
from tests.methods.evaluation.observed import ScoredObservation, frame

pytestmark = pytest.mark.slow

SCALE = JudgeScale(("Richness", "Overall"), 1, 10)
NOTHING_BESIDE = ReferenceMeasures({}, {})
KEY = ("other", "metric", "unit", "measure", "subject")


def scored(turn, *replicates, metric="Overall", item="i", status="judged"):
    """One answer's replicates; their mean is its value."""
    value = sum(replicates) / len(replicates) if replicates else None
    of = (item, item, "plain", turn, metric, value, status)
    return ScoredObservation(*of, replicates=replicates or None)


def answers(*scores, **names):
    """Answers to turns 1, 2 and so on: a number or a tuple of replicates each."""
    given = [each if isinstance(each, tuple) else (each,) for each in scores]
    return [scored(turn, *each, **names) for turn, each in enumerate(given, 1)]


def judge_rows(scale, observed, beside, **settings):
    return measuring.judge_rows(scale, frame(observed), beside, **settings)


def pair_rows(scale, first, second, name, **settings):
    return measuring.pair_rows(scale, frame(first), frame(second), name, **settings)


def variance_rows(scale, judges):
    return measuring.variance_rows(scale, list(map(frame, judges)))


def quality(observed, beside=NOTHING_BESIDE, n_resamples=100):
    """{key: row} of one judge."""
    return by_key(judge_rows(SCALE, observed, beside, seed=0, n_resamples=n_resamples))


def by_key(rows):
    rows = list(rows)
    found = {tuple(getattr(row, name) for name in KEY): row for row in rows}
    assert len(found) == len(rows)
    return found


def figure(found, measure, model="", metric="Overall"):
    row = found["", metric, "", measure, model]
    return row.n, row.value, row.reason


def test_distribution_over_single_scores_and_not_means_of_replicates():
    # Mean 25 / 4; deviations 3.75, 3.75, -2.25, -5.25: squares 60.75, / 3 is 4.5 squared.
    found = quality({"a": answers((10, 10)), "b": answers(4, 1)})
    assert figure(found, "mean") == (4, 6.25, None)
    assert figure(found, "standard_deviation") == (4, pytest.approx(4.5), None)
    assert figure(found, "ceiling_rate") == (4, 0.5, None)
    assert figure(found, "floor_rate") == (4, 0.25, None)
    assert [figure(found, "mean", model)[:2] for model in "ab"] == [(1, 10), (2, 2.5)]


def test_each_dimension_has_its_distribution_and_only_the_overall_one_the_rest():
    found = quality({"a": answers(10, 4) + answers(1, 2, metric="Richness")})
    assert figure(found, "mean", metric="Richness") == (2, 1.5, None)
    of_richness = {measure for _, metric, _, measure, _ in found if metric == "Richness"}
    assert of_richness == {"mean", "standard_deviation", "ceiling_rate", "floor_rate"}


def test_replicates_have_a_variance():
    # Replicates 4, 5, 6 (variance 1) and 8, 8, 8 (variance 0).
    observed = {"a": answers((4, 5, 6), (8, 8, 8))}
    assert figure(quality(observed), "replicate_variance") == (2, 0.5, None)
    assert len(by_key(variance_rows(SCALE, [observed]))) == 2, "one judge has no share"


def test_judges_share_the_variance_by_as_many_replicates_as_each_has():
    # 4, 8 and 5, 9: MS_i = 2 (2^2 + 2^2) = 16, MS_j = 2 (0.5^2 + 0.5^2) = 1, MS_ij = 0,
    # S_i = 16 / 2 = 8, S_j = 1 / 2.
    judges = [{"a": answers((4, 1), (8, 1))}, {"a": answers(5, 9)}]
    found = by_key(variance_rows(SCALE, judges))
    assert figure(found, "variance_share_item") == (2, pytest.approx(16 / 17), None)
    assert figure(found, "variance_share_judge") == (2, pytest.approx(1 / 17), None)
    assert figure(found, "variance_share_interaction") == (2, 0, None)
    assert figure(found, "variance_share_replicate") == (2, None, JUDGED_ONCE)


def test_a_judge_without_scores_and_one_with_a_single_score():
    nothing = quality({"a": [scored(1, status="not_judged")]})
    assert figure(nothing, "mean") == (0, None, NO_SCORE)
    assert figure(nothing, "standard_deviation") == (0, None, NO_SCORE)
    assert not any(model for *_, model in nothing)
    one = quality({"a": answers(7)})
    assert figure(one, "standard_deviation") == (1, None, ONE_SCORE)
    assert figure(one, "replicate_variance") == (0, None, JUDGED_ONCE)


def lengths(of):
    return ReferenceMeasures(
        {AnswerKey(m, "i", "plain", t): n for m, every in of.items() for t, n in every.items()}, {}
    )


def test_scores_at_equal_length():
    # In powers of ten: a has 1, 3 and b has 3, 5; their mean is 3. Scores 4, 6 and 6, 10.
    # Slope for a power ((-1)(-1) + (1)(1) + (-1)(-2) + (1)(2)) / 4 = 1.5.
    # a: 5 - 1.5 (2 - 3) = 6.5; b: 8 - 1.5 (4 - 3) = 6.5: all the difference was length.
    beside = lengths({"a": {1: 10, 2: 1000}, "b": {1: 1000, 2: 100_000}})
    found = quality({"a": answers(4, 6), "b": answers(6, 10)}, beside)
    assert figure(found, "length_slope") == (4, pytest.approx(1.5 / math.log(10)), None)
    assert figure(found, "length_controlled_score", "a") == (2, pytest.approx(6.5), None)
    assert figure(found, "length_controlled_score", "b") == (2, pytest.approx(6.5), None)
    # Both orders are 1, 2.5, 2.5, 4 where two answers tie in both.
    assert figure(found, "length_correlation") == (4, pytest.approx(1), None)


def test_people_are_compared_on_what_they_scored():
    given = {1: 8, 2: 6, 3: 2, 9: 10}
    people = {AnswerKey("a", "i", "plain", n): {"Overall": each} for n, each in given.items()}
    found = quality({"a": answers(9, (5, 7), 4, 1)}, ReferenceMeasures({}, {INTERNAL: people}))
    row = found["people", "Overall", "answer", "mae", ""]
    # 9, 6, 4 against 8, 6, 2.
    assert (row.n, row.value) == (3, pytest.approx(1))
    assert found["people", "Overall", "answer", "kendall", ""].value == pytest.approx(1)
    # One dialogue: 19 / 3 against 16 / 3.
    assert found["people", "Overall", "item", "mae", ""].value == pytest.approx(1)
    of_model = found["people", "Overall", "model", "kendall", ""]
    assert (of_model.n, of_model.reason) == (1, "A correlation needs 3 items or more.")
    assert not any(other and metric == "Richness" for other, metric, *_ in found)
    # A trained critic is compared on its pairs of the test and of files alone: 6, 4 against 6, 2.
    splits = dict(zip(people, ("train", "test", "external"), strict=False))
    beside = ReferenceMeasures({}, {INTERNAL: people}, splits)
    observed = {"a": answers(9, 6, 4, 1)}
    critic = judge_rows(SCALE, observed, beside, seed=0, n_resamples=100, is_critic=True)
    row = next(row for row in critic if (row.unit, row.measure) == ("answer", "mae"))
    assert (row.n, row.value) == (2, pytest.approx(1))


def labelled(of, **task_of):
    return [replace(each, labels={"task": task_of[each.item_id]}) for each in of]


def people_of(*points, item):
    keys = (AnswerKey("a", item, "plain", turn) for turn in range(1, len(points) + 1))
    return {key: {"Overall": each} for key, each in zip(keys, points, strict=True)}


def test_agreement_with_people_is_split_by_a_label_and_told_apart_by_origin():
    observed = [*answers(9, 5, item="i"), *answers(4, 2, item="k"), *answers(7, item="l")]
    observed = {"a": labelled(observed, i="ocr", k="chart", l="meme")}
    here = {**people_of(8, 5, item="i"), **people_of(1, 2, item="k")}
    people = ReferenceMeasures({}, {INTERNAL: here, EXTERNAL: people_of(9, item="i")})
    rows = [*judge_rows(SCALE, observed, people, seed=0, n_resamples=100, split_by="task")]
    of_answers = [row for row in rows if row.unit == "answer"]
    found = {(row.other, row.subset_value, row.measure): (row.n, row.value) for row in of_answers}
    internal, external = OF_PEOPLE[INTERNAL], OF_PEOPLE[EXTERNAL]
    assert found[internal, "", "mae"] == (4, pytest.approx((1 + 0 + 3 + 0) / 4))
    assert found[internal, "ocr", "mae"] == (2, pytest.approx(1 / 2))
    assert found[internal, "chart", "mae"] == (2, pytest.approx(3 / 2))
    # 4 is in the second of the wide bands, 1 in the first.
    assert found[internal, "chart", "fuzzy_accuracy"] == (2, 1 / 2)
    assert found[internal, "chart", "strict_accuracy"] == (2, 1 / 2)
    assert found[external, "ocr", "mae"] == found[external, "", "mae"] == (1, 0)
    # Nobody scored a meme here, and the file has no chart.
    assert not {(internal, "meme", "mae"), (external, "chart", "mae")} & found.keys()
    assert {row.subset_label for row in rows} == {"", "task"}
    alone = [row for row in rows if not row.other]
    assert {row.subset_value for row in alone} == {""}


@pytest.mark.parametrize("split_by", [None, "task", "ability"])
def test_a_label_with_one_value_or_none_splits_nothing(split_by):
    observed = {"a": labelled(answers(9, 5), i="ocr")}
    beside = ReferenceMeasures({}, {INTERNAL: people_of(9, 5, item="i")})
    for row in judge_rows(SCALE, observed, beside, seed=0, n_resamples=100, split_by=split_by):
        assert row.subset_value == ""


@pytest.mark.parametrize("ends", [(0, 10), (1, 5), (0, 1)])
def test_bands_and_kappa_are_of_a_scale_of_one_to_ten_alone(ends):
    on_ten = {"fuzzy_accuracy", "strict_accuracy", "quadratic_kappa"}
    observed = {"a": answers(5, 4, 1)}
    for scale, has in ((SCALE, on_ten), (JudgeScale(SCALE.dimensions, *ends), set())):
        rows = pair_rows(scale, observed, observed, "j", seed=0, n_resamples=100)
        assert {row.measure for row in rows} & on_ten == has


def test_verdicts_agree_with_people_where_the_winner_is_the_same():
    """ConvBench, 4: the share of verdicts that people give, too; each order of a pair is a verdict."""
    scale = JudgeScale(("Creation", "Overall"), 0, 1)
    by_order = [
        replace(scored(turn, value, metric="Creation", item=f"i{turn}"), part=order)
        for turn, both in enumerate(((1, 1), (0, 0), (1, 0), (0, 0.5)), 1)
        for order, value in zip(("model-first", "model-second"), both, strict=True)
    ]
    verdicts = dict(enumerate((1.0, 0.0, 1.0, 1.0), 1))
    people = {AnswerKey("a", f"i{n}", "plain", n): {"Creation": v} for n, v in verdicts.items()}
    beside = ReferenceMeasures({}, {INTERNAL: people})
    rows = by_key(judge_rows(scale, {"a": by_order}, beside, seed=0, n_resamples=100))
    same = rows[OF_PEOPLE[INTERNAL], "Creation", "answer", "raw", ""]
    # Equal: 2 of 2, 2 of 2, 1 of 2, 0 of 2.
    assert (same.n, same.value, same.n_clusters) == (8, pytest.approx(5 / 8), 4)
    assert same.ci_low < same.value < same.ci_high
    # By chance: (3 * 6 + 4 * 2) / 64 for 1 and 0; a tie is never people's.
    kappa = rows[OF_PEOPLE[INTERNAL], "Creation", "answer", "cohen_kappa", ""]
    assert kappa.value == pytest.approx((5 / 8 - 26 / 64) / (1 - 26 / 64))


def test_two_judges_are_compared_on_what_both_judged():
    richness = [scored(1, 5, metric="Richness")]
    first = {"a": [*answers(9, 6, 4), *answers(3, item="k"), *richness]}
    second = {"a": [*answers(8, 6, 2, 1), *answers(3, item="k"), *richness], "b": answers(5)}
    found = by_key(pair_rows(SCALE, first, second, "j", seed=0, n_resamples=100))
    levels = {(other, level) for other, _, level, *_ in found}
    assert levels == {("j", "answer"), ("j", "item"), ("j", "model")}
    # 9, 6, 4 and 3 against 8, 6, 2 and 3.
    row = found["j", "Overall", "answer", "mae", ""]
    assert (row.n, row.value) == (4, pytest.approx(3 / 4))
    # Items: 19 / 3 and 3 against 16 / 3 and 3.
    row = found["j", "Overall", "item", "mae", ""]
    assert (row.n, row.value) == (2, pytest.approx(1 / 2))
    row = found["j", "Richness", "answer", "mae", ""]
    assert (row.n, row.value) == (1, 0)


def test_parts_of_a_turn_are_answers_of_their_own():
    both = [replace(scored(1, float(n)), part=part) for n, part in enumerate(("first", "second"))]
    found = quality({"a": both}, lengths({"a": {1: 5}}))
    assert figure(found, "mean") == (2, 0.5, None)
    assert figure(found, "length_controlled_score", "a")[0] == 2
