"""Review by spreadsheet: a CSV file that Excel and LibreOffice open, and that comes back filled in.

A row is a text, and an item the rows that share its item_id: a dialogue has as many texts as it has
questions and answers, so columns would not do. A person writes `verdict`, `reason` and `note` in any
one row of an item, and beside each text that should read otherwise the `new_text`; `text` stays as it
is, so that what a program does to a cell by itself never counts as an edit. What belongs here: cells.
What becomes of them is `review/rounds.py`.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from methods.errors import UserError
from methods.review import QueueItem
from review.fields import fields_of, help_of
from review.rounds import Record

COLUMNS = (
    "item_id",
    "content_hash",
    "kind",
    "round",
    "look_at",
    "part",
    "text",
    "new_text",
    "verdict",
    "reason",
    "note",
)
ONCE = ("verdict", "reason", "note")
"""Columns that are filled once an item."""
NOT_TO_FILL = "(to read)"
"""Stands in `new_text` beside a text that may not be changed."""

_FORMULA = tuple("=+-@\t\r＝＋－＠")
_LIKE_A_VALUE = re.compile(
    r"(?=.{1,30}$)([^A-Za-z]*\d|(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec).*\d).*|true|false",
    re.IGNORECASE,
)
"""Numbers, dates, times, truths: what a spreadsheet writes its own way when it opens a file."""


class NotASpreadsheet(UserError):
    """The file cannot be read as a spreadsheet; the message says what to do."""


def write_csv(items: Iterable[QueueItem], round: int, out: Path) -> int:
    """Write the rows of each item; returns the number of items.

    Raises FileExistsError: the file there may be one that somebody has filled.
    """
    items = list(items)
    rows = [row for item in items for row in _rows(item, round)]
    out.parent.mkdir(parents=True, exist_ok=True)
    # Without the mark Excel takes the file for one in the machine's old encoding.
    with out.open("x", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return len(items)


def read_csv(path: Path) -> Iterator[Record]:
    """The items of a file that came back, each at the line of its first row.

    Raises NotASpreadsheet.
    """
    items: dict[tuple[str, str, str], list[tuple[int, dict[str, str]]]] = {}
    for line, row in _read_rows(path):
        key = (row["item_id"], row["content_hash"], row["round"])
        items.setdefault(key, []).append((line, row))
    for rows in items.values():
        place = f"line {rows[0][0]}"
        try:
            yield Record(place, _said(rows))
        except ValueError as error:
            yield Record(place, fault=str(error))


def guarded(text: str) -> str:
    """The text as a cell that no program computes or rewrites: an apostrophe goes before it."""
    return f"'{text}" if _needs_guard(text) else text


def restored(cell: str) -> str:
    """The text of a guarded cell, exactly; an apostrophe that somebody wrote stays."""
    return cell[1:] if cell.startswith("'") and _needs_guard(cell[1:]) else cell


def _needs_guard(text: str) -> bool:
    # Apostrophes do not count, so that what a guard was put before still needs one.
    bare = text.lstrip("'")
    return (
        bare.startswith(_FORMULA)
        or bare.strip().startswith(_FORMULA)
        or _LIKE_A_VALUE.fullmatch(bare.strip()) is not None
    )


def _rows(item: QueueItem, round: int) -> Iterator[dict[str, str]]:
    look_at = [*item.get("image_paths", item["image_ids"])]
    look_at += [f"{label}: {text}" for label, text in help_of(item)]
    for number, field in enumerate(fields_of(item["kind"], item["content"])):
        row = {
            "item_id": item["item_id"],
            "content_hash": item["content_hash"],
            "kind": item["kind"],
            "look_at": "" if number else "\n".join(look_at),
            "part": field.name,
            "text": field.text,
            "new_text": "" if field.editable else NOT_TO_FILL,
        }
        yield {key: guarded(cell) for key, cell in row.items()} | {"round": str(round)}


def _read_rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Rows by the line they begin on, every column a text."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise NotASpreadsheet(f"{path} is not UTF-8: save it as 'CSV UTF-8'.") from None
    head = text[:1000].lstrip('"').removeprefix(COLUMNS[0]).lstrip('"')
    # Where a comma is the decimal sign, Excel writes semicolons.
    separator = head[:1] if head[:1] in (";", "\t") else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        columns = next(reader, [])
        missing = [name for name in COLUMNS if name not in columns]
        if missing:
            raise NotASpreadsheet(f"{path} lacks the columns {', '.join(missing)}.")
        before = reader.line_num
        for cells in reader:
            if any(cells):
                row = dict(zip(columns, cells, strict=False))
                yield before + 1, {name: restored(row.get(name, "")) for name in COLUMNS}
            before = reader.line_num
    except csv.Error as error:
        raise NotASpreadsheet(f"{path}, line {reader.line_num}: not CSV ({error}).") from None


def _said(rows: list[tuple[int, dict[str, str]]]) -> dict[str, Any]:
    first = rows[0][1]
    said: dict[str, Any] = {key: _once(key, rows) for key in ONCE}
    said["verdict"] = (said["verdict"] or "").lower() or None
    changes: dict[str, str] = {}
    for line, row in rows:
        new = row["new_text"]
        if not new.strip() or new == NOT_TO_FILL:
            continue
        if changes.setdefault(row["part"], new) != new:
            raise ValueError(f"{row['part']} has another new_text on line {line}.")
    if not first["round"].strip().isdecimal():
        raise ValueError(f"round is 1 or 2, not {first['round'][:80]!r}.")
    return said | {
        "item_id": first["item_id"],
        "content_hash": first["content_hash"],
        "round": int(first["round"]),
        "changes": changes,
        "shown": {row["part"]: row["text"] for _, row in rows},
    }


def _once(key: str, rows: list[tuple[int, dict[str, str]]]) -> str | None:
    """What one row of the item says, or several in the same words."""
    words = list(dict.fromkeys(row[key].strip() for _, row in rows if row[key].strip()))
    if len(words) > 1:
        shown = " and ".join(repr(word[:80]) for word in words[:2])
        raise ValueError(f"conflict: {key} of one item is {shown}.")
    return words[0] if words else None
