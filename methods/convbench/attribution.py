"""Error attribution of ConvBench: errors that disappear if references replace earlier turns; a test.

ConvBench compares a turn's score over the model's own history with its score after reference turns
(ConvBench, 4, settings i to iii; 5.1): S2^ - S2, S3^ - S3, S3~ - S3^. Here each item i is compared
before and after this change:

    v_i       value: mean over both orders of the pair; 1 a win, 0.5 a tie or contradiction, 0 a loss
    error     v_i < 0.5: the judge prefers the reference; the answer is right otherwise
    gone      share of the errors before that are right after
    lost      share of the right answers before that are errors after
    net       100 x mean_i (v_i after - v_i before), over items with both values

Errors also disappear by chance, if a model is called again or a judge wavers, and right answers are
lost in the same way: `lost` measures this noise. The replaced turns are a cause of errors only if the
net gain is positive with p < 0.05. Interval and p come from one test on clusters
(`methods/evaluation/statistics/comparisons.py`). Holm's adjustment is over the models, for tasks over
models and tasks. The decline over turns is computed in the same way, with two turns of one history
instead of two settings.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from methods.convbench.scores import (
    CREATION,
    OF_TURN,
    PERCEPTION,
    PERFECT_PERCEPTION,
    PERFECT_REASONING,
    REASONING,
    TASK_LABELS,
    WIN_RATES,
)
from methods.evaluation.asking import PLAIN
from methods.evaluation.candidates import is_model
from methods.evaluation.metrics import ScoredObservation, Unit
from methods.evaluation.metrics.units import matrix
from methods.evaluation.scoring import ALL
from methods.evaluation.slices import subsets
from methods.evaluation.statistics.comparisons import compare_differences, holm

Row = dict[str, Any]
ERROR_BELOW = 0.5
"""A mean below this, over both orders of the pair, is an error: the judge prefers the reference."""
ALPHA = 0.05
LEAST_TESTED = 6
"""With fewer independent items there is no interval and no p."""
TOO_FEW = f"Fewer than {LEAST_TESTED} independent items: there is no test."
NO_ITEMS = "No item was judged in both."
NOTHING_CHANGES = "No item's value changes: there is nothing to test."
ABSENT = "absent"
"""Reason to leave out an item that one of both settings lacks, for example without a reference."""
PERCEPTION_GIVEN, REASONING_GIVEN = "perception given", "reasoning given as well"
BOTH_GIVEN = "both given"
LATER_TURN = "later turn"


class ScoreTransition(NamedTuple):
    """Two scores of an item that are compared, each given by dimension and trial.

    Attributes:
        labels: The task categories by which errors are split: of the turn, and of the replaced turns.
    """

    name: str
    before: tuple[str, str]
    after: tuple[str, str]
    labels: tuple[str, ...] = ()


CHANGES = (
    ScoreTransition(
        PERCEPTION_GIVEN,
        (REASONING, PLAIN),
        (REASONING, PERFECT_PERCEPTION),
        (TASK_LABELS[2], TASK_LABELS[1]),
    ),
    ScoreTransition(
        PERCEPTION_GIVEN,
        (CREATION, PLAIN),
        (CREATION, PERFECT_PERCEPTION),
        (TASK_LABELS[3], TASK_LABELS[1]),
    ),
    ScoreTransition(
        REASONING_GIVEN,
        (CREATION, PERFECT_PERCEPTION),
        (CREATION, PERFECT_REASONING),
        (TASK_LABELS[3], TASK_LABELS[2]),
    ),
    ScoreTransition(
        BOTH_GIVEN, (CREATION, PLAIN), (CREATION, PERFECT_REASONING), (TASK_LABELS[3],)
    ),
    ScoreTransition(LATER_TURN, (PERCEPTION, PLAIN), (REASONING, PLAIN)),
    ScoreTransition(LATER_TURN, (REASONING, PLAIN), (CREATION, PLAIN)),
    ScoreTransition(LATER_TURN, (PERCEPTION, PLAIN), (CREATION, PLAIN)),
)
"""The comparisons. The first three are the paper's. With both turns given, the remaining errors of
creation come from the creation turn itself."""
TERMS: Row = {
    "turns": [(turn, name, TASK_LABELS[turn]) for turn, name in OF_TURN.items()],
    "trials": {
        PLAIN: "own history",
        PERFECT_PERCEPTION: "perception given",
        PERFECT_REASONING: "perception and reasoning given",
    },
    "rates": [(name, str(rate.observation), rate.trial) for name, rate in WIN_RATES.items()],
    "changes": [
        {
            "key": (change.name, change.before[0], change.after[0]),
            "labels": change.labels,
            "is_later_turn": change.name == LATER_TURN,
        }
        for change in CHANGES
    ],
    "causes": {
        PERCEPTION_GIVEN: ("perception", "perception is given", ""),
        REASONING_GIVEN: (
            "reasoning",
            "reasoning is given as well",
            " that are left with perception given",
        ),
    },
}
"""Names for the page that shows the rows, in order. Turns have their dimension and the label of their
task, trials a description, win rates their dimension and trial, changes the columns that tell rows
apart. Causes have a name, the condition under which errors go, and a restriction of errors."""


class ItemScore(NamedTuple):
    """An item in one dimension and trial; `value` is None if an order was not judged: see `status`."""

    cluster: str
    labels: Mapping[str, str]
    value: float | None
    status: str


class MatchedItems(NamedTuple):
    """The items of one model that have both values, and the number of other items by reason."""

    before: dict[str, ItemScore]
    after: dict[str, ItemScore]
    left_out: Counter[str]

    def select(self, label: str, value: str) -> "MatchedItems":
        """Select the items of a task.

        Args:
            label: The label.
            value: Its value.

        Returns:
            The items.
        """
        item_ids = {
            name for name, judged in self.after.items() if judged.labels.get(label) == value
        }
        before, after = (
            {name: side[name] for name in side.keys() & item_ids}
            for side in (self.before, self.after)
        )
        return MatchedItems(before, after, Counter())


def attribution_rows(
    observed: Mapping[str, Sequence[ScoredObservation]],
    changes: Sequence[ScoreTransition] = CHANGES,
) -> list[Row]:
    """Attribute errors: measure what changes if reference turns replace the model's earlier turns.

    Baselines, and models without their images, are left out. A change has no rows unless some model has
    both trials.

    Args:
        observed: The observations of each candidate.
        changes: The changes from one trial to another.

    Returns:
        A row for each change, subset and model.
    """
    rows: list[Row] = []
    for change in changes:
        models = sorted(filter(is_model, observed))
        followed = {model: _followed(observed[model], change) for model in models}
        followed = {
            model: of_model
            for model, of_model in followed.items()
            if of_model.before or of_model.left_out
        }
        if not any(of_model.before for of_model in followed.values()):
            continue
        cells = [(ALL, model, of_model) for model, of_model in followed.items()]
        rows += _rows(change, cells)
        tasks = [
            judged.labels for of_model in followed.values() for judged in of_model.after.values()
        ]
        for label in change.labels:
            named = [{label: labels[label]} for labels in tasks if label in labels]
            cells = [
                (subset, model, of_model.select(*subset))
                for subset in sorted(subsets(named))
                for model, of_model in followed.items()
            ]
            rows += _rows(change, [cell for cell in cells if cell[2].before])
    return rows


def _followed(scored: Sequence[ScoredObservation], change: ScoreTransition) -> MatchedItems:
    before, after = (_judged(scored, *place) for place in (change.before, change.after))
    left_out: Counter[str] = Counter()
    for item in before.keys() | after.keys():
        sides = before.get(item), after.get(item)
        why = [
            ABSENT if side is None else side.status
            for side in sides
            if side is None or side.value is None
        ]
        if why:
            left_out[why[0]] += 1
            before.pop(item, None)
            after.pop(item, None)
    return MatchedItems(before, after, left_out)


def _judged(
    scored: Sequence[ScoredObservation], dimension: str, trial: str
) -> dict[str, ItemScore]:
    of_items: dict[str, list[ScoredObservation]] = {}
    for score in scored:
        if (score.metric, score.trial) == (dimension, trial):
            of_items.setdefault(score.item_id, []).append(score)
    judged = {}
    for item, orders in of_items.items():
        values = [score.value for score in orders if score.value is not None]
        # The score of one order alone would include the judge's position bias.
        whole = len(values) == len(orders)
        lacking = next((score.status for score in orders if score.value is None), "judged")
        value = sum(values) / len(values) if whole else None
        judged[item] = ItemScore(orders[0].cluster, orders[0].labels, value, lacking)
    return judged


Cell = tuple[tuple[str, str], str, MatchedItems]
SPAN = 100.0
"""The largest possible difference of two win rates."""
_UNTESTED: Row = dict.fromkeys(("ci_low", "ci_high", "p", "p_holm", "verdict"))


def _rows(change: ScoreTransition, cells: Sequence[Cell]) -> list[Row]:
    """Build the rows of cells (subset, model, items) whose p values are adjusted together."""
    untested = [_why_untested(of_model) for _, _, of_model in cells]
    tested = [place for place, why in enumerate(untested) if why is None]
    values, clusters = matrix([_differences(cells[place][2]) for place in tested])
    compared = compare_differences(values, clusters, SPAN)
    adjusted = holm([comparison.p_value for comparison in compared])
    tests: dict[int, Row] = {
        place: {
            # Taken from the test, so that it agrees with the interval to the last digit.
            "difference": comparison.difference,
            "ci_low": comparison.ci_low,
            "ci_high": comparison.ci_high,
            "p": comparison.p_value,
            "p_holm": p,
            "verdict": _verdict(comparison.difference, p),
            "reason": comparison.reason,
        }
        for place, comparison, p in zip(tested, compared, adjusted, strict=True)
    }
    return [
        {
            "change": change.name,
            "before_dimension": change.before[0],
            "before_trial": change.before[1],
            "dimension": change.after[0],
            "trial": change.after[1],
            "subset_label": subset[0],
            "subset_value": subset[1],
            "model": model,
            **_counts(of_model),
            **tests.get(place, {**_UNTESTED, "reason": untested[place]}),
        }
        for place, (subset, model, of_model) in enumerate(cells)
    ]


def _why_untested(items: MatchedItems) -> str | None:
    """Give the reason why these items are not tested; None if they are.

    A test whose p cannot be below 1 is skipped, because it would only make Holm's adjustment stricter
    (Tarone 1990).
    """
    if not items.before:
        return NO_ITEMS
    if len({judged.cluster for judged in items.after.values()}) < LEAST_TESTED:
        return TOO_FEW
    return None if any(unit.value for unit in _differences(items)) else NOTHING_CHANGES


def _differences(items: MatchedItems) -> list[Unit]:
    return [
        Unit(
            (item,), after.cluster, 100 * ((after.value or 0.0) - (items.before[item].value or 0.0))
        )
        for item, after in items.after.items()
    ]


def _verdict(difference: float | None, p: float | None) -> str | None:
    """Whether the difference is significant, and its direction; None if it is not significant."""
    if not difference or p is None or p >= ALPHA:
        return None
    return "gain" if difference > 0 else "loss"


def _counts(matched: MatchedItems) -> Row:
    """Count the errors that disappear and the right answers that are lost; add the scores, 0 to 100."""
    items = sorted(matched.before)
    before, after = (
        np.array([side[item].value for item in items], dtype=float)
        for side in (matched.before, matched.after)
    )
    wrong, wrong_after = before < ERROR_BELOW, after < ERROR_BELOW
    n_errors, n_gone = int(wrong.sum()), int((wrong & ~wrong_after).sum())
    n_right, n_lost = int((~wrong).sum()), int((~wrong & wrong_after).sum())
    scores = [float(100 * side.mean()) if items else None for side in (before, after)]
    return {
        "n_items": len(items),
        "n_left_out": sum(matched.left_out.values()),
        "left_out": sorted(matched.left_out.items()),
        "n_errors": n_errors,
        "n_gone": n_gone,
        **_share("gone", n_gone, n_errors),
        "n_right": n_right,
        "n_lost": n_lost,
        **_share("lost", n_lost, n_right),
        "before_value": scores[0],
        "after_value": scores[1],
        "difference": float(100 * (after - before).mean()) if items else None,
    }


def _share(name: str, n: int, total: int) -> Row:
    """The share n / total with its interval, each 0 to 1; all None if total is 0."""
    interval = _wilson(n, total) if total else (None, None)
    columns = (f"{name}_share", f"{name}_low", f"{name}_high")
    return dict(zip(columns, (n / total if total else None, *interval), strict=True))


@cache
def _wilson(n: int, total: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share (Wilson 1927). Cached, as tasks often have the same counts."""
    from scipy.stats import binomtest

    interval = binomtest(n, total).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)
