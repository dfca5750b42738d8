"""The leaderboard of a report: ranks, scores with intervals and counts, by judge and aggregation.

A score has several forms (`FORMS`), which differ in how they treat missing judgments.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from methods.evaluation.constant_scores import constant_scores_sentence
from methods.naming import number_of
from methods.results.methods_paragraph import methods_paragraph
from methods.results.results_table import ALL_ITEMS, COMMON, FLOOR, JUDGED, MetricKey
from resources.reports import report_blocks as block
from resources.reports.estimate import ReportEstimate
from resources.reports.page import sentences
from resources.reports.report_answers import refusals
from resources.reports.report_blocks import Cell, markup
from resources.reports.report_input import LeaderboardInput, Report, Row
from resources.reports.report_pairs import image_ablation, pairs
from resources.reports.report_parts import abilities, analyses_of, slices
from resources.reports.report_plots import Chart, chart, quadrants
from resources.reports.report_scores import (
    PANEL,
    RULE,
    CandidateLabel,
    DisplayedMetric,
    ScoresByJudge,
    judges_of,
)
from resources.reports.report_shape import noun_of

SCORED_BY = {RULE: "Scored by rule", PANEL: "Panel of judges"}
FORMS = {
    FLOOR: "Failures at the floor",
    JUDGED: "Judged only",
    COMMON: "Common",
    ALL_ITEMS: "Lost pictures at the floor",
}
PICTURES_LOST = "With what was not asked for want of its picture at the floor"
JUDGED_SHARE = """Turns with a judgment / turns of the release. Below: the share of what the metric
needs that was judged; a mean or difference of several scores has that of the least judged one."""
NO_ANSWER = "Replies that are not answers: cut off by the token limit, reasoning only, empty"
NOT_TAKEN = "its results were not taken."
FROM_BEFORE = " The scores above are from before."
UNSCORED = "It has no scores on this release."
NO_COUNTS = dict.fromkeys(
    ("n_turns", "n_judged", "n_failed", "n_refused", "n_truncated", "n_reasoning_only", "n_empty"),
    0,
)


class LeaderboardRow(NamedTuple):
    """One model's line of the leaderboard for one aggregation; `why` says why it has no rank.

    `mark` is a remark on its rank. `all_items` has no value if no image of the release is missing.
    """

    who: CandidateLabel
    rank: int | None
    ranks: str
    why: str | None
    mark: str | None
    floor: ReportEstimate
    all_items: ReportEstimate


class LeaderboardView(NamedTuple):
    """The leaderboard for one aggregation; it is sorted by the first of `metrics`.

    `others` are the other aggregations of that metric; `below` are the blocks below the table.
    """

    name: str
    metrics: list[DisplayedMetric]
    others: list[DisplayedMetric]
    models: list[LeaderboardRow]
    ablations: list[LeaderboardRow]
    baselines: list[LeaderboardRow]
    charts: list[Chart]
    below: Sequence[block.Block]

    @property
    def entries(self) -> list[LeaderboardRow]:
        """Models, then models asked without their images, then baselines."""
        return [*self.models, *self.ablations, *self.baselines]

    @property
    def has_lost(self) -> bool:
        """Whether images of the release are missing."""
        return any(entry.all_items.value is not None for entry in self.entries)


class JudgePane(NamedTuple):
    """The results of one version of one judge; `parts` are the blocks below its leaderboards."""

    judged: ScoresByJudge
    title: str
    views: list[LeaderboardView]
    parts: Sequence[block.Block]

    @property
    def order(self) -> list[CandidateLabel]:
        """The candidates in the order of the first leaderboard."""
        return [entry.who for view in self.views[:1] for entry in view.entries]


def panes_of(data: LeaderboardInput) -> list[JudgePane]:
    """Make one pane for each judge and version; the page shows the first one."""
    judges = judges_of(data)
    versions = Counter(judged.judge for judged in judges)
    labels = data["benchmark"]["abilities"] if data["benchmark"] else []
    panes = []
    for place, judged in enumerate(judges):
        several = versions[judged.judge] > 1
        order = _order(judged, judged.shown_metrics[0])
        aggregations = dict.fromkeys(metric.aggregation for metric in judged.shown_metrics)
        panes.append(
            JudgePane(
                judged,
                f"{judged.title} · {judged.version}" if several else judged.title,
                [
                    _view(judged, aggregation, data["release"], f"form-{place}-{n}")
                    for n, aggregation in enumerate(aggregations)
                ],
                [
                    *refusals(judged, order),
                    *quadrants(judged, order),
                    *abilities(judged, order, labels, data["above"], f"abilities-{place}"),
                    *slices(judged, order, labels),
                    *analyses_of(judged, f"groups-{place}"),
                ],
            )
        )
    return panes


def leaderboard(data: Report, panes: Sequence[JudgePane]) -> block.Section:
    """Make the section: leaderboards by judge, model settings, judges side by side, missing models."""
    metrics = data["benchmark"]["metrics"] if data["benchmark"] else []
    averages = {MetricKey(row["name"], row["aggregation"]): row["in_words"] for row in metrics}
    titled = []
    for n, pane in enumerate(panes):
        views = [
            (view.name, [*_board(pane.judged, view, data["release"]), *view.below])
            for view in pane.views
        ]
        by = SCORED_BY.get(pane.judged.judge, f"Judge {pane.judged.judge}")
        version = block.note("judge_version", by=by, version=pane.judged.version)
        averaged = block.Panes(f"by-{n}", "Averaged", views)
        constant = [
            block.Note(constant_scores_sentence(row))
            for row in data["constant_judges"]
            if (row["judge"], row["judge_version"]) == (pane.judged.judge, pane.judged.version)
        ]
        how = methods_paragraph(
            pane.judged, data["release"], data["version"], data["calls"], averages
        )
        methods = block.FoldedBlocks("How these scores were made", [block.Note(how)])
        titled.append((pane.title, [version, *constant, averaged, methods, *pane.parts]))
    judges = [block.Panes("judge", "Judge", titled)] if titled else []
    blocks = [*judges, *how_asked(data), *side_by_side(panes), *missing(data)]
    # Without scores the contents do not list the section.
    title = "Leaderboard" if panes else ""
    return block.Section("leaderboard", title, "Leaderboard", blocks)


def _board(judged: ScoresByJudge, view: LeaderboardView, release: Row) -> Iterator[block.Block]:
    """Yield the leaderboard table: models, models asked without their images, and baselines."""
    metric, noun = view.metrics[0], noun_of(release)
    yield block.note("leaderboard", metric=metric, noun=noun)
    ranked = any(entry.rank is not None for entry in view.baselines)
    apart = (
        (view.ablations, sentences("ablations", noun=noun)),
        (view.baselines, sentences("baselines", ranked=ranked)),
    )
    heads = [
        Cell("Rank"),
        Cell("Model", kind="l who"),
        Cell(metric.name),
        Cell(markup("Judged<br>only"), title="Without the turns that have no judgment"),
        Cell("Common", title="Only what every model was judged on"),
        *([Cell(markup("Pictures<br>lost"), title=PICTURES_LOST)] if view.has_lost else []),
        *(Cell(other.averaged) for other in view.others),
        Cell("Judged", title=JUDGED_SHARE),
        Cell(markup("No<br>answer"), title=NO_ANSWER),
        Cell("Failed"),
        Cell("Refused"),
    ]
    parts = [
        block.TableSection([_line(judged, view, entry) for entry in entries], above, "baselines")
        for entries, above in apart
        if entries
    ]
    lines = [_line(judged, view, entry) for entry in view.models]
    yield block.Table(f"Leaderboard, {view.name}", heads, lines, "board", parts=parts)


def _line(judged: ScoresByJudge, view: LeaderboardView, entry: LeaderboardRow) -> list[Cell]:
    metric, name, floor = view.metrics[0], entry.who.name, entry.floor
    row = judged.row(name, metric.key)
    # Counts are of turns, so any metric has them: use another one if this metric has no score.
    counts = row or next(
        (row for (model, *_), row in judged.whole.items() if model == name), NO_COUNTS
    )
    cut, reasoning, empty = (counts[f"n_{n}"] for n in ("truncated", "reasoning_only", "empty"))
    without = f"{cut} cut off, {reasoning} reasoning only, {empty} empty"
    no_interval = "not scored" if floor.value is None else "no interval"
    n_common = _n_common(judged, entry.who, metric)
    common = [] if n_common is None else [f"n = {n_common}"]
    return [
        Cell(
            f"{entry.rank or '–'}{'*' if entry.mark else ''}", [entry.ranks] if entry.rank else []
        ),
        block.who(
            entry.who,
            [
                *([f"No rank: {entry.why}"] if entry.why else []),
                *([entry.mark] if entry.mark else []),
            ],
        ),
        Cell(
            markup('<span class="big">{of}</span>', of=floor.shown), [floor.interval or no_interval]
        ),
        _with_interval(judged.estimate(name, metric, JUDGED)),
        _with_interval(judged.estimate(name, metric, COMMON))._replace(small=common),
        *([_with_interval(entry.all_items)] if view.has_lost else []),
        *(_with_interval(judged.estimate(name, other)) for other in view.others),
        Cell(f"{counts['n_judged']}/{counts['n_turns']}", [_judged_share(row, counts)]),
        _lost(cut + reasoning + empty)._replace(title=without),
        *(_lost(counts[name]) for name in ("n_failed", "n_refused")),
    ]


def _judged_share(row: Row | None, counts: Row) -> str:
    """Format the judged share of the metric's units; say "units" if it is not that of the turns."""
    turns = _percent(counts["n_judged"] / counts["n_turns"] if counts["n_turns"] else None)
    coverage = row["coverage"] if row else None
    units = turns if coverage is None else _percent(coverage)
    return units if units == turns else f"{units} of the units of the score"


