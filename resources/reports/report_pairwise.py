"""The report section on pairwise comparison of answers: ratings, win rates, position and style bias."""

from collections.abc import Callable, Iterator, Sequence

from methods.naming import decimal_text
from resources.reports import report_blocks as block
from resources.reports.estimate import ReportEstimate, Scale
from resources.reports.report_blocks import Cell
from resources.reports.report_input import Pairwise, Row

FLOOR, JUDGED, FIRST_PLACE = "floor", "judged", "first_place"
_POINTS = Scale(None, None)
_SHARE = Scale(0.0, 1.0)
_NO_VERDICT = "not_judged"
_IN_WORDS = {
    "words": "length in words",
    "headers": "headers",
    "lists": "items of lists",
    "bold": "bold passages",
}
OF_PLACE = "share of wins of the answer that stood first; 0.5 is no preference"
OF_STYLE = "logits for one standard deviation more than the other answer; 0 is no preference"


def pairwise(data: Pairwise, noun: str) -> block.Section:
    """Make a pane for each judge and version of pairwise comparison.

    Args:
        data: The data.
        noun: The noun for items.
    """
    panes = [block.Pane(list(_pane(data, design, noun))) for design in data["designs"]]
    title = "Answers compared"
    return block.Section("pairwise", title, title, panes, finding=_finding(data))


def _finding(data: Pairwise) -> str:
    """Name the model that is first by the first judge, in one line."""
    first = next(
        (row for row in data["ratings"] if row["form"] == FLOOR and row["rank"] == 1), None
    )
    if first is None:
        return "No model has a rank"
    return f"{first['model']} is first before {first['judge']}, rating {_whole(first['rating'])}"


def _pane(data: Pairwise, design: Row, noun: str) -> Iterator[block.Block]:
    def own(rows: Sequence[Row]) -> Iterator[Row]:
        keys = ("judge", "judge_version")
        return (row for row in rows if all(row[key] == design[key] for key in keys))

    ratings = list(own(data["ratings"]))
    judged = {row["model"]: row for row in ratings if row["form"] == JUDGED}
    ranked = sorted(
        (row for row in ratings if row["form"] == FLOOR),
        key=lambda row: (row["part"], row["rank"] is None, row["rank"] or 0, row["model"]),
    )
    counts = {row["status"]: row["n"] for row in own(data["counts"])}
    n_lost = counts.get(_NO_VERDICT, 0)
    n_unanswered = sum(n for status, n in counts.items() if status.startswith("no_answer"))
    n_parts = len({row["part"] for row in ranked if row["n"]})
    judge = design["judge"]
    yield block.note("pair_design", design=design, n_lost=n_lost, n_unanswered=n_unanswered)
    smoothed = any(row["smoothed"] for row in ranked)
    yield block.note("ratings", noun=noun, smoothed=smoothed, n_parts=n_parts)
    heads = [
        *map(Cell, ["Part"] if n_parts > 1 else []),
        *map(Cell, ("Rank", "Rating", "Verdicts alone", "At equal style")),
        Cell("Won", ["a tie half"]),
        Cell("Ties"),
        Cell("n"),
    ]
    lines = [_line(row, judged[row["model"]], n_parts > 1) for row in ranked]
    yield block.Table(f"Ratings by {judge}", block.heads("Model", *heads), lines, "looking")

    met = {(row["model"], row["opponent"]): row["share"] for row in own(data["shares"])}
    models = [row["model"] for row in ranked]
    yield block.Heading("Share of wins of the line against the column")
    yield block.Table(
        f"Wins by {judge}",
        block.heads("Model", *map(block.clamped, models)),
        [[block.model(one), *(_wins(met.get((one, other))) for other in models)] for one in models],
        "looking",
    )
    biases = sorted(own(data["biases"]), key=lambda row: row["bias"] != FIRST_PLACE)
    columns = [*block.heads("Beside the content", "Value"), Cell("Read as", kind="l")]
    yield block.Heading("What the judge prefers")
    yield block.Table(f"What {judge} prefers", columns, list(map(_bias, biases)), "looking")


def _line(row: Row, judged: Row, in_parts: bool) -> list[Cell]:
    """Make a model's line: rank, ranking rating, rating by verdicts alone, style-controlled rating."""
    rank = "–"
    if row["rank"] is not None:
        low, high = row["rank_low"], row["rank_high"]
        rank = f"{row['rank']}" if low == high else f"{row['rank']} ({low} to {high})"
    controlled = _interval(judged, _whole, "controlled_")
    return [
        block.model(row["model"], [row["reason"]] if row["reason"] else []),
        *([Cell(str(row["part"] + 1), kind="n quiet")] if in_parts else []),
        Cell(rank),
        Cell(block.bold(_whole(row["rating"])), [_interval(row, _whole)]),
        Cell(_whole(judged["rating"])),
        Cell(_whole(judged["controlled_rating"]), [controlled]),
        Cell(_SHARE.shown(row["win_share"])),
        Cell(_SHARE.shown(row["tie_share"])),
        Cell(str(row["n"]), kind="n quiet"),
    ]


def _wins(share: float | None) -> Cell:
    """Make the cell of a share of wins; a dot if the two models were never compared."""
    if share is None:
        return Cell("·", kind="n quiet")
    return block.tinted(ReportEstimate(share, scale=_SHARE))


def _bias(row: Row) -> list[Cell]:
    """Make the line of a judge's position or style bias with its interval, or why it has no value."""
    of_place = row["bias"] == FIRST_PLACE
    return [
        Cell("the first place" if of_place else _IN_WORDS[row["bias"]], kind="who"),
        Cell(_POINTS.shown(row["value"]), [_interval(row, _POINTS.shown)]),
        Cell(row["reason"] or (OF_PLACE if of_place else OF_STYLE), kind=""),
    ]


def _whole(value: float | None) -> str:
    return "–" if value is None else decimal_text(value, 0)


def _interval(row: Row, shown: Callable[[float], str], prefix: str = "") -> str:
    low, high = row[f"{prefix}ci_low"], row[f"{prefix}ci_high"]
    return "" if low is None else f"{shown(low)} to {shown(high)}"
