"""Error attribution by hand and on planted faults: what is named a cause, what is not."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from scipy import stats

from methods.convbench.attribution import (
    ABSENT,
    BOTH_GIVEN,
    CHANGES,
    NO_ITEMS,
    NOTHING_CHANGES,
    PERCEPTION_GIVEN,
    REASONING_GIVEN,
    TOO_FEW,
    ScoreTransition,
    attribution_rows,
)
from methods.convbench.scores import CREATION, PERFECT_PERCEPTION, REASONING
from methods.evaluation.asking import PLAIN
from tests.methods.convbench.planted import Values, model, scored
from tests.methods.evaluation.observed import ScoredObservation, frame

REASONING_FIXED = CHANGES[0]


def reasoning(
    before: Values, after: Values, tasks: Mapping[str, str] = {}
) -> list[ScoredObservation]:
    """Turn 2 of one model over its own history and with perception given."""
    labels = {item: {"reasoning": task} for item, task in tasks.items()}
    return [
        *scored(REASONING, PLAIN, before, labels),
        *scored(REASONING, PERFECT_PERCEPTION, after, labels),
    ]


def rows_of(
    observed: Mapping[str, Sequence[ScoredObservation]],
    changes: Sequence[ScoreTransition] = (REASONING_FIXED,),
) -> dict[tuple[str, str, str], dict]:
    """Rows by model, change with its dimension, and task."""
    rows = attribution_rows(frame(observed), changes)
    return {
        (row["model"], f"{row['change']}: {row['dimension']}", row["subset_value"]): row
        for row in rows
    }


def only(observed: Sequence[ScoredObservation]) -> dict:
    """The row of all items, of one model's reasoning with perception given."""
    return rows_of({"m": observed})["m", f"{PERCEPTION_GIVEN}: {REASONING}", ""]


def numbered(values: Sequence[float | None]) -> dict[str, float | None]:
    return {f"i{place:03}": value for place, value in enumerate(values)}


def p_of_equal(n: int) -> Any:
    """p where all `n` items gain 100: Student's t with a pseudo-cluster at -100 and one at 100."""
    return pytest.approx(stats.ttest_1samp([100] * n + [-100, 100], 0).pvalue)


def test_shares_net_and_p_by_hand() -> None:
    # Seven errors, of which six go; three right, of which one is lost.
    row = only(reasoning(numbered([0] * 7 + [1] * 3), numbered([1] * 6 + [0, 0, 1, 1])))
    assert (row["n_items"], row["n_errors"], row["n_right"]) == (10, 7, 3)
    assert (row["n_gone"], row["gone_share"]) == (6, 6 / 7)
    assert (row["n_lost"], row["lost_share"]) == (1, 1 / 3)
    # Wilson: (k + z^2/2 +- z sqrt(k (n - k) / n + z^2/4)) / (n + z^2), z = 1.95996.
    assert (row["gone_low"], row["gone_high"]) == pytest.approx((0.4869, 0.9743), abs=1e-4)
    assert (row["lost_low"], row["lost_high"]) == pytest.approx((0.0615, 0.7923), abs=1e-4)
    assert (row["before_value"], row["after_value"], row["difference"]) == (30, 80, 50)
    # The differences are 100 six times, -100 once and 0 three times: t = 50 / 22.361 = 2.2361. They are
    # skewed to the losses, k = -3,000,000 / 45,000^(3/2) = -0.31427, so q is the root of
    # q + 0.31427 (2 q^2 + 1) / 6 = t, which is 1.8321.
    assert row["p"] == row["p_holm"] == pytest.approx(2 * stats.t.sf(1.8321, 9), rel=1e-3)
    assert row["verdict"] is None and row["reason"] is None
    assert row["ci_low"] < 50 < row["ci_high"]


def test_an_error_is_a_pair_that_the_reference_wins_over_both_orders() -> None:
    before = {"lost": 0.0, "half": (1.0, 0.0), "tie": 0.5, "nearly": (0.5, 0.0), "won": 1.0}
    row = only(reasoning(before, dict.fromkeys(before, 1.0)))
    assert (row["n_errors"], row["n_right"]) == (2, 3)
    assert (row["n_gone"], row["n_lost"]) == (2, 0)
    assert row["before_value"] == pytest.approx(100 * (0 + 0.5 + 0.5 + 0.25 + 1) / 5)


def test_what_lacks_a_value_in_either_is_left_out_and_counted_by_reason() -> None:
    row = only(
        [
            *reasoning({"a": 0, "b": (1, None), "c": 1}, {"a": 1, "b": 1, "d": 1, "r": 1}),
            ScoredObservation("r", "r", PLAIN, 2, REASONING, None, "refused"),
        ]
    )
    assert (row["n_items"], row["n_left_out"]) == (1, 4)
    # c has no second setting, d no first; of b one order alone was judged.
    assert row["left_out"] == [(ABSENT, 2), ("not_judged", 1), ("refused", 1)]
    assert (row["difference"], row["p"], row["reason"]) == (100, None, TOO_FEW)


