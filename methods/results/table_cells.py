"""Cells and captions of result tables."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from methods.evaluation.statistics.estimates import LEAST_CLUSTERS, mark_indicative
from methods.naming import decimal_text
from methods.results.open_vlm import SHORT
from methods.results.results_table import JudgeResults, Row, is_significant, most_clusters

NOTHING = "–"
"""The dash for a missing number, and between two numbers."""


ABBREVIATIONS = {
    "Creativity": "C",
    "Richness": "R",
    "Visual Perception": "VP",
    "Logical Coherence": "LC",
    "Answer Accuracy": "AA",
    "Image Relationship Understanding": "IRU",
    "Overall Score": "Overall",
    **SHORT,
}
"""Abbreviations of metrics and abilities in the tables of the MMDU and MMBench papers."""


class TableCell(NamedTuple):
    """A text, or a number with its decimals."""

    text: str = ""
    number: float | None = None
    bold: bool = False
    decimals: int = 1


@dataclass(frozen=True)
class ResultTable:
    """A table. `names` is the index of the column with the names of rows."""

    name: str
    release: str
    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    names: int = 0

    @cached_property
    def numeric(self) -> tuple[bool, ...]:
        """Whether each column has numbers."""
        return tuple(
            any(row[column].number is not None for row in self.rows)
            for column in range(len(self.heads))
        )


def caption_of(results: JudgeResults, metric: Row | None = None) -> str:
    """Write the sentences of a caption on scores and their intervals.

    Args:
        results: The results of a judge.
        metric: The names of a metric and its aggregation; by default of the ranking metric. An empty
            aggregation is left out.
    """
    # Scores of earlier versions do not have the number of clusters.
    over = (
        f", over up to {results.n_clusters} clusters; ~ marks those of fewer than {LEAST_CLUSTERS}, "
        "which are only indicative"
    )
    over = over if results.n_clusters else ""
    return f"{scores_caption(results, metric)} Intervals are of 95 %{over}."


def scores_caption(results: JudgeResults, metric: Row | None = None) -> str:
    """Write the sentence of a caption on metric, release and judge.

    Args:
        results: The results of a judge.
        metric: The names of a metric and its aggregation, as in `caption_of`.
    """
    row = {**results.models[0], **(metric or {})}
    by = "by rule" if row["judge"] == "rule" else f"by {row['judge']} ({row['judge_version']})"
    name = f"{row['metric']} ({row['aggregation']})" if row["aggregation"] else row["metric"]
    return f"{name} on {row['release_id']} {by}: {row['n_items']} items, {_turns(results)}."


def short_name(name: str) -> str:
    """Return the abbreviation of a metric or ability in a benchmark's paper, or else its name."""
    return ABBREVIATIONS.get(name) or printed_name(name)


def printed_name(name: str) -> str:
    """Return the name of an ability with spaces instead of underscores."""
    return name.replace("_", " ")


def meanings_of(names: Iterable[str]) -> str:
    """Explain the abbreviations of names in a sentence after a space; empty if none is abbreviated."""
    named = [
        f"{ABBREVIATIONS[name]}: {printed_name(name)}" for name in names if name in ABBREVIATIONS
    ]
    return f" {'; '.join(named)}." if named else ""


def _turns(results: JudgeResults) -> str:
    """The number of turns that were asked. Models differ in it: passes after a miss are not asked."""
    counts = [row["n_turns"] for row in results.models]
    low, high = min(counts), max(counts)
    return f"{low} turns" if low == high else f"{low} to {high} turns of each model"


def number_cell(row: Row, name: str = "value", *, bold: bool = False) -> TableCell:
    """Make a cell with a number of a row, with the decimals of the row's metric.

    Args:
        row: The row.
        name: The column of the number.
        bold: Whether the number is bold.
    """
    return TableCell(number=row[name], bold=bold, decimals=row.get("decimals", 1))


def estimate_cells(row: Row | None) -> tuple[TableCell, TableCell]:
    """Make the cells of a number and its interval. Significant differences are bold."""
    if row is None:
        return TableCell(), TableCell()
    is_difference = row.get("p_holm") is not None
    bold = is_difference and is_significant(row)
    return number_cell(row, bold=bold), TableCell(interval_text(row))


def own_clusters_cell(row: Row) -> TableCell:
    """Make the cell with the number of clusters of a row's interval, or a dash."""
    return TableCell(str(row["n_clusters"] or NOTHING))


DIFFERENCE_HEADS = ("Difference", "Interval", "p", "p (Holm)", "C")
"""The column heads of `difference_cells`."""


def difference_cells(row: Row) -> tuple[TableCell, ...]:
    """Make the cells of a difference: value, interval, p, Holm-adjusted p and number of clusters."""
    return (
        *estimate_cells({**row, "value": row["difference"]}),
        *(TableCell(p_text(row[p])) for p in ("p", "p_holm")),
        own_clusters_cell(row),
    )


def clusters_cell(rows: Iterable[Row]) -> TableCell:
    """Make the cell with the largest number of clusters of the rows' intervals."""
    return TableCell(str(most_clusters(rows)))


def p_text(p: float | None) -> str:
    """Format a p value with three decimals, or a dash for None."""
    if p is None:
        return NOTHING
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def interval_text(row: Row) -> str:
    """Format the interval of a row in brackets, marked if it has few clusters; empty without one."""
    if row["ci_low"] is None:
        return ""
    decimals = row.get("decimals", 1)
    ends = ", ".join(decimal_text(row[end], decimals) for end in ("ci_low", "ci_high"))
    return mark_indicative(f"[{ends}]", row["n_clusters"])
