"""The leaderboard of a report: ranks, scores in three forms and counts, by judge and way of averaging.

What belongs here: the order of the models, what stands in each line, and the tables below: all metrics,
every two models with the smallest difference that the release can show, what each model scores more
than without its images, judges side by side, models that are missing. Charts are `report_plots.py`.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

from methods.evaluation.contestants import is_model, model_of
from resources.reports import report_blocks as block
from resources.reports.estimate import Estimate, Scale
from resources.reports.report_answers import refusals
from resources.reports.report_blocks import Cell, said
from resources.reports.report_input import Board, Row
from resources.reports.report_pairs import FEW_CLUSTERS, TOO_FEW_CLUSTERS, between
from resources.reports.report_parts import abilities, slices
from resources.reports.report_plots import Chart, chart, quadrants
from resources.reports.report_scores import (
    COMMON,
    FLOOR,
    JUDGED,
    Judged,
    MetricShown,
    Who,
    judges_of,
)
from resources.reports.report_shape import noun_of

PAIRS = """{metric}, {averaged}, on the same turns: the model of the line less that of the column,
the 95&nbsp;% interval of the difference, and p after Holm's adjustment for all pairs. Marked are
differences with p below 0.05: ▲ the model of the line is better, ▼ it is worse.{inverse}"""
INVERSE = (
    """ Differences are of the mean that the score is the inverse of: the smaller, the better."""
)
LOWER = " Lower is better."
DETECTABLE = """The smallest true difference of two models that this release would show four times of
five is {detectable}{points}, before Holm's adjustment{few}."""
FEW = "; with only {n} the true figure is larger"
NOT_DETECTABLE = "What difference this release would show cannot be worked out."
NONE_CAN_COUNT = " With {n} no difference can come below p = 0.05, however large it is."
LOOKING = """{metric}, {averaged}: each model with its images, and on the same turns without them or
with those of another {noun}. The difference has its 95&nbsp;% interval and p after Holm's adjustment
for all lines. Where it is small, the score says little about what the model sees."""
NOT_TAKEN = "its results were not taken."
FROM_BEFORE = " The scores above are from before."
UNSCORED = "It has no scores on this release."
NO_COUNTS = dict.fromkeys(
    ("n_turns", "n_judged", "n_failed", "n_refused", "n_truncated", "n_reasoning_only", "n_empty"),
    0,
)


class Entry(NamedTuple):
    """One model's line under one way of averaging; `why` says why it has no rank.

    `others` are its score under the other ways of averaging; `n_common` is of how many units `common`
    is, None if these are all.
    """

    who: Who
    rank: int | None
    ranks: str
    why: str | None
    floor: Estimate
    judged: Estimate
    common: Estimate
    n_common: int | None
    others: list[Estimate]
    coverage: str
    counts: Mapping[str, Any]


class View(NamedTuple):
    """The leaderboard under one way of averaging; `metrics` begin with the one that it is sorted by.

    `others` are that metric under the other ways of averaging; `below` stands below the table.
    """

    name: str
    metrics: list[MetricShown]
    others: list[MetricShown]
    models: list[Entry]
    ablations: list[Entry]
    baselines: list[Entry]
    charts: list[Chart]
    below: Sequence[block.Block]

    @property
    def entries(self) -> list[Entry]:
        """Models, then those without their images, then baselines."""
        return [*self.models, *self.ablations, *self.baselines]

    @property
    def ranks_baselines(self) -> bool:
        """Whether baselines are counted in the ranks."""
        return any(entry.rank is not None for entry in self.baselines)


class Pane(NamedTuple):
    """All that one judge, under one version, says; `parts` stand below its leaderboards."""

    judged: Judged
    title: str
    views: list[View]
    parts: Sequence[block.Block]

    @property
    def order(self) -> list[Who]:
        """The contestants in the order of the first leaderboard."""
        return [entry.who for view in self.views[:1] for entry in view.entries]


def panes_of(data: Board) -> list[Pane]:
    """One pane for each judge and version, the one to show first at the front."""
    judges = judges_of(data)
    versions = Counter(each.judge for each in judges)
    noun = noun_of(data["release"])
    labels = data["benchmark"]["abilities"] if data["benchmark"] else []
    panes = []
    for place, each in enumerate(judges):
        several = versions[each.judge] > 1
        order = _order(each, each.metrics[0])
        panes.append(
            Pane(
                each,
                f"{each.title} · {each.version}" if several else each.title,
                [_view(each, aggregation, noun) for aggregation in _aggregations(each.metrics)],
                [
                    *refusals(each, order),
                    *quadrants(each, order),
                    *abilities(each, order, labels, data["above"], f"abilities-{place}"),
                    *slices(each, order, labels),
                ],
            )
        )
    return panes


def side_by_side(panes: Sequence[Pane]) -> list[block.Block]:
    """The score that ranks of each model by each judge; nothing where there is one."""
    if len(panes) < 2:
        return []
    metric = panes[0].judged.metrics[0]
    # Models that only later judges have judged come after the others.
    contestants = {
        who.name: who for pane in panes for who in _order(pane.judged, pane.judged.metrics[0])
    }
    lines = []
    for name, who in contestants.items():
        cells = []
        for pane in panes:
            ranks = _ranks(pane.judged.rank(name, metric))
            cell = block.tinted(pane.judged.estimate(name, metric))
            cells.append(cell._replace(small=[f"rank {ranks}" if ranks else ""]))
        # Who is of the judge's family differs from judge to judge.
        lines.append([block.who(who._replace(tags=() if who.is_model else who.tags)), *cells])
    averaged = metric.averaged.lower()
    note = f"{metric.name}, {averaged}: the score by each judge, and the interval of the rank."
    heads = block.heads("Model", *(pane.title for pane in panes))
    return [
        block.Heading("Judges side by side", id="sides"),
        block.Note(note),
        block.Table("Judges side by side", heads, lines),
    ]


def missing(data: Board) -> list[block.Block]:
    """Models without scores, or with earlier ones, and why."""
    lines = []
    for row in data["missing"]:
        by = f" by {row['asked']}" if row["asked"] != row["model"] else ""
        n_lost = f"{row['n_lost']} of {block.count(row['n_turns'], 'turn')}"
        why = f"The last run of {row['stage']}{by} lost {n_lost} ({row['why']}): {NOT_TAKEN}"
        before = data["scores"] and row["model"] not in data["unscored"]
        lines.append((row["model"], why + (FROM_BEFORE if before else "")))
    named = {row["model"] for row in data["missing"]}
    lines += [(model, UNSCORED) for model in data["unscored"] if model not in named]
    if not lines:
        return []
    heads = [Cell(head, kind="l") for head in ("Model", "Why")]
    texts = [[Cell(text, kind="") for text in line] for line in lines]
    return [block.Heading("Missing", id="missing"), block.Table("Missing", heads, texts)]


def _aggregations(metrics: Sequence[MetricShown]) -> list[str]:
    """Ways of averaging in the order of their metrics."""
    return list(dict.fromkeys(metric.aggregation for metric in metrics))


def _view(judged: Judged, aggregation: str, noun: str) -> View:
    metrics = [metric for metric in judged.metrics if metric.aggregation == aggregation]
    leading = metrics[0]
    others = [
        metric
        for metric in judged.metrics
        if metric.name == leading.name and metric.aggregation != aggregation
    ]
    order = _order(judged, leading)
    entries = [_entry(judged, who, leading, others) for who in order]
    charts = [
        chart(metric, [(who, judged.estimate(who.name, metric)) for who in order])
        for metric in metrics
    ]
    return View(
        leading.averaged,
        metrics,
        others,
        [entry for entry in entries if entry.who.is_model],
        [entry for entry in entries if entry.who.ablation],
        [entry for entry in entries if entry.who.is_baseline],
        charts,
        [
            *_all_metrics(judged, metrics, order),
            block.Pane([block.Drawing("dots", each) for each in charts], "charts"),
            *_pairs(judged, leading, order, noun),
            *_looking(judged, leading, order, noun),
        ],
    )


def _all_metrics(
    judged: Judged, metrics: Sequence[MetricShown], order: Sequence[Who]
) -> Iterator[block.Block]:
    """The scores by each of several metrics."""
    if len(metrics) < 2:
        return
    lower = {metric: [] if metric.higher_is_better else ["lower is better"] for metric in metrics}
    lines = [
        [block.who(who), *(block.tinted(judged.estimate(who.name, each)) for each in metrics)]
        for who in order
    ]
    heads = block.heads("Model", *(Cell(each.name, lower[each]) for each in metrics))
    yield block.Heading("All metrics")
    yield block.Table(f"All metrics, {metrics[0].averaged}", heads, lines, "metrics")


def _pairs(
    judged: Judged, metric: MetricShown, order: Sequence[Who], noun: str
) -> Iterator[block.Block]:
    """Every two models by this metric; nothing where no two were compared."""
    rows = {pair: row for pair, row in _rows(judged, metric).items() if all(map(is_model, pair))}
    if not rows:
        return
    models = [who for who in order if any(who.name in pair for pair in rows)]
    inverse = INVERSE if metric.inverse else "" if metric.higher_is_better else LOWER
    lines = [
        [
            block.who(one),
            *(block.difference(between(rows, one.name, each.name, metric)) for each in models),
        ]
        for one in models
    ]
    detectable = _detectable([row["detectable"] for row in rows.values()], metric.scale)
    n_clusters = min(row["n_clusters"] for row in rows.values())
    found = NOT_DETECTABLE
    if detectable:
        points = "" if metric.inverse else " points"
        few = FEW.format(n=block.count(n_clusters, f"independent {noun}"))
        few = few if n_clusters < FEW_CLUSTERS else ""
        found = DETECTABLE.format(detectable=detectable, points=points, few=few)
    if n_clusters <= TOO_FEW_CLUSTERS:
        found += NONE_CAN_COUNT.format(n=block.count(n_clusters, noun))
    averaged = metric.averaged
    yield block.Heading("Every two models compared")
    yield block.Note(said(PAIRS, metric=metric.name, averaged=averaged.lower(), inverse=inverse))
    heads = block.by_model("Model", models)
    yield block.Table(f"Comparisons, {averaged}", heads, lines, "matrix")
    yield block.Note(found)


def _looking(
    judged: Judged, metric: MetricShown, order: Sequence[Who], noun: str
) -> Iterator[block.Block]:
    """Every model that was asked without its images, too; nothing where none was."""
    rows = _rows(judged, metric)
    lines = [
        [
            Cell(model.name, kind="who"),
            block.tinted(judged.estimate(model.name, metric)),
            Cell(without.tags[0], kind=""),
            block.tinted(judged.estimate(without.name, metric)),
            block.difference(between(rows, model.name, without.name, metric)),
        ]
        for model in order
        for without in order
        if without.ablation and model_of(without.name) == model.name
    ]
    if lines:
        name, averaged = metric.name, metric.averaged
        heads = (Cell(name), Cell("Sent instead", kind="l"), Cell(name), Cell("Difference"))
        yield block.Heading("What looking adds")
        yield block.Note(said(LOOKING, metric=name, averaged=averaged.lower(), noun=noun))
        label = f"What looking adds, {averaged}"
        yield block.Table(label, block.heads("Model", *heads), lines, "looking")


def _rows(judged: Judged, metric: MetricShown) -> dict[tuple[str, str], Row]:
    """The comparisons by this metric, by pair."""
    return {
        (row["first"], row["second"]): row
        for row in judged.comparisons
        if (row["metric"], row["aggregation"], row["form"]) == (*metric.key, FLOOR)
    }


def _detectable(effects: Sequence[float | None], scale: Scale) -> str | None:
    # Pairs that did not differ at all show nothing of how much they could.
    known = sorted(effect for effect in effects if effect)
    if not known:
        return None
    low, middle, high = (scale.shown(each) for each in (known[0], median(known), known[-1]))
    return middle if low == high else f"{middle} ({low} to {high}, by pair)"


def _order(judged: Judged, metric: MetricShown) -> list[Who]:
    """Contestants by rank, then by score; those without a score last, models before all others."""

    def key(who: Who) -> tuple[Any, ...]:
        rank = judged.rank(who.name, metric).get("rank")
        value = judged.estimate(who.name, metric).value
        better = math.inf if value is None else -value if metric.higher_is_better else value
        kind = who.is_baseline, not who.is_model
        return kind, rank is None, rank or 0, value is None, better, who.name

    return sorted(judged.contestants, key=key)


def _entry(judged: Judged, who: Who, leading: MetricShown, others: Sequence[MetricShown]) -> Entry:
    rank = judged.rank(who.name, leading)
    # Counts are of turns, whatever the metric; of another metric only where this one has no score.
    counts = judged.row(who.name, leading) or next(
        (row for (model, *_), row in judged.whole.items() if model == who.name),
        NO_COUNTS,
    )
    share = rank.get("coverage")
    if share is None and counts["n_turns"]:
        share = counts["n_judged"] / counts["n_turns"]
    return Entry(
        who,
        rank.get("rank"),
        _ranks(rank),
        rank.get("why"),
        judged.estimate(who.name, leading),
        judged.estimate(who.name, leading, JUDGED),
        judged.estimate(who.name, leading, COMMON),
        _n_common(judged, who, leading),
        [judged.estimate(who.name, metric) for metric in others],
        _percent(share),
        counts,
    )


def _n_common(judged: Judged, who: Who, metric: MetricShown) -> int | None:
    """How many units every model was judged on, where that is not all of them."""
    whole, common = (judged.row(who.name, metric, form) for form in (FLOOR, COMMON))
    if whole is None or common is None or common["n_units"] == whole["n_units"]:
        return None
    return int(common["n_units"])


def _ranks(rank: Row) -> str:
    """The interval of a rank in words: `1–3`."""
    if rank.get("rank") is None:
        return ""
    return f"{rank['rank_low']}–{rank['rank_high']}"


def _percent(share: float | None) -> str:
    """A share as percent, 100 only where nothing is lacking."""
    if share is None:
        return "–"
    return "100 %" if share >= 1 else f"{min(100 * share, 99.9):.1f} %"
