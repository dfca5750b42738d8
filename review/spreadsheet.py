"""Offline review in a spreadsheet: export and import of a CSV file for Excel and LibreOffice.

Each row has one text. An item has several rows, since dialogues have different numbers of questions and
answers. A person fills in `verdict`, `reason` and `note` in any one row of an item, and `new_text` next
to each text to change. `text` is not edited in place, so that a cell that the spreadsheet program
rewrites by itself never counts as an edit.
"""

import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from methods.delimited import DelimitedError, Quoting, TableRow, csv_line, rows_of
from methods.errors import UserError
from methods.review import QueueItem
from methods.spreadsheet_cells import is_like_formula, mark_inner_formulas, unmark_inner_formulas
from resources.files.atomic import write_new
from resources.files.bounded import read_file
from review.import_export import Record
from review.item_texts import context_texts, item_texts

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
"""Columns that are filled in once for each item."""
NOT_TO_FILL = "(to read)"
"""The `new_text` of a text that may not be changed."""

_LIKE_A_VALUE = re.compile(
    r"(?=.{1,30}$)([^A-Za-z]*\d|(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec).*\d).*|true|false",
    re.IGNORECASE,
)
"""Numbers, dates, times and booleans, which spreadsheet programs rewrite when they open a file."""


def write_csv(items: Iterable[QueueItem], round: int, out: Path) -> None:
    """Write the rows of each item.

    Raises FileExistsError if the file exists, as it may have been filled in.
    """
    rows = (row for item in items for row in _rows(item, round))
    cells = ([row.get(name) for name in COLUMNS] for row in rows)
    lines = (csv_line(row, end="\r\n") for row in (COLUMNS, *cells))
    # Without a byte order mark Excel reads the file in the machine's legacy encoding.
    write_new(out, "".join(lines).encode("utf-8-sig"))


def read_csv(path: Path, quoting: Quoting = "checked") -> Iterator[Record]:
    """Read a filled-in file: one record per item, with the line of its first row.

    Args:
        path: The file.
        quoting: How to read quotation marks.

    Raises:
        UserError: The file is not a spreadsheet.
    """
    items: dict[tuple[str, str, str], list[tuple[int, dict[str, str]]]] = {}
    for line, row in _read_rows(path, quoting):
        key = (row["item_id"], row["content_hash"], row["round"])
        items.setdefault(key, []).append((line, row))
    for rows in items.values():
        place = f"line {rows[0][0]}"
        try:
            yield Record(place, _values(rows))
        except ValueError as error:
            yield Record(place, fault=str(error))


def guard_cell(text: str) -> str:
    """Escape a text with an apostrophe, so that no program computes or rewrites its cell.

    A formula after a semicolon or a tab is escaped, too, since some programs split cells there.
    """
    cell = mark_inner_formulas(text)
    return f"'{cell}" if _needs_guard(text) else cell


def restore_cell(cell: str) -> str:
    """Return the exact text of an escaped cell; an apostrophe of the text itself stays."""
    text = unmark_inner_formulas(cell)
    return text[1:] if text.startswith("'") and _needs_guard(text[1:]) else text


def _needs_guard(text: str) -> bool:
    # Leading apostrophes do not count, so that a guarded text still needs its guard.
    bare = text.lstrip("'").strip()
    return is_like_formula(text) or _LIKE_A_VALUE.fullmatch(bare) is not None


def _rows(item: QueueItem, round: int) -> Iterator[dict[str, str]]:
    look_at = [*item.get("image_paths", item["image_ids"])]
    look_at += [f"{label}: {text}" for label, text in context_texts(item)]
    for number, text in enumerate(item_texts(item["kind"], item["content"])):
        row = {
            "item_id": item["item_id"],
            "content_hash": item["content_hash"],
            "kind": item["kind"],
            "look_at": "" if number else "\n".join(look_at),
            "part": text.name,
            "text": text.text,
            "new_text": "" if text.editable else NOT_TO_FILL,
        }
        yield {key: guard_cell(cell) for key, cell in row.items()} | {"round": str(round)}


def _read_rows(path: Path, quoting: Quoting) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (number of its first line, cells by column) of each row."""
    try:
        text = read_file(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8: save it as 'CSV UTF-8'.") from None
    head = text[:1000].lstrip('"').removeprefix(COLUMNS[0]).lstrip('"')
    # If the locale's decimal separator is a comma, Excel separates cells by semicolons.
    separator = head[:1] if head[:1] in (";", "\t") else ","
    rows = rows_of(io.StringIO(text, newline=""), separator, quoting)
    try:
        columns = next(rows, TableRow(1, [])).cells
        missing = [name for name in COLUMNS if name not in columns]
        if missing:
            raise UserError(f"{path} lacks the columns {', '.join(missing)}.")
        for line, cells in rows:
            if any(cells):
                row = dict(zip(columns, cells, strict=False))
                yield line, {name: restore_cell(row.get(name, "")) for name in COLUMNS}
    except DelimitedError as error:
        raise UserError(f"{path} cannot be imported: {error}.") from None


def _values(rows: list[tuple[int, dict[str, str]]]) -> dict[str, Any]:
    first = rows[0][1]
    values: dict[str, Any] = {key: _once(key, rows) for key in ONCE}
    values["verdict"] = (values["verdict"] or "").lower() or None
    changes: dict[str, str] = {}
    for line, row in rows:
        new = row["new_text"]
        if not new.strip() or new == NOT_TO_FILL:
            continue
        if changes.setdefault(row["part"], new) != new:
            raise ValueError(f"{row['part']} has another new_text on line {line}.")
    if first["round"].strip() not in ("1", "2"):
        raise ValueError(f"round is 1 or 2, not {first['round'][:80]!r}.")
    return values | {
        "item_id": first["item_id"],
        "content_hash": first["content_hash"],
        "round": int(first["round"]),
        "changes": changes,
        "shown": {row["part"]: row["text"] for _, row in rows},
    }


def _once(key: str, rows: list[tuple[int, dict[str, str]]]) -> str | None:
    """Return the value of a column in an item's rows. Raises ValueError if filled-in rows differ."""
    words = list(dict.fromkeys(row[key].strip() for _, row in rows if row[key].strip()))
    if len(words) > 1:
        shown = " and ".join(repr(word[:80]) for word in words[:2])
        raise ValueError(f"conflict: {key} of one item is {shown}.")
    return words[0] if words else None
