"""Findings worked by hand: language gaps, prompt sensitivity, and groups of models."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from scipy import stats

from methods.evaluation.candidates import BASELINES, ablation_of, is_model, model_of
from methods.evaluation.findings import Finding
from methods.evaluation.items import Item, Turn
from methods.evaluation.language_gaps import (
    ItemPairing,
    ReleaseObservations,
    language_gap_findings,
    paired_items,
)
from methods.evaluation.metrics.all_right import AllRight
from methods.evaluation.metrics.mean import Mean
from methods.evaluation.model_groups import group_findings
from methods.evaluation.prompt_sensitivity import groups_of, sensitivity_findings, styles_of
from methods.evaluation.related import relations_to_judges
from methods.evaluation.statistics.estimates import PAIRED_T
from tests.methods.evaluation.observed import ScoredObservation, frame, scored

RIGHT = AllRight(name="Right", observation="right", trials="plain", n_passes=1)
LABELS = {"a": "seeing", "b": "seeing", "c": "reasoning", "d": "reasoning"}


def item(name: str, *, image: str = "p", choices: int = 2, key: str | None = "A") -> Item:
    turn = Turn(1, f"Question {name}", (1,), {"key": key} if key else {})
    labels = {"l2-category": LABELS[name], "task": LABELS[name]} if name in LABELS else {}
    return Item(name, (turn,), (image,), tuple("xyz"[:choices]), labels=labels)


def observed(values: Mapping[str, float | None]) -> list[ScoredObservation]:
    """One observation an item; without a value the model declined by a filter."""
    return [
        scored(
            name, value, metric="right", status="refused" if value is None else "",
            refused=value is None, **({"task": LABELS[name]} if name in LABELS else {}),
        )
        for name, value in values.items()
    ]  # fmt: skip


def gaps(english: dict, chinese: dict) -> dict[tuple[str, ...], Finding]:
    """Findings by model, metric, subset and measure; each side by model and item."""
    sides = [
        ReleaseObservations(
            release,
            [item(name) for name in sorted({n for of in given.values() for n in of})],
            frame({model: observed(of) for model, of in given.items()}),
        )
        for release, given in (("in-en", english), ("in-zh", chinese))
    ]
    found = language_gap_findings([RIGHT], *sides)
    return {(each.subject, each.metric, each.subset_value, each.measure): each for each in found}


def scores(found: dict[tuple[str, ...], Finding], *key: str) -> tuple[float | None, ...]:
    measures = ("first_score", "second_score", "difference")
    return tuple(found[*key, measure].value for measure in measures)


def test_items_are_pairs_if_all_but_the_language_is_alike() -> None:
    first = [item(name) for name in (*"abcde", "only")]
    unlike = [item("b", image="another"), item("c", choices=3), item("d", key="B")]
    unlike.append(replace(first[4], turns=(*first[4].turns, Turn(2, "And then?"))))
    second = [item("a"), *unlike, item("x"), item("y")]
    assert paired_items(first, second) == ItemPairing(frozenset("a"), 1, 2, 4)
    # A key that is held out may be any.
    held_out = [item("a", key=None), item("d", key=None)]
    assert paired_items(first, held_out).paired == {"a", "d"}


def test_a_difference_is_of_pairs_alone_with_its_interval_and_p_by_hand() -> None:
    found = gaps(
        {"m": {"a": 1, "b": 1, "c": 1, "d": 0, "x": 1}},
        {"m": {"a": 1, "b": 0, "c": 0, "d": 0, "y": 1, "z": 1}},
    )
    row = found["m", "Right", "", "difference"]
    assert scores(found, "m", "Right", "") == (75, 25, 50)
    assert (found["", "", "", "n_pairs"].n, row.n, row.n_clusters) == (4, 4, 4)
    counts = [found["", "", "", name].n for name in ("n_only_first", "n_only_second", "n_unlike")]
    assert counts == [1, 2, 0]
    assert row.p == pytest.approx(stats.ttest_1samp([0, 100, 100, 0], 0).pvalue)
    assert row.reason is None
    # An interval on the scale of differences that has 0 in it, as p is above 0.05.
    assert -100 < row.ci_low < 0 < 50 < row.ci_high <= 100
    assert row.method == PAIRED_T
    # By ability the same of its items.
    assert found["m", "Right", "seeing", "difference"].value == 50
    assert found["", "", "seeing", "n_pairs"].n == 2
    assert {row.subset_label for row in found.values()} == {"", "l2-category"}


def test_what_a_model_failed_is_at_the_floor_and_what_is_missing_is_no_pair() -> None:
    found = gaps({"m": {"a": 1, "b": 1}}, {"m": {"a": None, "b": 1}})
    assert found["m", "Right", "", "second_score"].value == 50
    lost = {"m": {"a": 1, "b": 1}, "n": {"a": 1}}
    found = gaps(lost, {"m": {"a": 1, "b": 1}, "n": {"a": 0, "b": 1}})
    row = found["n", "Right", "", "difference"]
    assert (found["", "", "", "n_pairs"].n, row.n, row.value) == (2, 1, 100)
    assert row.ci_low is None and row.reason.startswith("All common units are of one")


def test_p_is_adjusted_over_the_models() -> None:
    six = dict.fromkeys("abcdef", 1)
    none = dict.fromkeys("abcdef", 0)
    found = gaps({"m": six, "n": six}, {"m": none, "n": six})
    # All six differ by as much, so two pseudo-clusters are added; the other model does not differ.
    differs = found["m", "Right", "", "difference"]
    assert differs.p == pytest.approx(stats.ttest_1samp([100] * 6 + [-100, 100], 0).pvalue)
    assert differs.p_holm == 2 * differs.p
    assert found["n", "Right", "", "difference"].p_holm == 1


def test_a_model_on_one_release_alone_has_a_reason_and_baselines_are_not_compared():
    found = gaps({"m": {"a": 1}, "only": {"a": 1}}, {"m": {"a": 1}})
    row = found["only", "Right", "", "difference"]
    assert row.value is None and row.reason == "It has no scores on in-zh."
    assert found["", "", "", "n_pairs"].n == 1 and row.n == 0
    # Baselines are not compared and without pairs there is nothing.
    of_baseline = {"baseline:reference": {"a": 1}}
    assert {subject for subject, *_ in gaps(of_baseline, of_baseline)} == {""}
    assert gaps({"m": {"a": 1}}, {"m": {"b": 1}}) == {}


RATING = Mean(name="Rating", lowest=1, highest=10)


def measured(items, observed):
    """Findings by model, style or group, and measure."""
    found = sensitivity_findings([RATING], items, frame(observed))
    return {(each.subject, each.subset_value, each.measure): each for each in found}


def differences(found):
    return {key[:2]: each for key, each in found.items() if key[2] == "difference"}


def wording(group, place, text="What is it?", **labels):
    turn = Turn(1, text, (1,), {"answer": f"It is {group}."})
    return Item(f"{group}-{place}", (turn,), ("i",), group_id=group, labels=labels)


def rated(items, values):
    return [
        ScoredObservation(
            item.item_id, item.cluster, "plain", 1, "Rating", value,
            "not_judged" if value is None else "judged",
        )
        for item, value in zip(items, values, strict=True)
    ]  # fmt: skip


def test_an_effect_is_the_mean_of_a_style_less_that_of_its_group():
    items = [wording("g", 0, style="terse"), wording("g", 1, style="polite"), wording("g", 2)]
    found = measured(items, {"m": rated(items, [4, 7, 10])})
    # The group's mean is 7.
    effects = differences(found)
    assert {key[1]: row.value for key, row in effects.items()} == {"polite": 0, "terse": -3}
    assert {row.subset_label for row in effects.values()} == {"style"}
    assert {key[1] for key in found} - {"polite", "terse"} == {"g"}
    assert found["m", "g", "deviation"].value == pytest.approx(6**0.5)
    assert found["m", "g", "lowest"].other == "g-0"
    assert [found["m", "g", name].value for name in ("lowest", "mean", "highest")] == [4, 7, 10]


def test_a_planted_style_that_hurts_is_found_and_others_are_not():
    items = [
        wording(f"g{group}", place, style="terse" if place == 0 else f"s{(group + place) % 3}")
        for group in range(40)
        for place in range(4)
    ]
    values = [3 if item.labels["style"] == "terse" else 6 for item in items]
    observed = {"led": rated(items, values), "steady": rated(items, [6] * 160)}
    effects = differences(measured(items, observed))
    found = {key for key, row in effects.items() if (row.p_holm or 1) < 0.05}
    assert {style for model, style in found if model == "led"} >= {"terse"}
    assert not {model for model, _ in found} - {"led"}
    terse = effects["led", "terse"]
    # 3 less the mean of 3, 6, 6, 6.
    assert terse.value == -2.25
    # All 40 groups differ by as much: two pseudo-clusters are added, at the largest differences.
    interval = stats.ttest_1samp([-2.25] * 40 + [-9, 9], 0).confidence_interval()
    assert (terse.ci_low, terse.ci_high) == pytest.approx(interval)


def test_without_labels_styles_are_told_by_rule():
    questions = {
        "What is in the picture?": ("as a question",),
        "Please describe in a few words what is to be seen in the picture.": ("polite", "longer"),
        "<ImageHere>Describe it.": ("shorter",),
    }
    chinese = {"请描述图片。": ("polite", "shorter"), "图片里有什么？": ("as a question", "longer")}
    for texts in (questions, chinese):
        group = [wording("g", place, text) for place, text in enumerate(texts)]
        assert [*styles_of(group).values()] == [*texts.values()]


def test_items_of_one_group_with_other_pictures_or_references_are_no_wordings():
    one = wording("g", 0)
    other = Item("g-1", one.turns, ("other",), group_id="g")
    unanswerable = Item("g-1", (Turn(1, "?", (1,), {"answer": "No."}),), ("i",), group_id="g")
    assert not groups_of([one, other]) and not groups_of([one, unanswerable])
    assert measured([one, other], {"m": []}) == {}


def test_a_style_that_every_wording_has_says_nothing_and_a_lost_judgment_is_left_out():
    items = [wording("g", place, "Please say what it is.", style="polite") for place in range(3)]
    found = measured(items, {"m": rated(items, [5, None, 9])})
    (polite,) = differences(found).values()
    assert polite.value is None and polite.n == 0 and polite.reason
    assert found["m", "g", "mean"].n == 2 and found["m", "g", "mean"].value == 7


MEAN_RIGHT = Mean(name="Right", observation="right", scale=100.0, lowest=0.0, highest=100.0)
FIELDS = {"access": {"o1": "open", "o2": "open", "p": "proprietary"}}


def rows_of(models: Mapping[str, Mapping[str, float]], metric=MEAN_RIGHT) -> list[Finding]:
    by_model = frame({model: observed(values) for model, values in models.items()})
    return list(group_findings([metric], by_model, FIELDS, ["task"]))


def findings(models: Mapping[str, Mapping[str, float]]) -> dict[tuple[str, ...], Finding]:
    found = rows_of(models)
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
    # Every model with the best score is named: of everything, then of reasoning, then of seeing.
    of_all = [
        each.other for each in rows_of(MODELS) if (each.measure, each.subject) == ("best", "")
    ]
    assert of_all == ["o2", "p", "o2", "p", "o2", "p"]
    # If lower is better, the lowest score is the best one.
    inverse = rows_of(MODELS, replace(MEAN_RIGHT, higher_is_better=False))
    first = next(each for each in inverse if (each.measure, each.subject) == ("best", ""))
    assert (first.other, first.value) == ("o1", 25)


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


@pytest.mark.parametrize(
    ("name", "has_rank", "ablation", "model"),
    [
        ("gpt-4o", True, None, "gpt-4o"),
        ("qwen3-vl:8b", True, None, "qwen3-vl:8b"),
        ("no-images", True, None, "no-images"),
        ("no-images:gpt-4o", False, "no-images", "gpt-4o"),
        ("other-images:qwen3-vl:8b", False, "other-images", "qwen3-vl:8b"),
        *((name, False, None, None) for name in BASELINES),
    ],
)
def test_a_name_says_who_is_asked_and_whether_it_has_a_rank(name, has_rank, ablation, model):
    assert (is_model(name), ablation_of(name), model_of(name)) == (has_rank, ablation, model)


FAMILIES = {"gpt-4o": "gpt", "gpt-4o-mini": "gpt", "qwen": "qwen"}


@pytest.mark.parametrize(
    ("model", "judges", "writers", "remarks"),
    [
        ("gpt-4o", ["gpt-4o"], [], ("is the judge",)),
        ("gpt-4o", ["gpt-4o", "claude"], ["gpt-4o"], ("is a judge", "is the writer")),
        ("gpt-4o-mini", ["gpt-4o"], ["gpt-4o"], ("judge's family", "writer's family")),
        ("gpt-4o-mini", ["qwen"], ["gpt-4o"], ("writer's family",)),
        ("qwen", ["gpt-4o"], ["gpt-4o"], ()),
        # Two models without a family are not of one.
        ("claude", ["llama"], ["llama"], ()),
        ("llama", ["rule"], [], ()),
    ],
)
def test_a_contestant_is_marked_by_itself_or_by_its_family(model, judges, writers, remarks):
    assert relations_to_judges(model, judges, writers, FAMILIES) == remarks
