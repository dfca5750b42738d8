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

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

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
from methods.evaluation.metrics.observations import label_column, labels_in, models_in, of_models
from methods.evaluation.scoring import ALL, split_labels
from methods.evaluation.statistics.comparisons import Comparison, compare_differences, holm

if TYPE_CHECKING:
    import pandas as pd

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
    "causes": (PERCEPTION_GIVEN, REASONING_GIVEN),
}
"""Names for the page that shows the rows, in order. Turns have their dimension and the label of their
task, trials a description, win rates their dimension and trial, changes the columns that tell rows
apart. Causes are the changes that show a single cause."""


def attribution_rows(
    observed: "pd.DataFrame", changes: Sequence[ScoreTransition] = CHANGES
) -> list[Row]:
    """Attribute errors: measure what changes if reference turns replace the model's earlier turns.

    Baselines, and models without their images, are left out. A change has no rows unless some model has
    both trials.

    Args:
        observed: The observations of every candidate.
        changes: The changes from one trial to another.

    Returns:
        A row for each change, subset and model.
    """
    rows: list[Row] = []
    observed = of_models(observed)
    for change in changes:
        items = _items_of(observed, change)
        matched = items[items["left_out"].isna()]
        if matched.empty:
            continue
        by_model = {model: items[items["model"] == model] for model in models_in(items)}
        rows += _rows(change, [(ALL, model, part) for model, part in by_model.items()])
        splits = split_labels(matched)
        for label in (label for label in change.labels if label in splits):
            by_value = matched.groupby([label_column(label), "model"])
            cells = [((label, str(value)), str(model), part) for (value, model), part in by_value]
            rows += _rows(change, cells)
    return rows


def _items_of(observed: "pd.DataFrame", change: ScoreTransition) -> "pd.DataFrame":
    """The items of each model: `before`, `after` and, unless it has both, why it is left out."""
    before, after = (_judged(observed, *place) for place in (change.before, change.after))
    items = after.merge(
        before[[*_ITEM, "value", "status"]], on=_ITEM, how="outer", suffixes=("", "_before")
    )
    left_out = items["status_before"].fillna(ABSENT).where(items["value_before"].isna())
    left_out_after = items["status"].fillna(ABSENT).where(items["value"].isna())
    return items.assign(
        before=items["value_before"], after=items["value"], left_out=left_out.fillna(left_out_after)
    )


def _judged(observed: "pd.DataFrame", dimension: str, trial: str) -> "pd.DataFrame":
    """Cluster, labels, value and status of the items; no value unless every order was judged."""
    orders = observed[(observed["metric"] == dimension) & (observed["trial"] == trial)]
    orders = orders.assign(status=orders["status"].where(orders["value"].isna()))
    labels = list(map(label_column, labels_in(orders)))
    groups = orders.groupby(_ITEM)
    items = groups[["cluster", "status", *labels]].first()
    # One order alone would be a score of the judge's liking for a place, too.
    is_whole = groups["value"].count() == groups.size()
    return items.assign(
        value=groups["value"].mean().where(is_whole),
        status=items["status"].astype(object).fillna("judged"),
    ).reset_index()


_ITEM = ["model", "item_id"]
Cell = tuple[tuple[str, str], str, "pd.DataFrame"]
SPAN = 100.0
"""The largest possible difference of two win rates."""
_UNTESTED: Row = dict.fromkeys(("ci_low", "ci_high", "p", "p_holm", "verdict"))


def _rows(change: ScoreTransition, cells: Sequence[Cell]) -> list[Row]:
    """Build the rows of cells (subset, model, items) whose p values are adjusted together."""
    untested = [_why_untested(items) for _, _, items in cells]
    tested = [place for place, why in enumerate(untested) if why is None]
    compared = _compared([cells[place][2] for place in tested])
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
            **_counts(items),
            **tests.get(place, {**_UNTESTED, "reason": untested[place]}),
        }
        for place, (subset, model, items) in enumerate(cells)
    ]


def _compared(cells: Sequence["pd.DataFrame"]) -> list[Comparison]:
    """The comparison of each cell's items with no change."""
    import pandas as pd

    if not cells:
        return []
    differences = (
        pd.concat(cells, keys=range(len(cells)), names=["cell"])
        .assign(difference=lambda items: 100 * (items["after"] - items["before"]))
        .reset_index("cell")
        .dropna(subset=["difference"])
        .pivot(index="cell", columns=["cluster", "item_id"], values="difference")
    )
    clusters = pd.CategoricalIndex(differences.columns.get_level_values("cluster")).codes
    return compare_differences(differences.to_numpy(), clusters, SPAN)


def _why_untested(items: "pd.DataFrame") -> str | None:
    """Give the reason why these items are not tested; None if they are.

    A test whose p cannot be below 1 is skipped, because it would only make Holm's adjustment stricter
    (Tarone 1990).
    """
    matched = items[items["left_out"].isna()]
    if matched.empty:
        return NO_ITEMS
    if matched["cluster"].nunique() < LEAST_TESTED:
        return TOO_FEW
    return NOTHING_CHANGES if (matched["before"] == matched["after"]).all() else None


def _verdict(difference: float | None, p: float | None) -> str | None:
    """Whether the difference is significant, and its direction; None if it is not significant."""
    if not difference or p is None or p >= ALPHA:
        return None
    return "gain" if difference > 0 else "loss"


def _counts(items: "pd.DataFrame") -> Row:
    """Count the errors that disappear and the right answers that are lost; add the scores, 0 to 100."""
    matched = items[items["left_out"].isna()].sort_values("item_id")
    left_out = items["left_out"].value_counts().to_dict()
    before, after = (matched[side].to_numpy() for side in ("before", "after"))
    wrong, wrong_after = before < ERROR_BELOW, after < ERROR_BELOW
    n_errors, n_gone = int(wrong.sum()), int((wrong & ~wrong_after).sum())
    n_right, n_lost = int((~wrong).sum()), int((~wrong & wrong_after).sum())
    scores = [float(100 * side.mean()) if len(side) else None for side in (before, after)]
    return {
        "n_items": len(matched),
        "n_left_out": sum(left_out.values()),
        "left_out": sorted(left_out.items()),
        "n_errors": n_errors,
        "n_gone": n_gone,
        **_share("gone", n_gone, n_errors),
        "n_right": n_right,
        "n_lost": n_lost,
        **_share("lost", n_lost, n_right),
        "before_value": scores[0],
        "after_value": scores[1],
        "difference": float(100 * (after - before).mean()) if len(matched) else None,
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
