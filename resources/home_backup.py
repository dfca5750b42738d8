"""A home copied while it is in use, and put back.

What belongs here: which files a backup has, in which order they are copied, and that a backup is there
whole or not at all. How a store's file is copied at one moment is the store's.

What refers to something is copied before it: Dagster's events refer to tables, tables to calls,
decisions, images and releases. All of these only grow, so what is copied later has all of that.
"""

import hashlib
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field

from methods.errors import UserError
from resources import home
from resources.atomic_file import drafted
from resources.home_cleaning import BESIDE, REMADE, require_unused
from resources.lake_file import lake_address
from resources.sqlite_file import copy_sqlite
from resources.stores import require_kept
from resources.warehouse import Warehouse

MANIFEST = "backup.json"
FETCHED = tuple(name for name in REMADE if name != home.reports_path().name)
"""Folders that are not in a backup; reports are small, and what people have looked at."""
ORDER = (
    "dagster",
    "warehouse.duckdb",
    "review.sqlite",
    "image_index.sqlite",
    "ledger.sqlite",
    "images",
)
"""What refers to what comes after it; what is not named refers to nothing and comes last."""
_SQLITE = b"SQLite format 3\x00"
_IMAGE_ID = re.compile(r"[0-9a-f]{64}")


def _inside(name: str) -> str:
    if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
        raise ValueError("outside the backup")
    return name


class BackedUpFile(BaseModel):
    """What a file of a backup is known by."""

    n_bytes: int
    sha256: str


class Manifest(BaseModel):
    """What is in a backup: its files by their names relative to it."""

    made_at: datetime
    files: dict[Annotated[str, AfterValidator(_inside)], BackedUpFile] = Field(min_length=1)


class BackupError(UserError):
    """A home cannot be backed up or restored; the message says what to do."""


def back_up(source: Path, target: Path) -> int:
    """Copy the home `source` to the new folder `target`, while others use it; the number of files.

    Raises BackupError. Until it is whole, it has another name and lacks the list of its files.
    """
    if lake := lake_address():
        raise BackupError(
            f"The tables are on {lake.name}: back up its database (pg_dump) and then the files in "
            f"{lake.files} with tools of their own."
        )
    if not source.is_dir() or not any(source.iterdir()):
        raise BackupError(f"There is nothing to back up in {source}: set LOOM_HOME to your home.")
    if target.is_relative_to(source):
        raise BackupError(
            f"{target} is inside the home {source}: give a folder outside (TO=folder)."
        )
    failed = f"{source} was not backed up to {target}"
    with _in_one_sentence(failed), drafted(target, "backing-up") as draft:
        _require_absent(target)
        files = {}
        for path in _files(source):
            try:
                files[path.as_posix()] = _copy(source, draft, path)
            except FileNotFoundError:
                if (source / path).exists():
                    raise
        manifest = Manifest(made_at=datetime.now(UTC), files=files)
        (draft / MANIFEST).write_text(manifest.model_dump_json())
        # A name that is there after a power cut must not stand for files that are not.
        os.sync()
    return len(files)


def restore(backup: Path, target: Path, *, overwrite: bool = False) -> Path | None:
    """Make `target` the home that was backed up; with `overwrite` the earlier home is kept beside it.

    Returns where the earlier home is, None where there was none. Raises BackupError, HomeInUse if
    processes work on the earlier home, and StoreError for a backup from before the baseline.
    """
    failed = f"{target} was not restored from {backup}"
    with _in_one_sentence(failed):
        files = _manifest(backup).files
        if target.is_mount():
            raise BackupError(
                f"{target} is a volume of its own, which nothing can take the place of: set LOOM_HOME "
                f"to a new folder, restore, and copy what is in that folder into {target}, emptied."
            )
        with drafted(target, "restoring") as draft:
            occupied = target.exists() and any(target.iterdir())
            if occupied and not overwrite:
                raise BackupError(
                    f"{target} has a home already: say --overwrite to put it aside, or set "
                    "LOOM_HOME to a folder that is not there."
                )
            if occupied:
                require_unused(target)
            for name, file in files.items():
                _put_back(backup, draft, Path(name), file.sha256)
            require_kept(backup)
            os.sync()
            earlier = None
            if occupied:
                earlier = target.with_name(
                    f"{target.name}.before-{datetime.now(UTC):%Y%m%d-%H%M%S}"
                )
                _require_absent(earlier)
                target.rename(earlier)
    return earlier


