"""A home copied while it is in use, and put back.

What belongs here: which files a backup has, in which order they are copied, and that a backup is there
whole or not at all. How a store's file is copied at one moment is the store's.

What refers to something is copied before it: Dagster's events refer to tables, tables to calls,
decisions, images and releases. All of these only grow, so what is copied later has all of that.
"""

import json
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from filelock import FileLock

from methods.errors import UserError
from resources import home
from resources.home_cleaning import REMADE
from resources.sqlite_file import copy_sqlite
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
_BESIDE = (".lock", ".flights", "-wal", "-shm", "-journal", ".wal", ".tmp")
"""Endings of files that belong to a running process."""


class BackupError(UserError):
    """A home cannot be backed up or restored; the message says what to do."""


def back_up(source: Path, target: Path) -> int:
    """Copy the home `source` to the new folder `target`, while others use it; the number of files.

    Raises BackupError. Until it is whole, it has another name and lacks the list of its files.
    """
    if not source.is_dir() or not any(source.iterdir()):
        raise BackupError(f"There is nothing to back up in {source}: set LOOM_HOME to your home.")
    if target.is_relative_to(source):
        raise BackupError(
            f"{target} is inside the home {source}: give a folder outside (TO=folder)."
        )
    _require_absent(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(target.parent / ".backup.lock"):
        # One at a time, so that whatever stands here unfinished was left by a killed one.
        for left in target.parent.glob(".*.partial"):
            shutil.rmtree(left)
        draft = target.parent / f".{target.name}.partial"
        try:
            draft.mkdir()
            sizes = {}
            for each in _files(source):
                try:
                    sizes[each.as_posix()] = _copy(source, draft, each)
                except FileNotFoundError:
                    if (source / each).exists():
                        raise
            made = {"made_at": datetime.now(UTC).isoformat(timespec="seconds"), "files": sizes}
            (draft / MANIFEST).write_text(json.dumps(made))
            # A name that is there after a power cut must not stand for files that are not.
            os.sync()
            draft.rename(target)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
    return len(sizes)


def restore(backup: Path, target: Path, *, overwrite: bool = False) -> Path | None:
    """Make `target` the home that was backed up; with `overwrite` the earlier home is kept beside it.

    Returns where the earlier home is, None where there was none. Raises BackupError.
    """
    files = _manifest(backup)
    occupied = target.exists() and any(target.iterdir())
    if occupied and not overwrite:
        raise BackupError(
            f"{target} has a home already: say OVERWRITE=yes to put it aside, or set LOOM_HOME to a "
            "folder that is not there."
        )
    draft = target.with_name(f".{target.name}.restoring-{uuid4().hex}")
    try:
        for name in files:
            _copy(backup, draft, Path(name))
        os.sync()
        earlier = None
        if occupied:
            earlier = target.with_name(f"{target.name}.before-{datetime.now(UTC):%Y%m%d-%H%M%S}")
            _require_absent(earlier)
            target.rename(earlier)
        draft.rename(target)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return earlier


def _manifest(backup: Path) -> list[str]:
    """Names of the backup's files, all of which are there. Raises BackupError."""
    try:
        files: dict[str, int] = json.loads((backup / MANIFEST).read_text())["files"]
    except (OSError, ValueError, KeyError):
        raise BackupError(
            f"{backup} is no whole backup, as it has no {MANIFEST}: give a folder that make backup "
            "made (FROM=folder)."
        ) from None
    for name, n_bytes in files.items():
        path = backup / name
        if not path.is_file() or path.stat().st_size != n_bytes:
            raise BackupError(
                f"{backup} is not as it was made, as {name} is missing or of another size: take "
                "another backup."
            )
    return list(files)


def _require_absent(folder: Path) -> None:
    if folder.exists():
        raise BackupError(f"{folder} is there already: give a folder that is not.")


def _files(source: Path) -> Iterator[Path]:
    """What a backup of the home has, relative to it, in the order in which it is copied.

    Each folder is listed when its turn comes: what was added while others were copied is in it.
    """
    rest = sorted(each.name for each in source.iterdir() if each.name not in (*ORDER, *FETCHED))
    for name in (*ORDER, *rest):
        path = source / name
        if path.is_dir():
            found = (each.relative_to(source) for each in path.rglob("*") if each.is_file())
            yield from sorted((each for each in found if _belongs(each)), key=_place)
        elif path.is_file() and _belongs(Path(name)):
            yield Path(name)


def _belongs(path: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.parts)
    return not hidden and not path.name.endswith(_BESIDE)


def _place(path: Path) -> tuple[int, bool, str]:
    """Dagster's index of runs comes before the file of each run."""
    return len(path.parts), path.name != "index.db", path.as_posix()


def _copy(source: Path, target: Path, path: Path) -> int:
    """Copy one file as it is at one moment; its size."""
    here, there = source / path, target / path
    there.parent.mkdir(parents=True, exist_ok=True)
    if path == Path(home.warehouse_path().name):
        Warehouse(here).copy_to(there)
    elif home.images_path().name in path.parts[:-1]:
        _link(here, there)
    elif _is_sqlite(here):
        copy_sqlite(here, there)
    else:
        shutil.copyfile(here, there)
    return there.stat().st_size


def _link(here: Path, there: Path) -> None:
    """A second name for a file that never changes; a copy where the file system has no such thing."""
    try:
        os.link(here, there)
    except OSError:
        shutil.copyfile(here, there)


def _is_sqlite(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE
