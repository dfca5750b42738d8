"""Backup and restore of a workspace; it may be in use during a backup.

References are copied before their targets: Dagster's events refer to tables, and tables to calls,
decisions, images and releases. All of these only grow, so targets that are copied later are complete.
"""

import hashlib
import os
import re
import shutil
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from time import sleep
from typing import Annotated, NamedTuple

from filelock import FileLock
from pydantic import AfterValidator, BaseModel, Field

from methods.errors import UserError
from methods.naming import listed
from resources.exports.folder import EXPORT_AGAIN, listed_files
from resources.exports.folder import MANIFEST as EXPORT_MANIFEST
from resources.files import home
from resources.files.atomic import draft_folder
from resources.files.bounded import read_file
from resources.files.system_errors import ResourceExhausted, exhaustion_message, is_full_disk
from resources.images import index
from resources.llm.ledger import check as ledger_check
from resources.publishing.release_folder import REWRITE
from resources.review import tables
from resources.store_damage import (
    duckdb_damage,
    duckdb_log_damage,
    sqlite_damage,
    sqlite_log_damage,
)
from resources.stores.address import database
from resources.stores.sqlite import copy_sqlite, size_of
from resources.stores.sqlite_errors import is_damaged
from resources.stores.sqlite_rows import Readers
from resources.stores_of_home import require_upgradable_stores
from resources.upkeep.cleaning import REBUILDABLE, SIDE_FILES, require_unused
from resources.warehouse import Warehouse
from resources.warehouse.absent_files import absent_files
from resources.warehouse.foreign_views import drop_foreign_views, views_in_place_of_tables
from resources.warehouse.lake_connection import lake_address

MANIFEST = "backup.json"
NOT_BACKED_UP = tuple(name for name in REBUILDABLE if name != home.reports_path().name)
"""Folders that are not in a backup, since their files can be fetched or made again. Reports are in the
backup: they are small, and people have read them."""
ORDER = (
    "dagster",
    "warehouse.duckdb",
    "review.sqlite",
    "image_index.sqlite",
    "ledger.sqlite",
    "images",
)
"""The order of copying: each entry may refer to later ones. Other files, copied last, refer to none."""
_SQLITE = b"SQLite format 3\x00"
_INDEX_BYTES = 2**20
"""Free bytes that are always enough for SQLite's `-shm` file, the index of its write-ahead log."""
_EMPTY_LOOKS = 20
"""How many times to look again at an empty database of Dagster, 0.1 s apart: a run may be creating it.
"""
_WAREHOUSE = Path(home.warehouse_path().name)
_READERS = {
    home.ledger_path().name: ledger_check.READERS,
    home.review_path().name: tables.READERS,
    home.image_index_path().name: index.READERS,
}
_DAGSTER_READERS: Readers = {"snapshots.snapshot_body": lambda body: zlib.decompress(body).decode()}
"""Dagster's decoder of a snapshot; zlib verifies its checksum."""
_IMAGE_ID = re.compile(r"[0-9a-f]{64}")


def _inside(name: str) -> str:
    if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts or "\0" in name:
        raise ValueError("outside the backup")
    return name


class BackupFile(BaseModel):
    """The checksum and size of a file in a backup."""

    n_bytes: int
    sha256: str


class Manifest(BaseModel):
    """The contents of a backup: its files by relative name."""

    made_at: datetime
    files: dict[Annotated[str, AfterValidator(_inside)], BackupFile] = Field(min_length=1)


class BackupError(UserError):
    """A workspace cannot be backed up or restored; the message says what to do."""


class DiskFull(BackupError, ResourceExhausted):
    """A disk was full. The draft is deleted, so there is room for commands to show this message."""


class DamagedFile(Exception):
    """A file to copy is damaged; the message describes the damage."""


class RestoreResult(NamedTuple):
    """What a restore did besides.

    Attributes:
        earlier: The new path of the earlier workspace; None if there was none.
        dropped: Macros, and views that read files, of the backup's tables. They were not restored,
            since DuckDB would run them with the rights of the user.
    """

    earlier: Path | None
    dropped: list[str]


class BackupResult(NamedTuple):
    """The contents of a backup.

    Attributes:
        n_files: The number of its files.
        left_out: Names of special files, and of links to places outside the workspace.
        absent: What the tables name and the workspace did not have, as by `absent_files`.
    """

    n_files: int
    left_out: list[str]
    absent: list[str]