@contextmanager
def _in_one_sentence(failed: str) -> Iterator[None]:
    """Say what could not be read or written as every error of this module is said."""
    import duckdb

    try:
        yield
    except (OSError, sqlite3.Error, duckdb.Error) as error:
        reason = str(error).splitlines()[0]
        raise BackupError(f"{failed} ({reason}): put this right and run it again.") from error


def _manifest(backup: Path) -> Manifest:
    """The backup's list of files, all of which are there in their size. Raises BackupError."""
    try:
        manifest = Manifest.model_validate_json((backup / MANIFEST).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise BackupError(
            f"{backup} is no whole backup, as it has no {MANIFEST}: give a folder that "
            "`vlm-loom home backup` made."
        ) from None
    except ValueError:
        raise BackupError(
            f"{backup / MANIFEST} does not list the files of a backup: take another backup."
        ) from None
    for name, file in manifest.files.items():
        path = backup / name
        if not path.is_file() or path.stat().st_size != file.n_bytes:
            raise BackupError(
                f"{backup} is not as it was made, as {name} is missing or of another size: take "
                "another backup."
            )
    return manifest


def _require_absent(folder: Path) -> None:
    if folder.exists():
        raise BackupError(f"{folder} is there already: give a folder that is not.")


def _files(source: Path) -> Iterator[Path]:
    """What a backup of the home has, relative to it, in the order in which it is copied.

    Each folder is listed when its turn comes: what was added while others were copied is in it.
    """
    rest = sorted(entry.name for entry in source.iterdir() if entry.name not in (*ORDER, *FETCHED))
    for name in (*ORDER, *rest):
        path = source / name
        if path.is_dir():
            files = (file.relative_to(source) for file in path.rglob("*") if file.is_file())
            yield from sorted((file for file in files if _belongs(file)), key=_place)
        elif path.is_file() and _belongs(Path(name)):
            yield Path(name)


def _belongs(path: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.parts)
    return not hidden and not path.name.endswith(BESIDE)


def _place(path: Path) -> tuple[int, bool, str]:
    """Dagster's index of runs comes before the file of each run."""
    return len(path.parts), path.name != "index.db", path.as_posix()


def _copy(source: Path, target: Path, path: Path) -> BackedUpFile:
    """Copy one file as it is at one moment."""
    here, there = source / path, target / path
    there.parent.mkdir(parents=True, exist_ok=True)
    sha256 = None
    if path == Path(home.warehouse_path().name):
        _copy_warehouse(here, there)
    elif home.images_path().name in path.parts[:-1]:
        _link(here, there)
        # An image has its hash in its name: it is read when it is restored.
        sha256 = path.stem if _IMAGE_ID.fullmatch(path.stem) else None
    elif _is_sqlite(here):
        _copy_sqlite(here, there)
    else:
        shutil.copyfile(here, there)
    return BackedUpFile(n_bytes=there.stat().st_size, sha256=sha256 or _sha256(there))


def _put_back(backup: Path, target: Path, path: Path, sha256: str) -> None:
    """Copy one file of a backup, which nobody writes. Raises BackupError if it has changed."""
    here, there = backup / path, target / path
    there.parent.mkdir(parents=True, exist_ok=True)
    if home.images_path().name in path.parts[:-1]:
        _link(here, there)
    else:
        shutil.copyfile(here, there)
    if _sha256(there) != sha256:
        raise BackupError(f"{here} has not the bytes that were backed up: take another backup.")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _copy_warehouse(here: Path, there: Path) -> None:
    if _can_change(here):
        Warehouse(here).copy_to(there)
        return
    import duckdb

    # Where the lock's file cannot be written, DuckDB's own lock keeps writers away.
    with duckdb.connect(str(here), read_only=True):
        for end in (".wal", ""):
            with suppress(FileNotFoundError):
                shutil.copyfile(f"{here}{end}", f"{there}{end}")
    # Opening takes in what stands in the log.
    duckdb.connect(str(there)).close()


def _copy_sqlite(here: Path, there: Path) -> None:
    try:
        copy_sqlite(here, there)
    except sqlite3.OperationalError:
        # SQLite wants to write beside a file in WAL mode; without a log the file is all there is.
        if _can_change(here) or any(Path(f"{here}{end}").exists() for end in ("-wal", "-journal")):
            raise
        shutil.copyfile(here, there)


def _can_change(path: Path) -> bool:
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def _link(here: Path, there: Path) -> None:
    """A second name for a file that never changes; a copy where the file system has no such thing."""
    try:
        os.link(here, there)
    except OSError:
        shutil.copyfile(here, there)


def _is_sqlite(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE
