"""The leaderboard of a report: ranks, scores in three forms and counts, by judge and way of averaging.

What belongs here: the order of the models, and what stands in each line. The charts beside it are
`report_plots.py`.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from resources.reports import report_blocks as block
from resources.reports.estimate import Estimate
from resources.reports.report_answers import refusals
from resources.reports.report_blocks import Cell
from resources.reports.report_input import Board, Row
from resources.reports.report_pairs import Looking, Pairs, looking_of, pairs_of
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

NOT_TAKEN = "its results were not taken."
FROM_BEFORE = " The scores above are from before."
UNSCORED = "It has no scores on this release."
NO_COUNTS = dict.fromkeys(
    ("n_turns", "n_judged", "n_failed", "n_refused", "n_truncated", "n_reasoning_only", "n_empty"),
    0,
)


class Entry(NamedTuple):
    """One model's line under one way of averaging; `why` says why it has no rank.

    `others` are its score under the other ways of averaging, `parts` those of all metrics of this one;
    `n_common` is of how many units `common` is, None if these are all.
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
    parts: list[Estimate]
    coverage: str
    counts: Mapping[str, Any]


class View(NamedTuple):
    """The leaderboard under one way of averaging; `metrics` begin with the one that it is sorted by.

    `others` are that metric under the other ways of averaging.
    """

    name: str
    metrics: list[MetricShown]
    others: list[MetricShown]
    models: list[Entry]
    ablations: list[Entry]
    baselines: list[Entry]
    charts: list[Chart]
    pairs: Pairs | None
    looking: list[Looking]

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


class SideBySide(NamedTuple):
    """The score that ranks of each model by each judge: (estimate, rank in words), a line a model."""

    metric: MetricShown
    lines: list[tuple[Who, list[tuple[Estimate, str]]]]


def panes_of(data: Board) -> list[Pane]:
    """One pane for each judge and version, the one to show first at the front."""
    judges = judges_of(data)
    versions = Counter(each.judge for each in judges)
    labels = data["benchmark"]["abilities"] if data["benchmark"] else []
    panes = []
    for place, each in enumerate(judges):
        several = versions[each.judge] > 1
        order = _order(each, each.metrics[0])
        panes.append(
            Pane(
                each,
                f"{each.title} · {each.version}" if several else each.title,
                [_view(each, aggregation) for aggregation in _aggregations(each.metrics)],
                [
                    *refusals(each, order),
                    *quadrants(each, order),
                    *abilities(each, order, labels, data["above"], f"abilities-{place}"),
                    *slices(each, order, labels),
                ],
            )
        )
    return panes


def side_by_side(panes: Sequence[Pane]) -> SideBySide | None:
    """The judges beside each other; None where there is one."""
    if len(panes) < 2:
        return None
    metric = panes[0].judged.metrics[0]
    # Models that only later judges have judged come after the others.
    contestants = {
        who.name: who for pane in panes for who in _order(pane.judged, pane.judged.metrics[0])
    }
    lines = []
    for name, who in contestants.items():
        cells = [
            (pane.judged.estimate(name, metric), _ranks(pane.judged.rank(name, metric)))
            for pane in panes
        ]
        # Who is of the judge's family differs from judge to judge.
        lines.append((who._replace(tags=() if who.is_model else who.tags), cells))
    return SideBySide(metric, lines)


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


def _view(judged: Judged, aggregation: str) -> View:
    metrics = [metric for metric in judged.metrics if metric.aggregation == aggregation]
    leading = metrics[0]
    others = [
        metric
        for metric in judged.metrics
        if metric.name == leading.name and metric.aggregation != aggregation
    ]
    order = _order(judged, leading)
    entries = [_entry(judged, who, metrics, others) for who in order]
    return View(
        leading.averaged,
        metrics,
        others,
        [entry for entry in entries if entry.who.is_model],
        [entry for entry in entries if entry.who.ablation],
        [entry for entry in entries if entry.who.is_baseline],
        [
            chart(metric, [(who, judged.estimate(who.name, metric)) for who in order])
            for metric in metrics
        ],
        pairs_of(judged, leading, order),
        looking_of(judged, leading, order),
    )


def _order(judged: Judged, metric: MetricShown) -> list[Who]:
    """Contestants by rank, then by score; those without a score last, models before all others."""

    def key(who: Who) -> tuple[Any, ...]:
        rank = judged.rank(who.name, metric).get("rank")
        value = judged.estimate(who.name, metric).value
        better = math.inf if value is None else -value if metric.higher_is_better else value
        kind = who.is_baseline, not who.is_model
        return kind, rank is None, rank or 0, value is None, better, who.name

    return sorted(judged.contestants, key=key)


def _entry(
    judged: Judged, who: Who, metrics: Sequence[MetricShown], others: Sequence[MetricShown]
) -> Entry:
    leading = metrics[0]
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
        [judged.estimate(who.name, metric) for metric in metrics],
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