def back_up(source: Path, target: Path) -> BackupResult:
    """Copy a workspace to a new folder while it is in use, and check the copy.

    Until the copy is complete, it has another name and no manifest. The check reads every value of
    every table and the bytes of every image, and compares the files of releases with their hashes.

    Args:
        source: The workspace.
        target: The new folder.

    Returns:
        What was copied, left out and absent.

    Raises:
        BackupError: A file cannot be copied, or is damaged; then there is no new folder.
    """
    if lake := lake_address():
        raise BackupError(
            f"The tables are on {lake.name}: back up its database (pg_dump) and then the files in "
            f"{lake.files} with tools of their own."
        )
    if not source.is_dir() or not any(source.iterdir()):
        raise BackupError(
            f"There is nothing to back up in {source}: set LOOM_WORKSPACE to your workspace."
        )
    if target.is_relative_to(source):
        raise BackupError(
            f"{target} is inside the workspace {source}: give a folder outside with --to."
        )
    failed = f"{source} was not backed up to {target}"
    with _in_one_sentence(failed, target), draft_folder(target, "backing-up") as draft:
        _require_absent(target)
        files: dict[str, BackupFile] = {}
        left_out: list[str] = []
        for path in _files(source, left_out):
            try:
                files[path.as_posix()] = _copy(source, draft, path)
            except FileNotFoundError:
                if (source / path).exists():
                    raise
            except DamagedFile as damage:
                raise BackupError(
                    f"{source / path} is damaged ({damage}): nothing was backed up, and earlier "
                    f"backups are as they were. {_advice(path)}"
                ) from damage
        if changed := _changed_release_file(draft, files):
            raise BackupError(
                f"{source / changed} has other content than was written: nothing was backed up, and "
                f"earlier backups are as they were. To go on, {_release_advice(draft, changed)}."
            )
        manifest = Manifest(made_at=datetime.now(UTC), files=files)
        (draft / MANIFEST).write_text(manifest.model_dump_json())
        calls = None
        if database() is None:
            calls = ledger_check.keys_of_calls(draft / home.ledger_path().name)
        absent = absent_files(draft, files, calls)
        # After a power failure, a backup with its final name must have all its files.
        os.sync()
    return BackupResult(len(files), left_out, absent)


def restore(backup: Path, target: Path, *, overwrite: bool = False) -> RestoreResult:
    """Restore a workspace from a backup.

    Args:
        backup: The backup.
        target: The workspace.
        overwrite: Whether an existing workspace is moved out of the way.

    Returns:
        The new path of the earlier workspace, and what was not restored.

    Raises:
        BackupError: The backup is damaged, or the workspace cannot be replaced.
        WorkspaceInUse: Processes work on the earlier workspace.
        StoreError: The backup is from a version that is too old to be upgraded.
    """
    failed = f"{target} was not restored from {backup}"
    with _in_one_sentence(failed, target):
        files = _manifest(backup).files
        if target.is_mount():
            raise BackupError(
                f"{target} is a mounted volume and cannot be replaced: set LOOM_WORKSPACE "
                f"to a new folder, restore, and copy what is in that folder into {target}, emptied."
            )
        with draft_folder(target, "restoring") as draft:
            occupied = target.exists() and any(target.iterdir())
            if occupied and not overwrite:
                raise BackupError(
                    f"{target} contains a workspace already. Pass --overwrite to move it out "
                    "of the way, or set LOOM_WORKSPACE to a new folder."
                )
            if occupied:
                require_unused(target)
            for name, file in files.items():
                _put_back(backup, draft, Path(name), file.sha256)
            for name in files:
                if damage := _damage(draft / name, Path(name)):
                    raise BackupError(
                        f"{backup / name} is damaged ({damage}), and nothing was restored: take "
                        "another backup."
                    )
            require_upgradable_stores(backup)
            dropped = _without_foreign_views(draft, backup)
            if changed := _changed_release_file(draft, files):
                raise BackupError(
                    f"{backup / changed} has other content than was written, and nothing was restored: "
                    "give an earlier backup."
                )
            os.sync()
            earlier = None
            if occupied:
                earlier = target.with_name(
                    f"{target.name}.before-{datetime.now(UTC):%Y%m%d-%H%M%S}"
                )
                _require_absent(earlier)
                target.rename(earlier)
    return RestoreResult(earlier, dropped)


@contextmanager
def _in_one_sentence(failed: str, target: Path) -> Iterator[None]:
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


