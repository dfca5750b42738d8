"""Tables of results as cells: leaderboard, differences of every two models, slices."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from methods.evaluation.statistics.estimates import LEAST_CLUSTERS, mark_indicative
from methods.results.results_table import (
    JudgeResults,
    Row,
    is_significant,
    label_order,
    pair_difference,
)

NOTHING = "–"
"""Stands where there is no number, and between two numbers."""


class TableCell(NamedTuple):
    """A text, or a number with its decimals."""

    text: str = ""
    number: float | None = None
    bold: bool = False


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


def tables(results: JudgeResults, number: int = 1) -> Iterator[ResultTable]:
    """Every table of a judge's results; `number` tells those of several judges apart."""
    suffix = "" if number == 1 else f"-{number}"
    yield _leaderboard(results, f"leaderboard{suffix}")
    if results.pairs(results.leading):
        yield _matrix(results, f"pairs{suffix}")
    labels = dict.fromkeys(row["subset_label"] for row in results.slices)
    for place, label in enumerate(labels, start=1):
        yield _sliced(results, label, f"slices{suffix}-{place}")


def best_alone(results: JudgeResults) -> str | None:
    """The model whose score is the best and whose difference to every other one counts; None: none."""
    first = next((row["model"] for row in results.models if row["rank"] == 1), None)
    against = [row for pair, row in results.pairs(results.leading).items() if first in pair]
    return first if against and all(map(is_significant, against)) else None


def _about(results: JudgeResults, metric: Row | None = None) -> str:
    """What a table is of; `metric` is a row of another metric than the one that ranks."""
    row = {**results.models[0], **(metric or {})}
    # Scores that an earlier version made do not say of how many clusters they are.
    over = (
        f", over up to {results.n_clusters} clusters; ~ marks those of fewer than {LEAST_CLUSTERS}, "
        "which are only indicative"
    )
    over = over if results.n_clusters else ""
    by = "by rule" if row["judge"] == "rule" else f"by {row['judge']} ({row['judge_version']})"
    return (
        f"{row['metric']} ({row['aggregation']}) on {row['release_id']} {by}: {row['n_items']} items, "
        f"{row['n_turns']} turns. Intervals are of 95 %{over}."
    )


def _leaderboard(results: JudgeResults, name: str) -> ResultTable:
    alone = best_alone(results)
    rows = [
        (
            TableCell(
                f"{NOTHING if row['rank'] is None else row['rank']}{'*' if row['mark'] else ''}"
            ),
            TableCell("" if row["rank"] is None else f"{row['rank_low']}–{row['rank_high']}"),
            TableCell(row["label"], bold=row["model"] == alone),
            TableCell(number=row["value"], bold=row["model"] == alone),
            TableCell(_interval(row)),
            TableCell(str(row["n_clusters"] or NOTHING)),
            TableCell(number=row["judged_only"]),
            TableCell(str(row["n_judged"])),
            TableCell(str(row["n_refused"])),
            TableCell(str(row["n_truncated"] + row["n_reasoning_only"] + row["n_empty"])),
            TableCell(str(row["n_failed"])),
        )
        for row in results.models
    ]
    bold = (
        "The best model is bold where its difference to every other one counts (p after Holm "
        "below 0.05)."
    )
    marks = [f" *: {row['label']}: {row['mark']}" for row in results.models if row["mark"]]
    heads = (
        *("Rank", "Ranks", "Model", "Score", "Interval", "Clusters", "Judged only"),
        *("Judged", "Refused", "No answer", "Failed"),
    )
    numeric = tuple(head in ("Score", "Judged only") for head in heads)
    return ResultTable(
        name,
        results.release_id,
        f"{_about(results)} {bold}{''.join(marks)}",
        heads,
        numeric,
        tuple(rows),
        heads.index("Model"),
    )


def _matrix(results: JudgeResults, name: str) -> ResultTable:
    pairs = results.pairs(results.leading)
    named = [row["model"] for row in results.models]
    models = [model for model in named if any(model in pair for pair in pairs)]

    def cell(model: str, other: str) -> TableCell:
        comparison = pair_difference(pairs, model, other)
        if comparison is None or comparison[0]["difference"] is None:
            return TableCell(NOTHING)
        row, sign = comparison
        return TableCell(number=sign * row["difference"], bold=is_significant(row))

    rows = [
        (TableCell(results.labels[one]), *(cell(one, other) for other in models)) for one in models
    ]
    caption = (
        f"Differences, row less column, on the units that both have. {_about(results)} Bold where p "
        "after Holm is below 0.05."
    )
    return ResultTable(
        name,
        results.release_id,
        caption,
        ("", *(results.labels[model] for model in models)),
        (False, *[True] * len(models)),
        tuple(rows),
    )


def _sliced(results: JudgeResults, label: str, name: str) -> ResultTable:
    row_of = {
        (row["model"], row["subset_value"]): row
        for row in results.slices
        if row["subset_label"] == label
    }
    values = sorted({value for _, value in row_of}, key=label_order)
    models = [
        row["model"] for row in results.models if any(row["model"] == model for model, _ in row_of)
    ]
    clusters = {
        value: max(
            (row["n_clusters"] or 0 for (_, of), row in row_of.items() if of == value), default=0
        )
        for value in values
    }

    def cells(model: str, value: str) -> tuple[TableCell, TableCell]:
        row = row_of.get((model, value))
        if row is None:
            return TableCell(), TableCell()
        return TableCell(number=row["value"]), TableCell(_interval(row))

    # The shorter list stands across.
    if len(values) > len(models):
        heads = (
            label,
            "C",
            *(head for model in models for head in (results.labels[model], "Interval")),
        )
        rows = [
            (
                *(TableCell(value), TableCell(str(clusters[value]))),
                *(cell for model in models for cell in cells(model, value)),
            )
            for value in values
        ]
    else:
        heads = ("Model", *(head for value in values for head in (value, f"C = {clusters[value]}")))
        rows = [
            (
                TableCell(results.labels[model]),
                *(cell for value in values for cell in cells(model, value)),
            )
            for model in models
        ]
    any_row = next(iter(row_of.values()))
    about = _about(results, {name: any_row[name] for name in ("metric", "aggregation")})
    n_columns = min(len(values), len(models))
    return ResultTable(
        name,
        results.release_id,
        f"By {label}, with intervals over C clusters. {about}",
        heads,
        (*[False] * (len(heads) - 2 * n_columns), *[True, False] * n_columns),
        tuple(rows),
    )


def _interval(row: Row) -> str:
    if row["ci_low"] is None:
        return ""
    return mark_indicative(f"[{row['ci_low']:z.1f}, {row['ci_high']:z.1f}]", row["n_clusters"])
