"""Tables of results as cells: leaderboard, differences of every two models, slices."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from methods.evaluation.statistics.estimates import LEAST_CLUSTERS, marked

Row = Mapping[str, Any]
NOTHING = "–"
"""Stands where there is no number, and between two numbers."""
COUNTS_BELOW = 0.05
"""A difference counts where p after Holm is below this."""


class TableCell(NamedTuple):
    """A text, or a number with its decimals."""

    text: str = ""
    number: float | None = None
    bold: bool = False


@dataclass(frozen=True)
class ResultTable:
    """A table: `numeric` says of each column whether it has numbers."""

    name: str
    release: str
    caption: str
    heads: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[TableCell, ...], ...]


class LeaderboardData(NamedTuple):
    """What one judge, under one version, says of a release: rows of sql/evaluate/board_*.sql."""

    models: Sequence[Row]
    pairs: Sequence[Row]
    slices: Sequence[Row]
    metrics: Sequence[Row] = ()

    @property
    def n_clusters(self) -> int:
        """Of how many clusters most intervals are: rows made by an earlier version have none."""
        rows = (*self.models, *self.pairs)
        return max((row["n_clusters"] or 0 for row in rows), default=0)


def boards(models: Sequence[Row], *others: Sequence[Row]) -> list[LeaderboardData]:
    """The leaderboards of a release, in the order of its models' rows."""
    return [
        LeaderboardData(*([row for row in rows if _key(row) == key] for rows in (models, *others)))
        for key in dict.fromkeys(map(_key, models))
    ]


def tables(board: LeaderboardData, number: int = 1) -> Iterator[ResultTable]:
    """Every table of a board; `number` tells those of several boards apart."""
    suffix = "" if number == 1 else f"-{number}"
    yield _leaderboard(board, f"leaderboard{suffix}")
    if board.pairs:
        yield _matrix(board, f"pairs{suffix}")
    labels = dict.fromkeys(row["subset_label"] for row in board.slices)
    for place, label in enumerate(labels, start=1):
        yield _sliced(board, label, f"slices{suffix}-{place}")


def counts(row: Row) -> bool:
    """Whether the difference of a pair counts."""
    return row["p_holm"] is not None and row["p_holm"] < COUNTS_BELOW


def best_alone(board: LeaderboardData) -> str | None:
    """The model whose score is the best and whose difference to every other one counts; None: none."""
    first = next((row["model"] for row in board.models if row["rank"] == 1), None)
    against = [row for row in board.pairs if first in (row["first"], row["second"])]
    return first if against and all(map(counts, against)) else None


def _key(row: Row) -> tuple[str, ...]:
    return row["judge"], row["judge_version"]


def _release(board: LeaderboardData) -> str:
    release: str = board.models[0]["release"]
    return release


def _about(board: LeaderboardData, metric: Row | None = None) -> str:
    """What a table is of; `metric` is a row of another metric than the one that ranks."""
    row = {**board.models[0], **(metric or {})}
    # Scores that an earlier version made do not say of how many clusters they are.
    over = (
        f", over up to {board.n_clusters} clusters; ~ marks those of fewer than {LEAST_CLUSTERS}, "
        "which are only indicative"
    )
    over = over if board.n_clusters else ""
    by = "by rule" if row["judge"] == "rule" else f"by {row['judge']} ({row['judge_version']})"
    return (
        f"{row['metric']} ({row['aggregation']}) on {row['release']} {by}: {row['n_items']} items, "
        f"{row['n_turns']} turns. Intervals are of 95 %{over}."
    )


def _leaderboard(board: LeaderboardData, name: str) -> ResultTable:
    alone = best_alone(board)
    rows = [
        (
            TableCell(
                f"{NOTHING if row['rank'] is None else row['rank']}{'*' if row['mark'] else ''}"
            ),
            TableCell("" if row["rank"] is None else f"{row['rank_low']}–{row['rank_high']}"),
            TableCell(row["model"], bold=row["model"] == alone),
            TableCell(number=row["value"], bold=row["model"] == alone),
            TableCell(_interval(row)),
            TableCell(str(row["n_clusters"] or NOTHING)),
            TableCell(number=row["judged_only"]),
            TableCell(str(row["n_judged"])),
            TableCell(str(row["n_refused"])),
            TableCell(str(row["n_truncated"] + row["n_reasoning_only"] + row["n_empty"])),
            TableCell(str(row["n_failed"])),
        )
        for row in board.models
    ]
    bold = (
        "The best model is bold where its difference to every other one counts (p after Holm "
        "below 0.05)."
    )
    marks = [f" *: {row['model']}: {row['mark']}" for row in board.models if row["mark"]]
    heads = (
        *("Rank", "Ranks", "Model", "Score", "Interval", "Clusters", "Judged only"),
        *("Judged", "Refused", "No answer", "Failed"),
    )
    numeric = tuple(head in ("Score", "Judged only") for head in heads)
    return ResultTable(
        *(name, _release(board), f"{_about(board)} {bold}{''.join(marks)}"),
        *(heads, numeric, tuple(rows)),
    )


def _matrix(board: LeaderboardData, name: str) -> ResultTable:
    compared = {(row["first"], row["second"]): row for row in board.pairs}
    named = [row["model"] for row in board.models]
    models = [model for model in named if any(model in pair for pair in compared)]

    def cell(one: str, other: str) -> TableCell:
        row, sign = compared.get((one, other)), 1
        if row is None:
            row, sign = compared.get((other, one)), -1
        if row is None or row["difference"] is None:
            return TableCell(NOTHING)
        return TableCell(number=sign * row["difference"], bold=counts(row))

    rows = [(TableCell(one), *(cell(one, other) for other in models)) for one in models]
    caption = (
        f"Differences, row less column, on the units that both have. {_about(board)} Bold where p "
        "after Holm is below 0.05."
    )
    return ResultTable(
        name, _release(board), caption, ("", *models), (False, *[True] * len(models)), tuple(rows)
    )


def _sliced(board: LeaderboardData, label: str, name: str) -> ResultTable:
    found = {
        (row["model"], row["subset_value"]): row
        for row in board.slices
        if row["subset_label"] == label
    }
    values = sorted({value for _, value in found}, key=natural)
    models = [
        row["model"] for row in board.models if any(row["model"] == model for model, _ in found)
    ]
    empty: Row = {"value": None, "ci_low": None}
    rows = [
        (
            TableCell(model),
            *(
                cell
                for value in values
                for row in [found.get((model, value), empty)]
                for cell in (TableCell(number=row["value"]), TableCell(_interval(row)))
            ),
        )
        for model in models
    ]
    clusters = {
        value: max(
            (row["n_clusters"] or 0 for (_, of), row in found.items() if of == value), default=0
        )
        for value in values
    }
    of = next(iter(found.values()))
    about = _about(board, {name: of[name] for name in ("metric", "aggregation")})
    caption = f"By {label}, with intervals over C clusters. {about}"
    return ResultTable(
        name,
        _release(board),
        caption,
        ("Model", *(head for value in values for head in (value, f"C = {clusters[value]}"))),
        (False, *[True, False] * len(values)),
        tuple(rows),
    )


def natural(text: str) -> list[tuple[int, str]]:
    """A key by which 10 comes after 9."""
    return [
        (int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", text)
    ]


def _interval(row: Row) -> str:
    if row["ci_low"] is None:
        return ""
    return marked(f"[{row['ci_low']:z.1f}, {row['ci_high']:z.1f}]", row["n_clusters"])
