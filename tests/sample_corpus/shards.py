"""The entries as lines of WIT shards, and the two kinds of damage done to lines on purpose."""

import csv
import io
import zlib
from collections.abc import Iterable
from pathlib import PurePath
from urllib.parse import quote

from methods.ingest.wit import COLUMNS
from tests.sample_corpus.entries import Entry

CUT_COLUMNS = 15
MIME_TYPES = {".png": "image/png", ".jpg": "image/jpeg"}
ATTRIBUTION = (
    "English: {title}. Drawing made for the vlm-loom sample corpus. Synthetic. Licence: Apache-2.0"
)


def shard_bytes(entries: Iterable[Entry]) -> bytes:
    """A whole shard: the header line and one line for each entry, damaged ones included."""
    return b"".join([_line(COLUMNS).encode(), *(_entry_line(entry) for entry in entries)])


def _entry_line(entry: Entry) -> bytes:
    values = _values(entry)
    if entry.fault == "columns":
        values = values[:CUT_COLUMNS]
    # Latin-1 writes an accented letter as one byte that cannot stand alone in UTF-8.
    return _line(values).encode("latin-1" if entry.fault == "encoding" else "utf-8")


def _values(entry: Entry) -> tuple[str, ...]:
    page = quote(entry.title.replace(" ", "_"), safe="_()")
    width, height = entry.size
    path = (entry.title, entry.section) if entry.section else (entry.title,)
    return (
        entry.language,
        f"https://{entry.language}.wikipedia.example/wiki/{page}",
        f"https://images.example.org/sample/{entry.image}",
        entry.title,
        entry.section,
        " / ".join(path),
        entry.caption,
        ATTRIBUTION.format(title=entry.title),
        entry.alt,
        MIME_TYPES[PurePath(entry.image).suffix],
        str(height),
        str(width),
        "false" if entry.section else "true",
        "true",
        # Any fixed mixture will do; a checksum of the title stays put when entries are added.
        "true" if zlib.crc32(entry.title.encode()) % 3 else "false",
        entry.context,
        entry.section_text or entry.context,
    )


def _line(values: Iterable[str]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter="\t", quoting=csv.QUOTE_MINIMAL, lineterminator="\n")
    writer.writerow(values)
    return buffer.getvalue()
