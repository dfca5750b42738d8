"""Offline review in a JSON Lines file with one line per item.

A person fills in `verdict` (accept, edit, reject, skip), with `edits` (the complete new content) or a
`reason`. An item whose keys stay empty remains open.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from methods.json_text import from_json
from methods.review import QueueItem
from resources.files.atomic import write_new
from resources.files.bounded import open_file
from review.import_export import Record

LINE_KEYS_TO_FILL = ("verdict", "edits", "reason", "note")


def write_jsonl(items: Iterable[QueueItem], round: int, out: Path) -> None:
    """Write items as JSON Lines, one item per line.

    Raises FileExistsError if the file exists, as it may have been filled in.
    """
    lines = (json.dumps(_line(item, round), ensure_ascii=False) for item in items)
    write_new(out, "".join(line + "\n" for line in lines).encode())


def read_jsonl(path: Path) -> Iterator[Record]:
    """Read the records of a filled-in file, one per line; a line without a JSON object is a fault."""
    with open_file(path) as file:
        for number, raw in enumerate(file, start=1):
            if raw.strip():
                yield _record(f"line {number}", raw)


def _line(item: QueueItem, round: int) -> dict[str, Any]:
    """Make an exported line: the content, context that helps to decide, and the keys to fill in."""
    context: dict[str, Any] = {
        key: item[key] for key in ("image_paths", "page_urls", "context") if key in item
    }
    return {
        "item_id": item["item_id"],
        "content_hash": item["content_hash"],
        "kind": item["kind"],
        "round": round,
        "image_ids": item["image_ids"],
        **context,
        "content": item["content"],
        **dict.fromkeys(LINE_KEYS_TO_FILL),
    }


def _record(place: str, raw: bytes) -> Record:
    # Editors on Windows write a byte order mark at the beginning of the file.
    try:
        values = from_json(raw.decode("utf-8-sig"))
    except ValueError as error:
        return Record(place, fault=f"not JSON ({error}).")
    if type(values) is not dict:
        return Record(place, fault="not a JSON object.")
    # Only records of spreadsheets and Label Studio may have these two keys.
    return Record(place, {key: values[key] for key in values.keys() - {"changes", "shown"}})
