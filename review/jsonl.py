"""Review by file: a JSONL file of what awaits a decision goes out, and comes back filled in.

A person fills `verdict` (accept, edit, reject, skip) and what it needs: `edits`, the whole content as
it should be, or a `reason`; lines left empty stay open. What belongs here: the lines. What becomes of
them is `review/rounds.py`.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from methods.review import QueueItem
from review.rounds import Record

FIELDS_TO_FILL = ("verdict", "edits", "reason", "note")


def write_jsonl(items: Iterable[QueueItem], round: int, out: Path) -> int:
    """Write one line for each item; returns their number.

    Raises FileExistsError: the file there may be one that somebody has filled.
    """
    lines = [json.dumps(_line(item, round), ensure_ascii=False) for item in items]
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("x", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)
    return len(lines)


def read_jsonl(path: Path) -> Iterator[Record]:
    """The lines of a file that came back, by number; a line that is no JSON object is a fault."""
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            if raw.strip():
                yield _record(f"line {number}", raw)


def _line(item: QueueItem, round: int) -> dict[str, Any]:
    """An exported line: what to judge, where to look, and the fields to fill."""
    where: dict[str, Any] = {
        key: item[key] for key in ("image_paths", "page_urls", "context") if key in item
    }
    return {
        "item_id": item["item_id"],
        "content_hash": item["content_hash"],
        "kind": item["kind"],
        "round": round,
        "image_ids": item["image_ids"],
        **where,
        "content": item["content"],
        **dict.fromkeys(FIELDS_TO_FILL),
    }


def _record(place: str, raw: bytes) -> Record:
    # Editors on Windows put a byte order mark at the head of the file.
    try:
        said = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        return Record(place, fault=f"not JSON ({error}).")
    if type(said) is not dict:
        return Record(place, fault="not a JSON object.")
    # What only a spreadsheet or a form gives is no field of a line.
    return Record(place, {key: said[key] for key in said.keys() - {"changes", "shown"}})
