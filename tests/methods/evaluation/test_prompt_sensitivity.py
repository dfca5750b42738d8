"""Effects of wordings: worked by hand, and a planted style that hurts is found."""

import pytest
from scipy import stats

from methods.evaluation.items import Item, Turn
from methods.evaluation.metrics.mean import Mean
from methods.evaluation.prompt_sensitivity import groups_of, sensitivity_findings, styles_of
from tests.methods.evaluation.observed import ScoredObservation, frame

RATING = Mean(name="Rating", lowest=1, highest=10)


def measured(items, observed):
    """Findings by model, style or group, and measure."""
    found = sensitivity_findings([RATING], items, frame(observed))
    return {(each.subject, each.subset_value, each.measure): each for each in found}


def differences(found):
    """What each style of each model costs."""
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
    effects = differences(
        measured(items, {"led": rated(items, values), "steady": rated(items, [6] * 160)})
    )
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