def _manifest(backup: Path) -> Manifest:
    """Read a backup's manifest; check that all files exist with their sizes. Raises BackupError."""
    try:
        manifest = Manifest.model_validate_json(read_file(backup / MANIFEST))
    except (FileNotFoundError, NotADirectoryError):
        raise BackupError(
            f"{backup} is not a whole backup, as it has no {MANIFEST}: give a folder that "
            "`vlm-loom workspace backup` made."
        ) from None
    except ValueError:
        raise BackupError(
            f"{backup / MANIFEST} does not list the files of a backup: give an earlier backup."
        ) from None
    for name, file in manifest.files.items():
        path = backup / name
        linked = path.resolve() != backup.resolve() / name
        if linked or not path.is_file() or path.stat().st_size != file.n_bytes:
            raise BackupError(
                f"{backup} is not as it was made, as {name} is missing, a link or of another size: "
                "give an earlier backup."
            )
    return manifest


def _require_absent(folder: Path) -> None:
    if folder.exists():
        raise BackupError(f"{folder} is there already: give a folder that is not.")


def _files(source: Path, left_out: list[str]) -> Iterator[Path]:
    """Yield the files to back up, relative to the workspace, in the order of copying.

    A folder is listed after the files before it were copied, so it includes files that were added
    meanwhile. Entries at the top of the workspace may be links to another disk.
    """
    rest = sorted(
        entry.name for entry in source.iterdir() if entry.name not in (*ORDER, *NOT_BACKED_UP)
    )
    for name in (*ORDER, *rest):
        path = source / name
        if path.is_dir():
            files = []
            for file in path.rglob("*"):
                place = file.relative_to(source)
                if not _belongs(place) or (file.is_dir() and not file.is_symlink()):
                    continue
                if file.is_file() and file.resolve().is_relative_to(path.resolve()):
                    files.append(place)
                elif file.is_symlink() or file.exists():
                    left_out.append(place.as_posix())
            yield from sorted(files, key=_place)
        elif path.is_file() and _belongs(Path(name)):
            yield Path(name)


def _belongs(path: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.parts)
    return not hidden and not path.name.endswith(SIDE_FILES)


def _place(path: Path) -> tuple[int, bool, str]:
    """Sort key: Dagster's index of runs comes before the files of runs."""
    return len(path.parts), path.name != "index.db", path.as_posix()


def _copy(source: Path, target: Path, path: Path) -> BackupFile:
    """Copy one file, databases as a snapshot. Raises DamagedFile."""
    source_file, copy = source / path, target / path
    copy.parent.mkdir(parents=True, exist_ok=True)
    if path == _WAREHOUSE:
        _copy_warehouse(source_file, copy)
    elif home.images_path().name in path.parts[:-1]:
        _link(source_file, copy)
    elif _is_sqlite(source_file, path):
        _copy_sqlite(source_file, copy)
    else:
        shutil.copyfile(source_file, copy)
    _require_whole(_damage(copy, path))
    sha256 = _sha256(copy)
    is_image = home.images_path().name in path.parts[:-1] and _IMAGE_ID.fullmatch(path.stem)
    if is_image and sha256 != path.stem:
        raise DamagedFile("its bytes have another hash than its name")
    return BackupFile(n_bytes=copy.stat().st_size, sha256=sha256)


def _damage(copy: Path, path: Path) -> str | None:
    """Return the damage of the copy of a store, which is at `path` in the workspace; None if intact."""
    if path == _WAREHOUSE:
        return duckdb_damage(copy)
    readers = _DAGSTER_READERS if path.parts[0] == "dagster" else _READERS.get(path.name, {})
    try:
        return sqlite_damage(copy, readers) if _is_sqlite(copy, path) else None
    except DamagedFile as damaged:
        return str(damaged)


def _changed_release_file(copy: Path, files: Mapping[str, BackupFile]) -> str | None:
    """Return the first release file in a copied workspace whose hash is not the recorded one."""
    releases = copy / home.releases_path().name
    recorded = _recorded_exports(copy / _WAREHOUSE)
    # An export format may be rewritten before the tables have the new hashes; its manifest has them.
    for manifest in releases.glob(f"*/{EXPORT_MANIFEST}"):
        recorded |= {file.path: file.sha256 for file in listed_files(manifest.parent)}
    for path, sha256 in recorded.items():
        name = f"{releases.name}/{path}"
        if name in files and files[name].sha256 != sha256:
            return name
    return None


