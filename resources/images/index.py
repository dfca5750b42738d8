"""The image index: the stored image of each fetched URL, so that no image is fetched twice."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Column, MetaData, Table, select
from sqlalchemy import text as statement

from methods.batched import batched
from methods.ids import canonical_json
from methods.json_text import from_json
from resources.images.store import FileState
from resources.stores import StoreKind, open_store
from resources.stores.columns import integer, text
from resources.stores.sqlite_rows import Readers

METADATA = MetaData()
FETCHED = Table(
    "fetched",
    METADATA,
    text("url", key=True),
    text("image_id"),
    text("facts"),
    text("fetched_at"),
    text("fetched_from", null=True),
    text("file_sha1", null=True),
    comment="What each address gave last.",
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
VERIFIED = Table(
    "verified",
    METADATA,
    text("image_id", key=True),
    integer("n_bytes"),
    integer("mtime_ns"),
    integer("inode"),
    comment="The state in which a stored file was last found to have the bytes of its name.",
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
INDEX = StoreKind("images", METADATA, Path(__file__).with_name("migrations"))
READERS: Readers = {"fetched.facts": from_json}
"""Decoders of the columns that hold JSON."""
_RECORD = statement("""
INSERT INTO fetched (url, image_id, facts, fetched_at, fetched_from, file_sha1)
VALUES (:url, :image_id, :facts, :fetched_at, :fetched_from, :file_sha1)
ON CONFLICT (url) DO UPDATE
SET image_id = excluded.image_id, facts = excluded.facts, fetched_at = excluded.fetched_at,
    fetched_from = excluded.fetched_from, file_sha1 = excluded.file_sha1
""")
_RECORD_VERIFIED = statement("""
INSERT INTO verified (image_id, n_bytes, mtime_ns, inode)
VALUES (:image_id, :n_bytes, :mtime_ns, :inode)
ON CONFLICT (image_id) DO UPDATE
SET n_bytes = excluded.n_bytes, mtime_ns = excluded.mtime_ns, inode = excluded.inode
""")
_LOOKUP_CHUNK = 500


class ImageIndexEntry(NamedTuple):
    """The image that was fetched from a URL, its facts, and the time (UTC, ISO 8601).

    Attributes:
        fetched_from: The address it was fetched from, for example of a mirror; None if unknown.
        file_sha1: The wiki's digest of the file at that time; None for other hosts.
    """

    image_id: str
    facts: dict[str, Any]
    fetched_at: str
    fetched_from: str | None
    file_sha1: str | None


class FetchedImage(NamedTuple):
    """The result of a fetch to record; `facts` are JSON values, the rest as in ImageIndexEntry."""

    url: str
    image_id: str
    facts: Mapping[str, Any]
    fetched_from: str | None = None
    file_sha1: str | None = None


class ImageIndex:
    """Stores and finds the images of URLs; safe among threads and processes."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._store = open_store(INDEX, self.path)

    def entries(self, urls: Iterable[str]) -> dict[str, ImageIndexEntry]:
        """Find the entries of URLs, by URL. URLs without an entry are left out."""
        rows = self._look_up(FETCHED.c.url, urls)
        return {row[0]: ImageIndexEntry(row[1], from_json(row[2]), *row[3:]) for row in rows}

    def verified(self, image_ids: Iterable[str]) -> dict[str, FileState]:
        """Find the states in which these images' files were last verified, by id."""
        rows = self._look_up(VERIFIED.c.image_id, image_ids)
        return {row[0]: FileState(*row[1:]) for row in rows}

    def _look_up(self, key: Column[Any], values: Iterable[str]) -> Iterator[Sequence[Any]]:
        for chunk in batched(values, _LOOKUP_CHUNK):
            with self._store.read() as connection:
                rows = connection.execute(select(key.table).where(key.in_(chunk))).all()
            yield from rows

    def record_verified(self, states: Mapping[str, FileState]) -> None:
        """Store the states in which files were verified, durably."""
        rows = [{"image_id": image_id, **state._asdict()} for image_id, state in states.items()]
        if rows:
            with self._store.transaction() as connection:
                connection.execute(_RECORD_VERIFIED, rows)

    def record(self, rows: Sequence[FetchedImage]) -> None:
        """Store the results of fetches durably, in one transaction.

        A new result of a URL replaces the earlier one.

        Raises:
            ValueError: Facts are not JSON values.
        """
        current_time = datetime.now(UTC).isoformat(timespec="seconds")
        values = [
            row._asdict() | {"facts": canonical_json(row.facts), "fetched_at": current_time}
            for row in rows
        ]
        if values:
            with self._store.transaction() as connection:
                connection.execute(_RECORD, values)

    def close(self) -> None:
        """Close the idle connections. A later call opens new ones."""
        self._store.close()
