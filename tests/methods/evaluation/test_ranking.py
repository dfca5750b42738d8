"""Comparisons and ranks of models, worked by hand."""

from dataclasses import replace

import pytest
from scipy import stats

from methods.evaluation.metrics.group_spread import GroupSpread
from methods.evaluation.metrics.mean import Mean
from methods.evaluation.ranking import compare, compare_parts
from tests.methods.evaluation.observed import ScoredObservation, frame, scored

MEAN = Mean(name="m", lowest=10, highest=100, scale=10)
MACRO = replace(MEAN, aggregation="macro by category")


def observed(values: list[float | None], category: str = "x") -> list[ScoredObservation]:
    """One item a value; None is one that the model failed."""
    return [scored(f"{n:02}", value, category=category) for n, value in enumerate(values)]


def compared(models: dict, metric=MEAN, least_coverage: float = 0.95) -> tuple[dict, dict]:
    pairs, ranks = compare([metric], frame(models), least_coverage=least_coverage)
    by_pair = {(row["form"], row["first"], row["second"]): row for row in pairs}
    return by_pair, {row["model"]: row for row in ranks}


def test_a_pair_is_compared_on_the_units_that_both_have() -> None:
    pairs, _ = compared({"a": observed([9, 8, None]), "b": observed([7, 7, 9])})
    common, floor = pairs["common", "a", "b"], pairs["floor", "a", "b"]
    assert (common["difference"], common["n_units"]) == (pytest.approx((20 + 10) / 2), 2)
    assert floor["difference"] == pytest.approx((20 + 10 - 80) / 3)
    assert floor["n_units"] == 3


def test_models_that_differ_everywhere_have_ranks_of_their_own() -> None:
    models = {name: observed([grade] * 12) for name, grade in (("a", 9), ("b", 5), ("c", 2))}
    pairs, ranks = compared(models)
    # 12 equal differences of 40 and the two pseudo-clusters at 90. Holm: the largest p of three pairs
    # counts once; a less c, 70, has the smallest.
    p = stats.ttest_1samp([40] * 12 + [-90, 90], 0).pvalue
    assert pairs["floor", "a", "b"]["p"] == pytest.approx(p)
    assert pairs["floor", "a", "b"]["p_holm"] == pytest.approx(2 * p)
    shown = {name: (of["rank"], of["rank_low"], of["rank_high"]) for name, of in ranks.items()}
    assert shown == {"a": (1, 1, 1), "b": (2, 2, 2), "c": (3, 3, 3)}
    pairs, ranks = compared({"a": models["a"]})
    assert (pairs, ranks["a"]["rank"]) == ({}, 1)


def test_a_model_of_which_too_little_was_judged_is_ranked_by_all_its_failures_and_marked() -> None:
    """What `a` failed is at the floor: (90 + 90 + 90 + 10) / 4 = 70, above 50."""
    models = {"a": observed([9, 9, 9, None]), "b": observed([5, 5, 5, 5])}
    _, ranks = compared(models)
    assert (ranks["a"]["rank"], ranks["b"]["rank"]) == (1, 2)
    assert ranks["a"]["mark"] == "75.0% of what this metric needs was judged."
    assert (ranks["a"]["why"], ranks["b"]["mark"]) == (None, None)
    _, ranks = compared(models, least_coverage=0.5)
    assert ranks["a"]["mark"] is None


def test_a_smaller_spread_ranks_first() -> None:
    spread = GroupSpread(name="s", observation="m", lowest=4.5)

    def groups(*ratings: float) -> list[ScoredObservation]:
        return [scored(f"{n}", value, cluster=f"{n // 2}") for n, value in enumerate(ratings)]

    _, ranks = compared({"a": groups(1, 9, 2, 8), "b": groups(5, 6, 5, 5)}, spread)
    assert (ranks["b"]["rank"], ranks["a"]["rank"]) == (1, 2)


def test_a_baseline_is_neither_ranked_nor_compared() -> None:
    reference = "baseline:reference"
    models = {name: observed([grade] * 12) for name, grade in (("a", 5), ("b", 3), (reference, 10))}
    pairs, ranks = compared(models)
    assert {name: of["rank"] for name, of in ranks.items()} == {"a": 1, "b": 2, reference: None}
    assert ranks[reference]["why"] == "A baseline has no rank."
    assert {(first, second) for _, first, second in pairs} == {("a", "b")}


def test_a_model_without_its_images_is_compared_with_the_model_alone_and_changes_no_other_p():
    models = {"a": observed([9, 8, 9, 7] * 4), "b": observed([9, 7, 8, 7] * 4)}
    blind = {
        "no-images:a": observed([3, 2, 4, 1] * 4),
        "other-images:a": observed([2, 2, 2, 2] * 4),
        # Its model is not there: nothing to compare it with.
        "no-images:c": observed([9, 9, 9, 9] * 4),
    }
    alone, ranked = compared(models)
    pairs, ranks = compared({**models, **blind})
    assert {key: pairs[key] for key in alone} == alone
    assert {name: ranks[name] for name in ranked} == ranked
    more = {key[1:] for key in pairs.keys() - alone.keys()}
    assert more == {("a", "no-images:a"), ("a", "other-images:a")}
    sight = pairs["floor", "a", "no-images:a"]
    # Grades 6, 6, 5 and 6 higher, times 10.
    assert sight["difference"] == pytest.approx(57.5)
    # Two tests are adjusted for: 16 clusters, all with the same sign.
    assert sight["p_holm"] == pytest.approx(2 * sight["p"]) and sight["p_holm"] < 0.05
    assert {name: of["rank"] for name, of in ranks.items() if ":" in name} == dict.fromkeys(blind)
    assert ranks["no-images:a"]["why"] == "A model without its images has no rank."
    assert ranks["other-images:a"]["why"] == ("A model with the images of other items has no rank.")


def test_a_macro_mean_by_label_ranks_as_it_is_scored_where_units_are_missing() -> None:
    def model(x: float, *y: float) -> list[ScoredObservation]:
        lost = [scored(f"y{n}", None, status="not_judged", category="y") for n in range(5)]
        return [
            *(scored(f"x{n}", x, category="x") for n in range(95)),
            *([scored(f"y{n}", each, category="y") for n, each in enumerate(y)] or lost),
        ]

    # The judge failed all five of the category y for b.
    pairs, ranks = compared({"a": model(8, 8, 8, 8, 8, 8), "b": model(9)}, MACRO)
    assert {name: of["rank"] for name, of in ranks.items()} == {"a": 2, "b": 1}
    # On what both have, the category x, they are 10 points apart.
    assert pairs["floor", "a", "b"]["difference"] == pytest.approx(-10)
    assert pairs["floor", "a", "b"]["n_units"] == 95


@pytest.mark.parametrize("metric", [MEAN, MACRO])
def test_a_model_of_which_nothing_was_judged_is_compared_with_nobody(metric) -> None:
    silent = [replace(each, value=None, status="not_judged") for each in observed([5, 5])]
    pairs, ranks = compared({"a": observed([5, 7]), "b": silent}, metric)
    assert (pairs["floor", "a", "b"]["n_units"], pairs["floor", "a", "b"]["p"]) == (0, None)
    assert ranks["b"]["why"] == "Nothing was judged that this metric rests on."


def test_models_are_compared_on_each_part_and_p_is_adjusted_for_all_of_a_label() -> None:
    def of(x: list[float | None], y: list[float | None]) -> list[ScoredObservation]:
        return [*observed(x), *(scored(f"y{n}", each, category="y") for n, each in enumerate(y))]

    models = {
        "a": of([9] * 8, [5] * 6),
        "b": of([2] * 8, [5, 5, 5, 5, 5, None]),
        "baseline:empty": of([1] * 8, [1] * 6),
    }
    x, y = compare_parts([MACRO, MEAN], frame(models), ["category", "unknown"])
    assert [row["subset_label"] for row in (x, y)] == ["category", "category"]
    assert [row["subset_value"] for row in (x, y)] == ["x", "y"]
    assert (x["first"], x["second"], x["aggregation"]) == ("a", "b", "micro")
    assert (x["difference"], x["n_units"]) == (pytest.approx(70), 8)
    assert x["p"] == pytest.approx(stats.ttest_1samp([70] * 8 + [-90, 90], 0).pvalue)
    assert x["p_holm"] == 2 * x["p"]
    # What a model failed counts as the lowest value: five equal units, and 50 less 10.
    assert (y["difference"], y["n_units"]) == (pytest.approx(40 / 6), 6)
    assert y["p"] == pytest.approx(stats.ttest_1samp([0] * 5 + [40], 0).pvalue)
    # One model has no part to be compared on.
    del models["b"]
    assert compare_parts([MEAN], frame(models), ["category"]) == []
