"""Previews for Dagster's UI: the first rows of a table, and images, as Markdown.

Most texts come from outside, so cells are escaped: none can end its table, be markup, or load an image.
"""

import base64
import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from methods.json_text import from_json
from resources.images.store import ImageStore

PREVIEW_ROWS = 6
MOST_ROWS = 40
"""Rows of a table that is shown whole, if it is not longer."""
ROWS_SIDE_BY_SIDE = 3
"""Rows that are shown if a wide table is transposed, so that each column is a line."""
MAX_CHARACTERS = 110
"""Longest text of a cell, in characters."""
MAX_READ = 10_000
"""Characters of a cell that are processed, for speed: an answer may have millions."""
MAX_WORD = 28
"""Longest word, URL or hash, in characters. Only ASCII words are cut: Chinese text wraps anywhere."""
WIDTH = 112
"""Characters that fit into a line of the UI's dialog."""
COLUMN_GAP = 2
PICTURE_WIDTH = 9
"""Width of a thumbnail, in characters."""
THUMBNAIL_SIDE = 64
MAX_THUMBNAILS = 5
HASH_SHOWN = 8

_HASH = re.compile(r"\b[0-9a-f]{20,64}\b")
_LONG_WORD = re.compile(rf"[!-~]{{{MAX_WORD + 1},}}")
_MARKUP = re.compile(r"([\\`*_\[\]~|!#])")
_UNBROKEN = re.compile(r"[!-,.-~]+")
_PICTURE = re.compile(r"!\[[^]]*\]\([^)]*\)")

Cells = dict[str, list[str]]
"""Column -> Markdown of each row."""


def preview(rows: pa.Table, images: ImageStore | None = None, n_rows: int = PREVIEW_ROWS) -> str:
    """Show the first rows as a Markdown table, with shortened, escaped texts, and thumbnails for image
    ids.

    If the table is too wide for the dialog, columns with the same value in all rows move above it, and
    empty columns are left out. If it is still too wide, it is transposed.

    Args:
        rows: The rows.
        images: The images for thumbnails; None shows their ids.
        n_rows: The number of rows to show.
    """
    shown = rows.slice(0, n_rows).to_pylist()
    cells = {
        name: [_cell(name, row[name], images) for row in shown]
        for name in rows.column_names
        if name != "vector"
    }
    if _width(cells) <= WIDTH:
        return _table(cells, rows.schema)
    same = {
        name: column[0]
        for name, column in cells.items()
        if len(shown) > 1 and len(set(column)) == 1 and len(column[0]) <= MAX_WORD
    }
    others = {name: column for name, column in cells.items() if name not in same}
    if others and _width(others) <= WIDTH:
        text = " · ".join(f"{_text(name)}: {value}" for name, value in same.items() if value)
        return f"The same in these rows: {text}\n\n{_table(others, rows.schema)}"
    return _side_by_side(cells)


def _table(cells: Cells, schema: pa.Schema) -> str:
    """Format a table with one line for each row; numbers are right-aligned."""
    kinds = [schema.field(name).type for name in cells]
    numbers = [pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds]
    rules = ["---:" if number else "---" for number in numbers]
    lines = [[_text(name) for name in cells], rules, *zip(*cells.values(), strict=True)]
    return _lines(lines)


def _side_by_side(cells: Cells) -> str:
    """Format a transposed table: one line for each column, with its values in the first rows."""
    n_rows = min(ROWS_SIDE_BY_SIDE, *(len(column) for column in cells.values()))
    head = ["column", *(f"row {n}" for n in range(1, n_rows + 1))]
    lines = [[f"**{_text(name)}**", *column[:n_rows]] for name, column in cells.items()]
    return _lines([head, ["---"] * len(head), *lines])


def _lines(rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _width(cells: Cells) -> int:
    """Estimate the width of a table in characters, if long texts are wrapped."""
    return sum(
        COLUMN_GAP + max([len(name), *(_width_of(cell) for cell in column)])
        for name, column in cells.items()
    )


def _width_of(cell: str) -> int:
    pictures = len(_PICTURE.findall(cell))
    text = html.unescape(_PICTURE.sub("", cell).replace("\\", ""))
    longest = max((len(word) for word in _UNBROKEN.findall(text)), default=0)
    # A column as narrow as its longest word would have one word per line, so MAX_WORD is the minimum.
    return max(longest, min(len(text), MAX_WORD), pictures * PICTURE_WIDTH)


def _cell(column: str, value: object, images: ImageStore | None) -> str:
    if images is not None and column == "image_id" and value:
        return _thumbnail(images, str(value))
    if images is not None and column == "image_ids" and isinstance(value, list):
        return " ".join(_thumbnail(images, image_id) for image_id in value[:MAX_THUMBNAILS])
    if isinstance(value, str) and value.startswith(("{", "[")):
        value = _parsed(value)
    text = " ".join(_plain(value)[:MAX_READ].split())
    text = _LONG_WORD.sub(lambda word: _cut_word(word[0]), text)
    if len(text) > MAX_CHARACTERS:
        text = text[: MAX_CHARACTERS - 1] + "…"
    return _text(text)


def _cut_word(word: str) -> str:
    """Shorten a long word to its distinctive part: the end of a URL, the start of other words."""
    n_characters = MAX_WORD - 1
    return f"…{word[-n_characters:]}" if "://" in word else f"{word[:n_characters]}…"


def _text(text: str) -> str:
    """Escape HTML and Markdown in a text."""
    return _MARKUP.sub(r"\\\1", html.escape(text, quote=False))


def _parsed(text: str) -> object:
    """Parse the text of a JSON column, without `image_ids`; other texts are returned unchanged."""
    try:
        value = from_json(text)
    except ValueError:
        return text
    if isinstance(value, dict):
        return {name: field for name, field in value.items() if name != "image_ids"}
    return value


def _plain(value: Any) -> str:
    """Format a value for people: lists and records as text, numbers rounded, hashes shortened."""
    match value:
        case None:
            return ""
        case float():
            return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"
        case Mapping():
            return " / ".join(_plain(part) for part in value.values())
        case list():
            return " · ".join(_plain(part) for part in value)
        case (key, inner):
            return f"{key}: {_plain(inner)}"
        case _:
            return _HASH.sub(lambda match: match[0][:HASH_SHOWN] + "…", str(value))


def _thumbnail(images: ImageStore, image_id: str) -> str:
    encoded = base64.b64encode(images.thumbnail(image_id, THUMBNAIL_SIDE)).decode()
    return f"![{image_id[:HASH_SHOWN]}](data:image/jpeg;base64,{encoded})"
