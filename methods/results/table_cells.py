"""Cells and captions of tables of results."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from methods.evaluation.statistics.estimates import LEAST_CLUSTERS, mark_indicative
from methods.naming import decimal_text
from methods.results.open_vlm import SHORT
from methods.results.results_table import JudgeResults, Row, is_significant, most_clusters

NOTHING = "–"
"""Stands where there is no number, and between two numbers."""


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
"""Names of metrics and abilities as the tables of MMDU's and MMBench's papers have them."""


class TableCell(NamedTuple):
    """A text, or a number with its decimals."""

    text: str = ""
    number: float | None = None
    bold: bool = False
    decimals: int = 1


@dataclass(frozen=True)
class ResultTable:
    """A table: `numeric` says of each column whether it has numbers, `names` is that of its rows."""

    name: str
    release: str
    caption: str
    heads: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    names: int = 0


def caption_of(results: JudgeResults, metric: Row | None = None) -> str:
    """The sentences of a caption on scores and their intervals.

    Args:
        results: The results of a judge.
        metric: The names of a metric and its aggregation; by default of the metric that ranks. An empty
            aggregation is left out.

    Returns:
        The sentences.
    """
    # Scores that an earlier version made do not say of how many clusters they are.
    over = (
        f", over up to {results.n_clusters} clusters; ~ marks those of fewer than {LEAST_CLUSTERS}, "
        "which are only indicative"
    )
    over = over if results.n_clusters else ""
    return f"{scores_caption(results, metric)} Intervals are of 95 %{over}."


def scores_caption(results: JudgeResults, metric: Row | None = None) -> str:
    """The sentence of a caption on metric, release and judge.

    Args:
        results: The results of a judge.
        metric: As for `caption_of`.

    Returns:
        The sentence.
    """
    row = {**results.models[0], **(metric or {})}
    by = "by rule" if row["judge"] == "rule" else f"by {row['judge']} ({row['judge_version']})"
    name = f"{row['metric']} ({row['aggregation']})" if row["aggregation"] else row["metric"]
    return f"{name} on {row['release_id']} {by}: {row['n_items']} items, {_turns(results)}."


def short_name(name: str) -> str:
    """The abbreviation that a benchmark's paper has for a metric or an ability, or else the name."""
    return ABBREVIATIONS.get(name) or printed_name(name)


def printed_name(name: str) -> str:
    """The name of an ability as a paper prints it."""
    return name.replace("_", " ")


def meanings_of(names: Iterable[str]) -> str:
    """What abbreviations of these names stand for, as a sentence after a space; empty without any."""
    named = [
        f"{ABBREVIATIONS[name]}: {printed_name(name)}" for name in names if name in ABBREVIATIONS
    ]
    return f" {'; '.join(named)}." if named else ""


def _turns(results: JudgeResults) -> str:
    """How many turns the models were asked: passes that follow a miss are not."""
    counts = [row["n_turns"] for row in results.models]
    low, high = min(counts), max(counts)
    return f"{low} turns" if low == high else f"{low} to {high} turns of each model"


def number_cell(row: Row, name: str = "value", *, bold: bool = False) -> TableCell:
    """A cell with a number of a row, in the decimals of the row's metric.

    Args:
        row: The row.
        name: The column of the number.
        bold: Whether it is bold.

    Returns:
        The cell.
    """
    return TableCell(number=row[name], bold=bold, decimals=row.get("decimals", 1))


def estimate_cells(row: Row | None) -> tuple[TableCell, TableCell]:
    """A number and its interval; a difference is bold where it counts."""
    if row is None:
        return TableCell(), TableCell()
    is_difference = row.get("p_holm") is not None
    bold = is_difference and is_significant(row)
    return number_cell(row, bold=bold), TableCell(interval_text(row))


def own_clusters_cell(row: Row) -> TableCell:
    """The number of clusters that the interval of a row is over, or a dash."""
    return TableCell(str(row["n_clusters"] or NOTHING))


DIFFERENCE_HEADS = ("Difference", "Interval", "p", "p (Holm)", "C")
"""The heads of `difference_cells`, of which the first is numeric."""


def difference_cells(row: Row) -> tuple[TableCell, ...]:
    """A difference with its interval, p, p after Holm's adjustment and number of clusters."""
    return (
        *estimate_cells({**row, "value": row["difference"]}),
        *(TableCell(p_text(row[p])) for p in ("p", "p_holm")),
        own_clusters_cell(row),
    )


def clusters_cell(rows: Iterable[Row]) -> TableCell:
    """The most clusters that an interval of the rows is over."""
    return TableCell(str(most_clusters(rows)))


def p_text(p: float | None) -> str:
    """A p with three decimals, or a dash."""
    if p is None:
        return NOTHING
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def interval_text(row: Row) -> str:
    """The interval of a row in brackets, marked if it is of few clusters; empty without one."""
    if row["ci_low"] is None:
        return ""
    decimals = row.get("decimals", 1)
    ends = ", ".join(decimal_text(row[end], decimals) for end in ("ci_low", "ci_high"))
    return mark_indicative(f"[{ends}]", row["n_clusters"])