def test_p_is_adjusted_over_the_models_in_which_anything_changes() -> None:
    gains = reasoning(numbered([0] * 6), numbered([1] * 6))
    wavers = reasoning(numbered([0, 1] * 3), numbered([1, 0] + [0, 1] * 2))
    same = reasoning(numbered([0, 1] * 3), numbered([0, 1] * 3))
    found = rows_of({"gains": gains, "wavers": wavers, "wavers too": wavers, "same": same})
    key = f"{PERCEPTION_GIVEN}: {REASONING}", ""
    gained = found["gains", *key]
    assert gained["p"] == p_of_equal(6)
    assert gained["p_holm"] == pytest.approx(3 * gained["p"]) and gained["verdict"] is None
    assert found["wavers", *key]["p_holm"] == 1
    unchanged = found["same", *key]
    assert (unchanged["difference"], unchanged["p"]) == (0, None)
    assert unchanged["reason"] == NOTHING_CHANGES
    # A model that cannot differ takes nothing from another one.
    alone = rows_of({"gains": gains, "same": same})["gains", *key]
    assert alone["p_holm"] == alone["p"] == gained["p"] and alone["verdict"] == "gain"


def test_by_task_the_same_of_its_items_and_a_task_that_all_share_splits_nothing() -> None:
    before, after = numbered([0] * 6 + [0, 1]), numbered([1] * 6 + [0, 0])
    tasks = {item: "memes" if item < "i006" else "charts" for item in before}
    found = rows_of({"m": reasoning(before, after, tasks)})
    key = "m", f"{PERCEPTION_GIVEN}: {REASONING}"
    assert {task for _, _, task in found} == {"", "memes", "charts"}
    assert (found[*key, "memes"]["n_gone"], found[*key, "memes"]["p"]) == (6, p_of_equal(6))
    charts = found[*key, "charts"]
    assert (charts["n_items"], charts["n_errors"], charts["n_lost"]) == (2, 1, 1)
    assert charts["difference"] == -50 and charts["p"] is None and charts["reason"] == TOO_FEW
    one_task = dict.fromkeys(before, "memes")
    assert {task for _, _, task in rows_of({"m": reasoning(before, after, one_task)})} == {""}


def test_a_model_without_one_setting_is_there_with_the_reason() -> None:
    plain = scored(REASONING, PLAIN, numbered([0] * 6))
    both = reasoning(numbered([0] * 6), numbered([1] * 6))
    row = rows_of({"both": both, "plain": plain})["plain", f"{PERCEPTION_GIVEN}: {REASONING}", ""]
    assert (row["n_items"], row["left_out"], row["reason"]) == (0, [(ABSENT, 6)], NO_ITEMS)
    assert row["difference"] is None and row["gone_share"] is None


def test_other_benchmarks_baselines_and_models_without_images_have_no_rows() -> None:
    both = reasoning(numbered([0] * 6), numbered([1] * 6))
    for observed in (
        {},
        {"m": [ScoredObservation("a", "a", PLAIN, 1, "Overall Score", 7.0)]},
        {"baseline:reference": both, "no-images:m": both},
    ):
        assert attribution_rows(frame(observed)) == []


SOUND = {"perceives": 1.0, "reasons": 1.0}
GAINS = (
    f"{PERCEPTION_GIVEN}: {REASONING}",
    f"{PERCEPTION_GIVEN}: {CREATION}",
    f"{REASONING_GIVEN}: {CREATION}",
)


def named(found: Mapping[tuple[str, str, str], dict], who: str) -> list[str]:
    """The changes that are named a cause of a model's errors."""
    return [change for change in GAINS if found[who, change, ""]["verdict"] == "gain"]


def test_a_planted_cause_is_named_and_no_other() -> None:
    found = rows_of(
        {
            "blind": model(1, perceives=0.4, reasons=1.0),
            "illogical": model(2, perceives=1.0, reasons=0.4),
            "sound": model(3, **SOUND),
            "both": model(4, perceives=0.5, reasons=0.5),
        },
        CHANGES,
    )
    assert named(found, "blind") == list(GAINS[:2])
    assert named(found, "illogical") == [GAINS[2]]
    assert named(found, "sound") == []
    assert named(found, "both") == list(GAINS)
    blind, sound = (found[who, GAINS[0], ""] for who in ("blind", "sound"))
    assert blind["p_holm"] < 0.01 and blind["difference"] > 20
    # Of the sound model's errors most go, too, when it is asked again: that alone names nothing.
    assert sound["gone_share"] > 0.5 and sound["n_lost"] > 10
    # What both given settings gain is what the one gains and what the other gains on top.
    steps = [found["both", change, ""]["difference"] for change in GAINS[1:]]
    assert found["both", f"{BOTH_GIVEN}: {CREATION}", ""]["difference"] == pytest.approx(sum(steps))
