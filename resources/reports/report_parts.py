"""Report sections on subsets of a release: slices by label, and abilities by level."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from markupsafe import Markup

from methods.evaluation.candidates import is_model
from methods.evaluation.statistics.estimates import LEAST_CLUSTERS
from methods.naming import decimal_text
from methods.results.analysis_tables import analyses
from methods.results.results_table import Pair, key_of, label_order
from methods.results.table_cells import TableCell
from resources.reports import report_blocks as block
from resources.reports.estimate import ReportEstimate
from resources.reports.report_blocks import Cell, TableSection, markup
from resources.reports.report_input import Row
from resources.reports.report_pairs import difference_between, difference_cell
from resources.reports.report_plots import multiples, radars
from resources.reports.report_scores import (
    CandidateLabel,
    DisplayedMetric,
    ScoresByJudge,
    estimate_of,
)

MOST_PAIRS = 100
"""The page lists at most this many pairs of models; the table of the stage has all."""
MOST_DRAWN, MANY_MODELS = 12, 6
"""Charts show at most this many values of a label, and this many models; the table shows all."""


class SubsetScores(NamedTuple):
    """The scores of a slice (a value of a label), in the order of the models; `n` counts its units."""

    value: str
    n: str
    scores: list[ReportEstimate]


def slices(
    judged: ScoresByJudge, order: Sequence[CandidateLabel], apart: Sequence[str]
) -> list[block.Block]:
    """Make charts and a table for each label except those in `apart`, which other sections show. They
    use the first metric that has scores for the label."""
    models = [who for who in order if who.is_model]
    labels = dict.fromkeys(row["subset_label"] for row in judged.slices)
    shown_here = [label for label in labels if label not in apart]
    if not shown_here:
        return []
    blocks: list[block.Block] = [block.Heading("Slices")]
    noted = None
    slices: dict[DisplayedMetric, dict[str, list[SubsetScores]]] = {}
    for label in shown_here:
        metric = split_metric(judged, label)
        if metric is None:
            continue
        if metric != noted:
            blocks.append(block.note("slices", metric=metric))
            noted = metric
        if metric not in slices:
            slices[metric] = slices_by_label(judged, metric, models)
        blocks += _slice(label, slices[metric][label], metric, models)
    return block.folded(blocks, f"By {', '.join(shown_here)}")


def analyses_of(judged: ScoresByJudge, anchor: str) -> list[block.Block]:
    """Make tables of groups of models, best models by ability, and models before and after training.
    `anchor` is the link target."""
    blocks: list[block.Block] = [block.Heading("Groups of models", id=anchor)]
    for table in analyses(judged):
        blocks += [
            block.Note(table.caption),
            block.Table(
                table.name,
                [
                    Cell(head, kind="l" if place == 0 else "")
                    for place, head in enumerate(table.heads)
                ],
                [[_cell(place, cell) for place, cell in enumerate(row)] for row in table.rows],
            ),
        ]
    return (
        block.folded(blocks, "Means, best models, before and after training") if blocks[1:] else []
    )


def _cell(place: int, cell: TableCell) -> Cell:
    text = cell.text if cell.number is None else decimal_text(cell.number, cell.decimals)
    return Cell(block.bold(text) if cell.bold else text, kind="n" if place else "who")


def _slice(
    label: str,
    parts: Sequence[SubsetScores],
    metric: DisplayedMetric,
    models: Sequence[CandidateLabel],
) -> Iterator[block.Block]:
    """Yield the scores by one label as charts and as a table."""
    shown_parts, drawn_models = parts[:MOST_DRAWN], models[:MANY_MODELS]
    small = [(part.value, part.n, part.scores[: len(drawn_models)]) for part in shown_parts]
    yield block.Heading(f"By {label}", 4)
    if len(shown_parts) < len(parts) or len(drawn_models) < len(models):
        yield block.note("drawn", n_parts=len(shown_parts), n_models=len(drawn_models))
    charts = multiples(metric, drawn_models, small)
    yield block.Pane([block.Drawing("dots", chart) for chart in charts], "multiples")
    table = _table(f"Slices by {label}", label, parts, models, "levels")
    yield block.FoldedBlocks("The same in numbers", [table])


def abilities(
    judged: ScoresByJudge,
    order: Sequence[CandidateLabel],
    labels: Sequence[str],
    above: Mapping[str, str],
    anchor: str,
) -> list[block.Block]:
    """Make the section on abilities by the first metric with slices; empty without any.

    Args:
        judged: The scores of a judge.
        order: The order of models.
        labels: The levels from the coarsest to the finest.
        above: The coarser ability of each finest ability.
        anchor: The id of the section for links.
    """
    label_names = ", ".join(labels)
    blocks = list(_abilities(judged, order, labels, above))
    heading = block.Heading("Abilities", id=anchor)
    return block.folded([heading, *blocks] if blocks else [], f"By {label_names}")


def _abilities(
    judged: ScoresByJudge,
    order: Sequence[CandidateLabel],
    labels: Sequence[str],
    above: Mapping[str, str],
) -> Iterator[block.Block]:
    models = [who for who in order if who.is_model]
    metric = split_metric(judged)
    by_label = slices_by_label(judged, metric, models) if metric else {}
    levels = [label for label in labels[:-1] if label in by_label]
    finest = labels[-1] if labels and labels[-1] in by_label else None
    if metric is None or not (levels or finest):
        return
    yield block.note("abilities", metric=metric)
    if levels:
        parts = by_label[levels[-1]]
        names = [part.value for part in parts]
        if chart := radars(names, models, [part.scores for part in parts], metric.scale):
            yield block.note("radars", label=levels[-1], scale=metric.scale)
            yield chart
    n = span(row["n_units"] for who in models if (row := judged.row(who.name, metric.key)))
    whole = SubsetScores("overall", n, [judged.estimate(who.name, metric) for who in models])
    for label in levels:
        yield _table(f"Abilities by {label}", label, [whole, *by_label[label]], models, "levels")
    if finest:
        groups = _grouped(by_label[finest], above)
        parts = [part for _, group in groups for part in group]
        numbers = _table(f"Slices by {finest}", finest, parts, models, "levels")
        yield block.Heading(f"Map by {finest}", 4)
        yield block.note("map", metric=metric)
        yield heat(finest, groups, models)
        yield block.FoldedBlocks("The same with decimals and intervals", [numbers])
    for label in levels:
        yield from _against(judged, metric, models, label)


def _table(
    name: str,
    label: str,
    parts: Sequence[SubsetScores],
    models: Sequence[CandidateLabel],
    style: str = "",
) -> block.Table:
    lines = [
        [
            Cell(part.value, kind="who"),
            Cell(part.n, kind="n quiet"),
            *map(block.tinted, part.scores),
        ]
        for part in parts
    ]
    return block.Table(name, block.by_model(label, models, "n"), lines, style)


def heat(
    label: str,
    groups: Sequence[tuple[str, Sequence[SubsetScores]]],
    models: Sequence[CandidateLabel],
) -> block.Table:
    """Make a heat map of scores: a line per slice, in groups.

    Args:
        label: The label.
        groups: The slices by group.
        models: The models.
    """

    def cell(who: CandidateLabel, estimate: ReportEstimate) -> Cell:
        interval = f" ({estimate.interval})" if estimate.interval else ""
        has_value = estimate.value is not None
        shown = f"{estimate.value:.0f}" if has_value else "–"
        title = f"{who.label}: {estimate.shown}{interval}" if has_value else ""
        return Cell(shown, kind="tint", title=title, shade=estimate.shade)

    def line(part: SubsetScores) -> list[Cell]:
        cells = map(cell, models, part.scores)
        return [Cell(part.value, kind="who"), Cell(part.n, kind="n quiet"), *cells]

    upright = (Cell(markup("<span>{n}</span>", n=who.label), (), "up", who.label) for who in models)
    parts = [TableSection([line(part) for part in group], above) for above, group in groups]
    return block.Table(
        f"Map by {label}", block.heads(label, "n", *upright), (), "heat", parts=parts
    )


def split_metric(judged: ScoresByJudge, label: str | None = None) -> DisplayedMetric | None:
    """Return the first metric that has scores by `label` (by any label if None); None without one."""
    split = {key_of(row) for row in judged.slices if label in (None, row["subset_label"])}
    return next((metric for metric in judged.shown_metrics if metric.key in split), None)


def slices_by_label(
    judged: ScoresByJudge, metric: DisplayedMetric, models: Sequence[CandidateLabel]
) -> dict[str, list[SubsetScores]]:
    """Return the scores of models by label.

    Args:
        judged: The scores of a judge.
        metric: The metric.
        models: The models.
    """
    rows: dict[str, list[Row]] = {}
    for row in judged.scores:
        if row["subset_label"] and key_of(row) == metric.key:
            rows.setdefault(row["subset_label"], []).append(row)
    return {label: _slices(labelled, metric, models) for label, labelled in rows.items()}


def _slices(
    rows: Sequence[Row], metric: DisplayedMetric, models: Sequence[CandidateLabel]
) -> list[SubsetScores]:
    by_value: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_value.setdefault(row["subset_value"], {})[row["model"]] = row
    parts = []
    for value in sorted(by_value, key=label_order):
        by_model = by_value[value]
        scores = [
            estimate_of(by_model[who.name], metric.scale)
            if who.name in by_model
            else ReportEstimate(scale=metric.scale)
            for who in models
        ]
        parts.append(SubsetScores(value, span(row["n_units"] for row in by_model.values()), scores))
    return parts


def span(numbers: Iterable[int]) -> str:
    """Format numbers as a range, `low–high`; as a single number if all are equal."""
    sizes = sorted(set(numbers))
    return "–".join(map(str, sizes if len(sizes) < 2 else (sizes[0], sizes[-1])))


def _grouped(
    parts: Sequence[SubsetScores], above: Mapping[str, str]
) -> list[tuple[str, list[SubsetScores]]]:
    """Group the finest abilities by coarser ability; abilities without a known one come last."""
    groups: dict[str, list[SubsetScores]] = {}
    for part in parts:
        groups.setdefault(above.get(part.value, ""), []).append(part)
    return sorted(groups.items(), key=lambda group: (not group[0], group[0]))


def _against(
    judged: ScoresByJudge, metric: DisplayedMetric, models: Sequence[CandidateLabel], label: str
) -> Iterator[block.Block]:
    """Yield pairwise comparisons by ability: significant wins of each model, and the differences."""
    by_value: dict[str, dict[Pair, Row]] = {}
    for row in judged.by_ability:
        pair = row["first"], row["second"]
        if row["subset_label"] == label and all(map(is_model, pair)):
            by_value.setdefault(row["subset_value"], {})[pair] = row
    if not by_value:
        return
    sizes = {
        value: max(row["n_units"] for row in by_pair.values())
        for value, by_pair in by_value.items()
    }
    few = {
        value
        for value, by_pair in by_value.items()
        if min(row["n_clusters"] for row in by_pair.values()) < LEAST_CLUSTERS
    }
    yield block.Heading(f"Models against each other, by {label}", 4)
    if len(few) == len(by_value):
        yield block.note("too_few_for_all")
    else:
        yield block.note("against", n_models=len(models))
        yield block.Table(
            f"Comparisons by {label}",
            block.heads("Model", *(Cell(value, [f"n = {n}"]) for value, n in sizes.items())),
            [
                [
                    block.who(first),
                    *(
                        Cell(_verdicts(None if v in few else by_pair, metric, first, models))
                        for v, by_pair in by_value.items()
                    ),
                ]
                for first in models
            ],
            "against",
        )
    pairs = list(combinations(models, 2))
    differences = block.Table(
        f"Differences by {label}",
        block.heads("First less second", *by_value),
        [
            [
                Cell(first.label, [f"less {other.label}"], "who"),
                *(
                    difference_cell(difference_between(by_pair, first.name, other.name, metric))
                    for by_pair in by_value.values()
                ),
            ]
            for first, other in pairs[:MOST_PAIRS]
        ],
        "matrix",
    )
    n_more = len(pairs) - MOST_PAIRS
    more = [block.note("more_pairs", n=n_more)]
    yield block.FoldedBlocks(
        "The differences, with their intervals", [differences, *(more if n_more > 0 else [])]
    )


def _verdicts(
    pairs: Mapping[Pair, Row] | None,
    metric: DisplayedMetric,
    model: CandidateLabel,
    models: Sequence[CandidateLabel],
) -> str:
    """Count the models that `model` is surely better and worse than; None is for too few items."""
    if pairs is None:
        return markup('<span class="quiet">too few items</span>')
    differences = (
        difference_between(pairs, model.name, other.name, metric)
        for other in models
        if other != model
    )
    verdicts = [difference.verdict for difference in differences if difference]
    return Markup(" ").join(
        markup(
            '<span class="{style}">{sign} {n}</span>',
            style=f"count {verdict}" if (n := verdicts.count(verdict)) else "quiet",
            sign=sign,
            n=n,
        )
        for sign, verdict in (("▲", "better"), ("▼", "worse"))
    )
