"""Score differences in a report: pairwise model comparisons with p-values, and the image ablation."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from methods.evaluation.candidates import is_model, model_of
from methods.naming import number_of
from methods.release import held_out
from methods.release_card import edition_of
from methods.results.results_table import Pair, is_significant, pair_difference
from resources.reports import report_blocks as block
from resources.reports.estimate import over
from resources.reports.report_blocks import Cell, markup
from resources.reports.report_input import Row
from resources.reports.report_scores import CandidateLabel, DisplayedMetric, ScoresByJudge
from resources.reports.report_shape import noun_of
from resources.web.addresses import items_page

NOT_POSSIBLE = "more than there can be"
FEW_CLUSTERS = 60
"""From 60 clusters on, the report does not warn of unseen rare failures. A failure in 1 of 20 clusters
is missing in a sample of 60 clusters with a probability of 0.95^60 < 5%."""


class ModelDifference(NamedTuple):
    """The score of the line's model minus that of the column's, as texts.

    `verdict` is `better`, `worse`, or empty if the difference is not significant.
    """

    difference: str
    interval: str
    p: str
    verdict: str


def difference_between(
    rows: Mapping[Pair, Row], model: str, other: str, metric: DisplayedMetric
) -> ModelDifference | None:
    """Return the difference of two models from rows of comparisons in either order.

    Args:
        rows: The rows by pair.
        model: The first model.
        other: The second model.
        metric: The metric.

    Returns:
        The difference, first minus second, or None.
    """
    comparison = pair_difference(rows, model, other)
    return None if comparison is None else difference_of(comparison[0], metric, comparison[1])


def difference_of(
    row: Row, metric: DisplayedMetric, sign: int = 1, column: str = "difference"
) -> ModelDifference | None:
    """Return the difference of a row.

    Args:
        row: The row.
        metric: The metric.
        sign: -1 to reverse the difference, 1 to keep it.
        column: The column of the difference.
    """
    difference = row[column]
    if difference is None:
        return None
    scale = metric.scale
    ends = [sign * end for end in (row["ci_low"], row["ci_high"]) if end is not None]
    verdict = ""
    if is_significant(row):
        # The difference is one of means; an inverse metric rises if its mean falls.
        wanted = metric.higher_is_better != metric.inverse
        verdict = "better" if (sign * difference > 0) == wanted else "worse"
    return ModelDifference(
        scale.difference(sign * difference),
        over(" to ".join(scale.difference(end) for end in sorted(ends)), row.get("n_clusters")),
        _tested(row),
        verdict,
    )


def _tested(row: Row) -> str:
    """Format the p-value, and the p-value after Holm's adjustment if it differs."""
    alone, adjusted = in_words(row["p"]), in_words(row["p_holm"])
    same = row["p"] is None or row["p_holm"] is None or row["p"] == row["p_holm"]
    return adjusted if same else f"{alone}; Holm: {adjusted.removeprefix('p ').removeprefix('= ')}"


def in_words(p: float | None) -> str:
    """Format a p-value for a table."""
    if p is None:
        return "no test"
    return "p < 0.001" if p < 0.001 else f"p = {p:.2f}" if p >= 0.095 else f"p = {p:.3f}"


def difference_cell(difference: ModelDifference | None, *below: str, link: str = "") -> Cell:
    """Make the cell of a difference with interval and p-value; a dot without a difference.

    Args:
        difference: The difference.
        *below: Further texts in small type.
        link: The link of the cell.
    """
    if difference is None:
        return Cell("·")
    small = [difference.interval or "no interval", difference.p, *below]
    text = block.bold(difference.difference)
    if link:
        text = markup('<a href="{link}">{text}</a>', link=link, text=text)
    return Cell(text, small, f"n {difference.verdict}".strip())


def finding_cell(finding: Row | None, metric: DisplayedMetric) -> Cell:
    """Make the cell of a finding's difference.

    Args:
        finding: The row of the finding.
        metric: The metric.
    """
    return difference_cell(difference_of(finding, metric, column="value") if finding else None)


def pairs(
    judged: ScoresByJudge, metric: DisplayedMetric, order: Sequence[CandidateLabel], release: Row
) -> Iterator[block.Block]:
    """Make the table of every two models by a metric, with links to the items that explain the
    difference, unless the references are held out: then no page tells the scores of an item.

    Args:
        judged: The scores of a judge.
        metric: The metric.
        order: The order of models.
        release: The row of the release.

    Yields:
        The blocks; none without comparisons.
    """
    noun = noun_of(release)
    rows = {pair: row for pair, row in judged.pairs(metric.key).items() if all(map(is_model, pair))}
    if not rows:
        return
    models = [who for who in order if any(who.name in pair for pair in rows)]
    has_links = not held_out(edition_of(release))
    lines = [
        [
            block.who(first),
            *(
                difference_cell(
                    difference_between(rows, first.name, other.name, metric),
                    link=items_page(
                        release["release_id"],
                        a=first.name,
                        b=other.name,
                        metric=metric.name,
                        judge=judged.judge,
                    )
                    if has_links
                    else "",
                )
                for other in models
            ),
        ]
        for first in models
    ]
    n_clusters = min(row["n_clusters"] for row in rows.values())
    # For pairs without any difference the smallest detectable effect is unknown.
    effects = sorted(row["detectable"] for row in rows.values() if row["detectable"])
    shown_effects = (
        [
            metric.scale.shown(effect) if effect <= metric.scale.span else NOT_POSSIBLE
            for effect in (effects[0], median(effects), effects[-1])
        ]
        if effects
        else []
    )
    yield block.Heading("Every two models compared")
    yield block.note("pairs", metric=metric, has_links=has_links)
    heads = block.by_model("Model", models)
    yield block.Table(f"Comparisons, {metric.averaged}", heads, lines, "matrix choose")
    yield block.note(
        "detectable",
        effects=shown_effects,
        for_most=NOT_POSSIBLE in shown_effects[1:2],
        points="" if metric.inverse else " points",
        n=n_clusters,
        noun=noun,
        rarest=round(1 / (1 - 0.05 ** (1 / n_clusters))) if 1 < n_clusters < FEW_CLUSTERS else None,
    )


def image_ablation(
    judged: ScoresByJudge, metric: DisplayedMetric, order: Sequence[CandidateLabel], noun: str
) -> list[block.Block]:
    """Make the table of models that were also asked without their images; empty if none was.

    Args:
        judged: The scores of a judge.
        metric: The metric.
        order: The order of models.
        noun: The noun for items.
    """
    rows = judged.pairs(metric.key)
    lines, n_better = [], 0
    for model in order:
        for without in order:
            if without.ablation and model_of(without.name) == model.name:
                difference = difference_between(rows, model.name, without.name, metric)
                n_better += difference is not None and difference.verdict == "better"
                lines.append(
                    [
                        Cell(model.label, kind="who"),
                        block.tinted(judged.estimate(model.name, metric)),
                        Cell(without.tags[0], kind=""),
                        block.tinted(judged.estimate(without.name, metric)),
                        difference_cell(difference),
                    ]
                )
    if not lines:
        return []
    name, averaged = metric.name, metric.averaged
    heads = (Cell(name), Cell("Sent instead", kind="l"), Cell(name), Cell("Difference"))
    table = block.Table(
        f"What looking adds, {averaged}", block.heads("Model", *heads), lines, "looking"
    )
    return block.folded(
        [
            block.Heading("What looking adds"),
            block.note("looking", metric=metric, noun=noun),
            table,
        ],
        f"{n_better} of {number_of(len(lines), 'comparison')} surely better with its images",
    )
