"""The contents of a backup: its manifest, and the checks of its files that backup and restore share."""

import os
import shutil
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from time import sleep

from pydantic import BaseModel, Field

from methods.errors import UserError
from resources.exports.folder import MANIFEST as EXPORT_MANIFEST
from resources.exports.folder import listed_files
from resources.files import home
from resources.files.system_errors import ResourceExhausted, exhaustion_message, is_full_disk
from resources.images import index
from resources.llm.ledger import check as ledger_check
from resources.review import tables
from resources.store_damage import duckdb_damage, sqlite_damage
from resources.stores.sqlite_rows import Readers
from resources.upkeep.cleaning import REBUILDABLE, SIDE_FILES

MANIFEST = "backup.json"
NOT_BACKED_UP = (
    *(name for name in REBUILDABLE if name != home.reports_path().name),
    home.limits_path().name,
)
"""Names that are not in a backup and are not restored: files that can be fetched or made again, and the
budgets of active runs. Reports are in the backup: they are small, and people have read them."""
_SQLITE = b"SQLite format 3\x00"
_EMPTY_LOOKS = 20
"""How many times to look again at an empty database of Dagster, 0.1 s apart: a run may be creating it.
"""
WAREHOUSE = Path(home.warehouse_path().name)
_READERS = {
    home.ledger_path().name: ledger_check.READERS,
    home.review_path().name: tables.READERS,
    home.image_index_path().name: index.READERS,
}
_DAGSTER_READERS: Readers = {"snapshots.snapshot_body": lambda body: zlib.decompress(body).decode()}
"""Dagster's decoder of a snapshot; zlib verifies its checksum."""


class BackupFile(BaseModel):
    """The checksum and size of a file in a backup."""

    n_bytes: int
    sha256: str


class Manifest(BaseModel):
    """The contents of a backup: its files by relative name."""

    made_at: datetime
    files: dict[str, BackupFile] = Field(min_length=1)


class BackupError(UserError):
    """A workspace cannot be backed up or restored; the message says what to do."""


class DiskFull(BackupError, ResourceExhausted):
    """A disk was full. The draft is deleted, so there is room for commands to show this message."""


class DamagedFile(Exception):
    """A file to copy is damaged; the message describes the damage."""


@contextmanager
def in_one_sentence(failed: str, target: Path) -> Iterator[None]:
    """Translate errors of reading, and of writing to `target`'s disk, to BackupError or DiskFull."""
    import duckdb

    try:
        yield
    except (OSError, sqlite3.Error, duckdb.Error) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        if is_full_disk(error):
            raise DiskFull(
                f"{failed}, as the disk of {target.parent} has too little room ({reason}): make room "
                "on it, or use a folder on another disk, and run it again."
            ) from error
        kind = DiskFull if exhaustion_message(error) else BackupError
        raise kind(f"{failed} ({reason}): put this right and run it again.") from error


def require_absent(folder: Path) -> None:
    """Raise BackupError if the folder exists."""
    if folder.exists():
        raise BackupError(f"{folder} is there already: give a folder that is not.")


def damage_of(copy: Path, path: Path) -> str | None:
    """Return the damage of the copy of a store, which is at `path` in the workspace; None if intact."""
    if path == WAREHOUSE:
        return duckdb_damage(copy)
    readers = _DAGSTER_READERS if path.parts[0] == "dagster" else _READERS.get(path.name, {})
    try:
        return sqlite_damage(copy, readers) if is_sqlite(copy, path) else None
    except DamagedFile as damaged:
        return str(damaged)


def changed_release_file(copy: Path, files: Mapping[str, BackupFile]) -> str | None:
    """Return the first release file in a copied workspace whose hash is not the recorded one."""
    releases = copy / home.releases_path().name
    recorded = _recorded_exports(copy / WAREHOUSE)
    # An export format may be rewritten before the tables have the new hashes; its manifest has them.
    for manifest in releases.glob(f"*/{EXPORT_MANIFEST}"):
        recorded |= {file.path: file.sha256 for file in listed_files(manifest.parent)}
    for path, sha256 in recorded.items():
        name = f"{releases.name}/{path}"
        if name in files and files[name].sha256 != sha256:
            return name
    return None


def _recorded_exports(warehouse: Path) -> dict[str, str]:
    """Return path -> SHA-256 of `release.exports` in a warehouse of any version; empty without one."""
    import duckdb

    if not warehouse.exists():
        return {}
    with (
        duckdb.connect(str(warehouse), read_only=True) as connection,
        suppress(duckdb.CatalogException),
    ):
        return dict(connection.execute("SELECT path, sha256 FROM release.exports").fetchall())
    return {}


def is_backed_up(path: Path) -> bool:
    """Whether a backup may have a file of the workspace: no hidden one, and no side file of a store."""
    hidden = any(part.startswith(".") for part in path.parts)
    return not hidden and not path.name.endswith(SIDE_FILES)


def link_or_copy(source: Path, copy: Path) -> None:
    """Make a hard link to a file that never changes; copy it if the file system has no hard links."""
    try:
        os.link(source, copy)
    except OSError:
        shutil.copyfile(source, copy)


def is_sqlite(file: Path, path: Path) -> bool:
    """Whether a file is a SQLite file. Raises DamagedFile if only its name says so.

    SQLite files are `*.sqlite` at the top of the workspace, and `*.db` of Dagster. The latter are empty
    for a moment when a run creates them.
    """
    for _ in range(_EMPTY_LOOKS):
        with file.open("rb") as opened:
            head = opened.read(len(_SQLITE))
        if head == _SQLITE:
            return True
        if (path.parts[0], path.suffix) not in ((path.name, ".sqlite"), ("dagster", ".db")):
            return False
        if head:
            break
        sleep(0.1)
    raise DamagedFile("it is not a SQLite file" if head else "it is empty")