def _with_interval(estimate: ReportEstimate) -> Cell:
    return Cell(estimate.shown, title=f"95 % interval {estimate.interval or '–'}")


def _lost(n: int) -> Cell:
    return Cell(str(n), kind="n lossy" if n else "n")


def side_by_side(panes: Sequence[JudgePane]) -> list[block.Block]:
    """Make the table of each model's ranking score by each judge; empty with fewer than two judges."""
    if len(panes) < 2:
        return []
    metric = panes[0].judged.shown_metrics[0]
    # Models that only later judges have judged come after the others.
    candidates = {
        who.name: who for pane in panes for who in _order(pane.judged, pane.judged.shown_metrics[0])
    }
    lines = []
    for name, who in candidates.items():
        cells = []
        for pane in panes:
            ranks = _ranks(pane.judged.row(name, metric.key))
            cell = block.tinted(pane.judged.estimate(name, metric))
            cells.append(cell._replace(small=[f"rank {ranks}" if ranks else ""]))
        # A tag may say that a model is of the judge's family, which differs from judge to judge.
        lines.append([block.who(who._replace(tags=() if who.is_model else who.tags)), *cells])
    heads = block.heads("Model", *(pane.title for pane in panes))
    return [
        block.Heading("Judges side by side", id="sides"),
        block.note("side_by_side", metric=metric),
        block.Table("Judges side by side", heads, lines),
    ]


def how_asked(data: LeaderboardInput) -> list[block.Block]:
    """Make the table of each model's request settings; empty if no model has settings."""
    settings = {row["label"]: dict(row["settings"]) for row in data["scores"] if row["settings"]}
    if not settings:
        return []
    names = dict.fromkeys(name for of_model in settings.values() for name in of_model)
    lines = [
        [
            Cell(name, kind="who"),
            *(Cell(of_model.get(name, "–"), kind="said") for of_model in settings.values()),
        ]
        for name in names
    ]
    heads = block.heads("Setting", *(Cell(label, kind="l") for label in settings))
    return [
        block.FoldedBlocks(
            "How each model was asked", [block.Table("How each model was asked", heads, lines)]
        )
    ]


def missing(data: LeaderboardInput) -> list[block.Block]:
    """Make the table of models without scores or with scores of an earlier run, with the reasons."""
    lines = []
    for row in data["missing"]:
        by = f" by {row['asked']}" if row["asked"] != row["model"] else ""
        n_lost = f"{row['n_lost']} of {number_of(row['n_turns'], 'turn')}"
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


def _view(judged: ScoresByJudge, aggregation: str, release: Row, name: str) -> LeaderboardView:
    metrics = [metric for metric in judged.shown_metrics if metric.aggregation == aggregation]
    leading = metrics[0]
    others = [
        metric
        for metric in judged.shown_metrics
        if metric.name == leading.name and metric.aggregation != aggregation
    ]
    order = _order(judged, leading)
    entries = [_entry(judged, who, leading) for who in order]
    of_forms = {form for *_, form in judged.whole}
    forms = [
        (title, form, _charts(judged, metrics, order, form))
        for form, title in FORMS.items()
        # The leaderboard itself shows the other forms if there is a single metric.
        if form == FLOOR or (len(metrics) > 1 and form in of_forms)
    ]
    return LeaderboardView(
        leading.averaged,
        metrics,
        others,
        [entry for entry in entries if entry.who.is_model],
        [entry for entry in entries if entry.who.ablation],
        [entry for entry in entries if entry.who.is_baseline],
        forms[0][-1],
        [
            *([block.Heading("All metrics")] if len(metrics) > 1 else []),
            block.Panes(
                name,
                "Form",
                [
                    (
                        title,
                        [
                            *_all_metrics(judged, metrics, order, form),
                            block.Pane([block.Drawing("dots", of) for of in charts], "charts"),
                        ],
                    )
                    for title, form, charts in forms
                ],
            ),
            *pairs(judged, leading, order, release),
            *image_ablation(judged, leading, order, noun_of(release)),
        ],
    )


def _charts(
    judged: ScoresByJudge,
    metrics: Sequence[DisplayedMetric],
    order: Sequence[CandidateLabel],
    form: str,
) -> list[Chart]:
    """Make a chart of the scores of a form for each metric."""
    return [
        chart(metric, [(who, judged.estimate(who.name, metric, form)) for who in order])
        for metric in metrics
    ]


def _all_metrics(
    judged: ScoresByJudge,
    metrics: Sequence[DisplayedMetric],
    order: Sequence[CandidateLabel],
    form: str,
) -> Iterator[block.Block]:
    """Yield the table of the scores of a form by metric; nothing for a single metric."""
    if len(metrics) < 2:
        return
    lower = {metric: [] if metric.higher_is_better else ["lower is better"] for metric in metrics}
    lines = [
        [
            block.who(who),
            *(block.tinted(judged.estimate(who.name, metric, form)) for metric in metrics),
        ]
        for who in order
    ]
    heads = block.heads("Model", *(Cell(metric.name, lower[metric]) for metric in metrics))
    label = f"All metrics, {metrics[0].averaged}, {FORMS[form].lower()}"
    yield block.Table(label, heads, lines, "metrics")


def _order(judged: ScoresByJudge, metric: DisplayedMetric) -> list[CandidateLabel]:
    """Sort candidates: models, ablations, baselines; then by rank, score, and without a score."""

    def key(who: CandidateLabel) -> tuple[Any, ...]:
        row = judged.row(who.name, metric.key)
        rank = row["rank"] if row else None
        value = judged.estimate(who.name, metric).value
        better = math.inf if value is None else -value if metric.higher_is_better else value
        kind = who.is_baseline, not who.is_model
        return kind, rank is None, rank or 0, value is None, better, who.name

    return sorted(judged.candidates, key=key)


def _entry(judged: ScoresByJudge, who: CandidateLabel, leading: DisplayedMetric) -> LeaderboardRow:
    row = judged.row(who.name, leading.key)
    return LeaderboardRow(
        who,
        row["rank"] if row else None,
        _ranks(row),
        row["why"] if row else None,
        row["mark"] if row else None,
        judged.estimate(who.name, leading),
        judged.estimate(who.name, leading, ALL_ITEMS),
    )


def _n_common(judged: ScoresByJudge, who: CandidateLabel, metric: DisplayedMetric) -> int | None:
    """Return the number of units on which every model was judged; None if these are all units."""
    whole, common = (judged.row(who.name, metric.key, form) for form in (FLOOR, COMMON))
    if whole is None or common is None or common["n_units"] == whole["n_units"]:
        return None
    return int(common["n_units"])


def _ranks(row: Row | None) -> str:
    """Format the interval of a rank: `1–3`; empty without a rank."""
    if row is None or row["rank"] is None:
        return ""
    return f"{row['rank_low']}–{row['rank_high']}"


def _percent(share: float | None) -> str:
    """Format a share as percent; it is 100 % only for a share of exactly 1."""
    if share is None:
        return "–"
    return "100 %" if share >= 1 else f"{min(100 * share, 99.9):.1f} %"
