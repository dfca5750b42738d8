"""Shared by the tests of WIT rows and records: a good row, lines made of it, what they parse to."""

import csv
import io
from dataclasses import replace

from methods.ingest.wit import COLUMNS, Rejection, WitRow
from methods.ingest.wit_records import parse_records

HEADER = "\t".join(COLUMNS).encode() + b"\n"
GOOD = {
    "language": "en",
    "page_url": "https://en.wikipedia.org/wiki/NGC_6960",
    "image_url": "https://upload.example.org/wit/dso_n6960.png",
    "page_title": "NGC 6960",
    "section_title": "",
    "hierarchical_section_title": "NGC 6960",
    "caption_reference_description": "Western Veil",
    "caption_attribution_description": "English: Supernova remnant. Credit: J. A. M.",
    "caption_alt_text_description": "A glowing arc",
    "mime_type": "image/png",
    "original_height": "458",
    "original_width": "460",
    "is_main_image": "true",
    "attribution_passes_lang_id": "false",
    "page_changed_recently": "",
    "context_page_description": "A nebula.",
    "context_section_description": "",
}


def record(**changes: str) -> bytes:
    """A row as the csv writer makes it: one line, or several if a text has line feeds."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter="\t", lineterminator="\n")
    writer.writerow({**GOOD, **changes}.values())
    return buffer.getvalue().encode()


def numbered(content: bytes) -> list[tuple[int, bytes]]:
    """The lines of a shard after its header, with their numbers."""
    lines = content.split(b"\n")
    return list(enumerate([line + b"\n" for line in lines[:-1]] + [lines[-1]] * bool(lines[-1]), 2))


def parse(*parts: bytes) -> list[WitRow | Rejection]:
    return list(parse_records(numbered(b"".join(parts))))


def row(**changes: str) -> WitRow:
    [parsed] = parse(record(**changes))
    assert isinstance(parsed, WitRow), parsed
    return parsed


def rejection(raw: bytes) -> Rejection:
    """The rejection of the line `raw`, which costs neither the row before it nor the one after."""
    before, rejected, after = parse(record(), raw, record())
    assert before == row() and after == replace(row(), line_number=4)
    assert isinstance(rejected, Rejection) and rejected.line_number == 3
    assert rejected.detail.endswith(".")
    return rejected
