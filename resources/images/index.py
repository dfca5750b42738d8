"""The image index: which address gave which stored image, so that nothing is fetched twice.

What belongs here: one SQLite file (WAL) of addresses with the image that came from each and what was
measured of it. What does not: the images (`store.py`) and those that were refused, which the
next run asks for again.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from methods.ids import canonical_json
from resources.batched import batched
from resources.sqlite_file import SqliteFile

_RECORD = """
INSERT INTO fetched (url, image_id, facts, fetched_at) VALUES (?, ?, ?, ?)
ON CONFLICT (url) DO UPDATE
SET image_id = excluded.image_id, facts = excluded.facts, fetched_at = excluded.fetched_at
"""
_LOOKUP_CHUNK = 500


class Entry(NamedTuple):
    """What an address gave: the image, what is known of it, and when (UTC, ISO 8601)."""

    image_id: str
    facts: dict[str, Any]
    fetched_at: str


class IndexFile(SqliteFile):
    """The index's file."""

    SCHEMA = (Path(__file__).with_name("index.sql"),)

    @classmethod
    def unnumbered_version(cls, tables: set[str]) -> int:
        """Version 1 wrote no number at first."""
        return 1 if "fetched" in tables else 0


class ImageIndex:
    """Knows and records addresses; safe among threads and processes: each thread has a connection."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._file = IndexFile(self.path)

    def known(self, urls: Iterable[str]) -> dict[str, Entry]:
        """What there is of these addresses, by address."""
        found: dict[str, Entry] = {}
        for chunk in batched(urls, _LOOKUP_CHUNK):
            marks = ",".join("?" * len(chunk))
            rows = self._file.connection.execute(
                f"SELECT url, image_id, facts, fetched_at FROM fetched WHERE url IN ({marks})",
                chunk,
            ).fetchall()
            found |= {row[0]: Entry(row[1], json.loads(row[2]), row[3]) for row in rows}
        return found

    def record(self, rows: Sequence[tuple[str, str, Mapping[str, Any]]]) -> None:
        """Keep (address, image id, facts as JSON values), durable on return; all of them or none.

        What an address gave last stands. Raises ValueError for facts that are no JSON values.
        """
        now = datetime.now(UTC).isoformat(timespec="seconds")
        values = [(url, image_id, canonical_json(facts), now) for url, image_id, facts in rows]
        with self._file.transaction() as connection:
            connection.executemany(_RECORD, values)

    def close(self) -> None:
        """Close what this thread has open; the next call opens it again."""
        self._file.close()
