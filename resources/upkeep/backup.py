"""Backup and restore of a workspace; it may be in use during a backup.

References are copied before their targets: Dagster's events refer to tables, and tables to calls,
decisions, images and releases. All of these only grow, so targets that are copied later are complete.
"""

import os
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from resources.exports.folder import EXPORT_AGAIN
from resources.exports.folder import MANIFEST as EXPORT_MANIFEST
from resources.files import home
from resources.files.atomic import draft_folder
from resources.files.bounded import file_hash
from resources.llm.ledger import check as ledger_check
from resources.publishing.release_folder import REWRITE
from resources.stores.address import database
from resources.upkeep.backup_contents import (
    MANIFEST,
    NOT_BACKED_UP,
    WAREHOUSE,
    BackupError,
    BackupFile,
    DamagedFile,
    Manifest,
    changed_release_file,
    damage_of,
    in_one_sentence,
    is_backed_up,
    is_sqlite,
    link_or_copy,
    require_absent,
)
from resources.upkeep.cleaning import held_open
from resources.upkeep.live_copies import copy_live_sqlite, copy_warehouse, require_whole
from resources.warehouse.absent_files import absent_files
from resources.warehouse.lake_connection import lake_address

ORDER = (
    "dagster",
    "warehouse.duckdb",
    "review.sqlite",
    "image_index.sqlite",
    "ledger.sqlite",
    "images",
)
"""The order of copying: each entry may refer to later ones. Other files, copied last, refer to none."""
_IMAGE_ID = re.compile(r"[0-9a-f]{64}")


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
    with (
        in_one_sentence(failed, target),
        held_open(source),
        draft_folder(target, "backing-up") as draft,
    ):
        require_absent(target)
        files: dict[str, BackupFile] = {}
        left_out: list[str] = []
        for path in _files(source, left_out):
            try:
                files[path.as_posix()] = _copy(source, draft, path)
            except FileNotFoundError:
                if (source / path).exists():
                    raise
            except PermissionError as error:
                raise BackupError(
                    f"{source / path} cannot be read ({error.strerror}): nothing was backed up. Change "
                    "its permissions, or move it out of the workspace."
                ) from error
            except DamagedFile as damage:
                raise BackupError(
                    f"{source / path} is damaged ({damage}): nothing was backed up, and earlier "
                    f"backups are as they were. {_advice(path)}"
                ) from damage
        if changed := changed_release_file(draft, files):
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
                if not is_backed_up(place) or (file.is_dir() and not file.is_symlink()):
                    continue
                if file.is_file() and file.resolve().is_relative_to(path.resolve()):
                    files.append(place)
                elif file.is_symlink() or file.exists():
                    left_out.append(place.as_posix())
            yield from sorted(files, key=_place)
        elif path.is_file() and is_backed_up(Path(name)):
            yield Path(name)


def _place(path: Path) -> tuple[int, bool, str]:
    """Sort key: Dagster's index of runs comes before the files of runs."""
    return len(path.parts), path.name != "index.db", path.as_posix()


def _copy(source: Path, target: Path, path: Path) -> BackupFile:
    """Copy one file, databases as a snapshot. Raises DamagedFile."""
    source_file, copy = source / path, target / path
    copy.parent.mkdir(parents=True, exist_ok=True)
    if path == WAREHOUSE:
        copy_warehouse(source_file, copy)
    elif home.images_path().name in path.parts[:-1]:
        link_or_copy(source_file, copy)
    elif is_sqlite(source_file, path):
        copy_live_sqlite(source_file, copy)
    else:
        shutil.copyfile(source_file, copy)
    require_whole(damage_of(copy, path))
    sha256 = file_hash(copy)
    is_image = home.images_path().name in path.parts[:-1] and _IMAGE_ID.fullmatch(path.stem)
    if is_image and sha256 != path.stem:
        raise DamagedFile("its bytes have another hash than its name")
    return BackupFile(n_bytes=copy.stat().st_size, sha256=sha256)


def _release_advice(copy: Path, name: str) -> str:
    return EXPORT_AGAIN if (copy / name).with_name(EXPORT_MANIFEST).exists() else REWRITE


def _advice(path: Path) -> str:
    if home.images_path().name in path.parts[:-1]:
        return "Put a sound copy in its place, or move it out of the workspace."
    return (
        "Restore a backup (vlm-loom workspace restore), or move it out of the workspace to go on "
        "without it."
    )
