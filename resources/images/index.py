"""The image index: which address gave which stored image, so that nothing is fetched twice.

What belongs here: one store of addresses with the image that came from each and what was
measured of it. What does not: the images (`store.py`) and those that were refused, which the
next run asks for again.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from methods.batched import batched
from methods.ids import canonical_json
from methods.json_text import from_json
from resources.images.store import FileState
from resources.sqlite_file import SqliteFile
from resources.store_backend import open_store

_RECORD = """
INSERT INTO fetched (url, image_id, facts, fetched_at, fetched_from, file_sha1)
VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (url) DO UPDATE
SET image_id = excluded.image_id, facts = excluded.facts, fetched_at = excluded.fetched_at,
    fetched_from = excluded.fetched_from, file_sha1 = excluded.file_sha1
"""
_VERIFIED = """
INSERT INTO verified (image_id, n_bytes, mtime_ns, inode) VALUES (?, ?, ?, ?)
ON CONFLICT (image_id) DO UPDATE
SET n_bytes = excluded.n_bytes, mtime_ns = excluded.mtime_ns, inode = excluded.inode
"""
_LOOKUP_CHUNK = 500


class Entry(NamedTuple):
    """What an address gave: the image, what is known of it, and when (UTC, ISO 8601).

    `fetched_from` is where it was taken from, a mirror for example, None if that was not recorded.
    `file_sha1` is the digest that the wiki gave of its file then, None for no wiki's.
    """

    image_id: str
    facts: dict[str, Any]
    fetched_at: str
    fetched_from: str | None
    file_sha1: str | None


class Fetched(NamedTuple):
    """What to record: `facts` are JSON values; the rest as in Entry."""

    url: str
    image_id: str
    facts: Mapping[str, Any]
    fetched_from: str | None = None
    file_sha1: str | None = None


class IndexFile(SqliteFile):
    """The index's file."""

    NAME = "images"
    SCHEMA = (Path(__file__).with_name("index.sql"),)


class ImageIndex:
    """Knows and records addresses; safe among threads and processes: each thread has a connection."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._file = open_store(IndexFile, self.path)

    def known(self, urls: Iterable[str]) -> dict[str, Entry]:
        """What there is of these addresses, by address."""
        entries: dict[str, Entry] = {}
        for chunk in batched(urls, _LOOKUP_CHUNK):
            marks = ",".join("?" * len(chunk))
            rows = self._file.connection.execute(
                "SELECT url, image_id, facts, fetched_at, fetched_from, file_sha1 FROM fetched "
                f"WHERE url IN ({marks})",
                chunk,
            ).fetchall()
            entries |= {row[0]: Entry(row[1], from_json(row[2]), *row[3:]) for row in rows}
        return entries

    def verified(self, image_ids: Iterable[str]) -> dict[str, FileState]:
        """The states in which these images' files were last found whole, by id."""
        states: dict[str, FileState] = {}
        for chunk in batched(image_ids, _LOOKUP_CHUNK):
            marks = ",".join("?" * len(chunk))
            rows = self._file.connection.execute(
                f"SELECT image_id, n_bytes, mtime_ns, inode FROM verified WHERE image_id IN ({marks})",
                chunk,
            ).fetchall()
            states |= {row[0]: FileState(*row[1:]) for row in rows}
        return states

    def record_verified(self, states: Mapping[str, FileState]) -> None:
        """Keep the states in which files were found whole, durable on return."""
        if states:
            with self._file.transaction() as connection:
                connection.executemany(_VERIFIED, [(one, *state) for one, state in states.items()])

    def record(self, rows: Sequence[Fetched]) -> None:
        """Keep what addresses gave, durable on return; all of them or none.

        What an address gave last stands. Raises ValueError for facts that are no JSON values.
        """
        now = datetime.now(UTC).isoformat(timespec="seconds")
        values = [
            (row.url, row.image_id, canonical_json(row.facts), now, row.fetched_from, row.file_sha1)
            for row in rows
        ]
        with self._file.transaction() as connection:
            connection.executemany(_RECORD, values)

    def close(self) -> None:
        """Close what this thread has open; the next call opens it again."""
        self._file.close()
