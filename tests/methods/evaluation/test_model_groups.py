"""Groups of models by hand: means on what all have, the best model by ability, paired differences."""

from collections.abc import Mapping

import pytest
from scipy import stats

from methods.evaluation.findings import Finding
from methods.evaluation.metrics.mean import Mean
from methods.evaluation.model_groups import group_findings
from tests.methods.evaluation.metrics.numbers import scored
from tests.methods.evaluation.observed import ScoredObservation, frame

RIGHT = Mean(name="Right", observation="right", scale=100.0, lowest=0.0, highest=100.0)
ABILITY = {"a": "seeing", "b": "seeing", "c": "reasoning", "d": "reasoning"}
FIELDS = {"access": {"o1": "open", "o2": "open", "p": "proprietary"}}


def observed_on(values: Mapping[str, float]) -> list[ScoredObservation]:
    return [
        scored(name, value, metric="right", ability=ABILITY[name]) for name, value in values.items()
    ]


def findings(of: Mapping[str, Mapping[str, float]]) -> dict[tuple[str, ...], Finding]:
    observed = frame({model: observed_on(values) for model, values in of.items()})
    found = group_findings([RIGHT], observed, FIELDS, ["ability"])
    return {(each.subject, each.subset_value, each.measure): each for each in found}


MODELS = {
    "o1": {"a": 1.0, "b": 0.0, "c": 0.0, "d": 0.0},
    "o2": {"a": 1.0, "b": 1.0, "c": 0.0, "d": 1.0},
    "p": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.0},
}
OPEN, PROPRIETARY = "access: open", "access: proprietary"


def test_a_group_has_the_mean_of_its_models_on_each_unit() -> None:
    found = findings(MODELS)
    # Open models by item: 100, 50, 0, 50.
    assert found[OPEN, "", "mean"].value == 50
    assert found[OPEN, "seeing", "mean"].value == 75
    assert found[PROPRIETARY, "", "mean"].value == 75
    assert found["", "", "mean"].value == pytest.approx(100 * 7 / 12)
    assert found[OPEN, "", "mean"].n_clusters == 4


def test_the_best_model_of_an_ability_is_named_with_its_own_interval() -> None:
    found = findings(MODELS)
    best = found["", "seeing", "best"]
    assert (best.value, best.n) == (100, 2)
    assert best.ci_low is not None and best.ci_low < 100
    assert found[OPEN, "seeing", "best"].other == "o2"


def test_every_model_with_the_best_score_is_named() -> None:
    observed = frame({model: observed_on(values) for model, values in MODELS.items()})
    found = group_findings([RIGHT], observed, FIELDS, ["ability"])
    best = [each.other for each in found if (each.measure, each.subject) == ("best", "")]
    # Of everything, then of reasoning, then of seeing.
    assert best == ["o2", "p", "o2", "p", "o2", "p"]


def test_two_groups_are_compared_on_the_same_units() -> None:
    of = findings(MODELS)[OPEN, "", "difference"]
    # By item: 0, -50, -100, 50.
    assert (of.other, of.value, of.n) == (PROPRIETARY, -25, 4)
    p = stats.ttest_1samp([0, -50, -100, 50], 0).pvalue
    assert of.p == pytest.approx(p) and of.p_holm == pytest.approx(p)


def test_a_model_that_lacks_an_item_takes_it_from_its_group_and_baselines_are_no_groups():
    without = {**MODELS, "o1": {"a": 1.0, "b": 0.0, "d": 0.0}}
    # By item: 100, 50 and 50; item c is not of both.
    assert findings(without)[OPEN, "", "mean"].value == pytest.approx(200 / 3)
    # A field with one value and baselines are no groups.
    found = findings({"o1": MODELS["o1"], "o2": MODELS["o2"], "baseline:empty": MODELS["p"]})
    assert {subject for subject, *_ in found} == {""}
    assert found["", "", "best"].other == "o2"
    assert findings({"o1": MODELS["o1"]}) == {}