def _without_foreign_views(draft: Path, backup: Path) -> list[str]:
    """Drop foreign views of the restored tables, and return them. Raises BackupError if a view stands
    in place of a table.
    """
    tables = draft / _WAREHOUSE
    if not tables.exists():
        return []
    if views := views_in_place_of_tables(tables):
        raise BackupError(
            f"{backup / _WAREHOUSE} has views in place of tables ({listed(views)}), and nothing was "
            "restored: give an earlier backup."
        )
    return drop_foreign_views(tables)


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


def _release_advice(copy: Path, name: str) -> str:
    """Return the advice for a changed file of a release or of an export format."""
    return EXPORT_AGAIN if (copy / name).with_name(EXPORT_MANIFEST).exists() else REWRITE


def _advice(path: Path) -> str:
    if home.images_path().name in path.parts[:-1]:
        return "Put a sound copy in its place, or move it out of the workspace."
    return (
        "Restore a backup (vlm-loom workspace restore), or move it out of the workspace to go on "
        "without "
        "it."
    )


def _put_back(backup: Path, target: Path, path: Path, sha256: str) -> None:
    """Copy one file of a backup, which nobody writes. Raises BackupError if it has changed."""
    copy, target_file = backup / path, target / path
    target_file.parent.mkdir(parents=True, exist_ok=True)
    if home.images_path().name in path.parts[:-1]:
        _link(copy, target_file)
    else:
        shutil.copyfile(copy, target_file)
    if _sha256(target_file) != sha256:
        raise BackupError(
            f"{copy} does not have the bytes that were backed up: give an earlier backup."
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _copy_warehouse(source: Path, copy: Path) -> None:
    import duckdb

    if not source.stat().st_size:
        raise DamagedFile("it is empty")
    try:
        if _can_change(source):
            with FileLock(f"{source}.lock"):
                _require_whole(duckdb_log_damage(source, copy.parent))
            Warehouse(source).copy_to(copy)
            return
        # The lock file cannot be written: DuckDB's own lock keeps writers away.
        with duckdb.connect(str(source), read_only=True):
            _require_whole(duckdb_log_damage(source, copy.parent))
            for end in (".wal", ""):
                with suppress(FileNotFoundError):
                    shutil.copyfile(f"{source}{end}", f"{copy}{end}")
        # Opening the copy applies its log.
        duckdb.connect(str(copy)).close()
    except duckdb.Error as error:
        if is_full_disk(error):
            raise
        raise DamagedFile(str(error).splitlines()[0]) from error


def _copy_sqlite(source: Path, copy: Path) -> None:
    _require_whole(sqlite_log_damage(source))
    try:
        copy_sqlite(source, copy)
    except sqlite3.DatabaseError as error:
        if is_damaged(error):
            raise DamagedFile(str(error)) from error
        # In WAL mode SQLite needs files next to a database. If it cannot create them, no process
        # has the database open.
        if _can_change(source) and shutil.disk_usage(source.parent).free > _INDEX_BYTES:
            raise
        if not _can_change(source) and (
            size_of(_log(source)) or Path(f"{source}-journal").exists()
        ):
            raise
        _copy_unused_sqlite(source, copy)


def _copy_unused_sqlite(source: Path, target: Path) -> None:
    """Copy a file that nobody has open, with its log, and apply the log to the copy."""
    target.unlink(missing_ok=True)
    before = _changed_at(source)
    for path, target_path in ((_log(source), _log(target)), (source, target)):
        with suppress(FileNotFoundError):
            shutil.copyfile(path, target_path)
    if _changed_at(source) != before:
        raise OSError(f"{source} is being written")
    with closing(sqlite3.connect(target)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _log(path: Path) -> Path:
    return Path(f"{path}-wal")


def _changed_at(path: Path) -> list[tuple[int, int]]:
    """Return modification times and sizes of a SQLite file and its log."""
    stats = [each.stat() for each in (path, _log(path)) if each.exists()]
    return [(stat.st_mtime_ns, stat.st_size) for stat in stats]


def _require_whole(damage: str | None) -> None:
    if damage:
        raise DamagedFile(damage)


def _can_change(path: Path) -> bool:
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def _link(source: Path, copy: Path) -> None:
    """Make a hard link to a file that never changes; copy it if the file system has no hard links."""
    try:
        os.link(source, copy)
    except OSError:
        shutil.copyfile(source, copy)


def _is_sqlite(file: Path, path: Path) -> bool:
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
