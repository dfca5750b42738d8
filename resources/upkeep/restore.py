"""Restore of a workspace from a backup."""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from methods.naming import listed
from resources.files import home
from resources.files.atomic import draft_folder
from resources.files.bounded import file_hash, read_file
from resources.llm.ledger.file import BATCH_WAITS
from resources.stores.foreign_code import declare_code_of_file
from resources.stores_of_home import SQLITE, require_upgradable_stores
from resources.upkeep.backup_contents import (
    MANIFEST,
    NOT_BACKED_UP,
    WAREHOUSE,
    BackupError,
    BackupFile,
    Manifest,
    changed_release_file,
    damage_of,
    in_one_sentence,
    is_backed_up,
    is_sqlite,
    link_or_copy,
    require_absent,
)
from resources.upkeep.cleaning import require_unused
from resources.warehouse.foreign_views import computed_tables, drop_foreign_views


class RestoreResult(NamedTuple):
    """What a restore did besides.

    Attributes:
        earlier: The new path of the earlier workspace; None if there was none.
        dropped: Macros, and views that read files, of the backup's tables, and undeclared triggers and
            views of its stores. They were not restored, since DuckDB and SQLite would run them with the
            rights of the user.
    """

    earlier: Path | None
    dropped: list[str]


def restore(
    backup: Path,
    target: Path,
    *,
    overwrite: bool = False,
    before_use: Callable[[Path], None] = lambda _folder: None,
) -> RestoreResult:
    """Restore a workspace from a backup.

    Args:
        backup: The backup.
        target: The workspace.
        overwrite: Whether an existing workspace is moved out of the way.
        before_use: Changes the restored files. Called with their folder before it gets the name of
            the workspace.

    Returns:
        The new path of the earlier workspace, and what was not restored.

    Raises:
        BackupError: The backup is damaged, or the workspace cannot be replaced.
        WorkspaceInUse: Processes work on the earlier workspace.
        StoreError: The backup is from a version that is too old to be upgraded.
    """
    failed = f"{target} was not restored from {backup}"
    with in_one_sentence(failed, target):
        if backup.is_relative_to(target):
            raise BackupError(
                f"{backup} is inside the workspace {target}: move it to another folder first."
            )
        files = _files(backup)
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
                if damage := damage_of(draft / name, Path(name)):
                    raise BackupError(
                        f"{backup / name} is damaged ({damage}), and nothing was restored: take "
                        "another backup."
                    )
            require_upgradable_stores(backup)
            dropped = [*_without_foreign_views(draft, backup), *_without_foreign_code(draft, files)]
            if changed := changed_release_file(draft, files):
                raise BackupError(
                    f"{backup / changed} has other content than was written, and nothing was restored: "
                    "give an earlier backup."
                )
            before_use(draft)
            os.sync()
            earlier = None
            if occupied:
                earlier = target.with_name(
                    f"{target.name}.before-{datetime.now(UTC):%Y%m%d-%H%M%S}"
                )
                require_absent(earlier)
                # A process that opened the workspace meanwhile would write into the earlier one.
                require_unused(target)
                target.rename(earlier)
    return RestoreResult(earlier, dropped)


def _files(backup: Path) -> dict[str, BackupFile]:
    """Return the files to restore by name. Raises BackupError if one is missing or has another size, or
    if the manifest has a name that `back_up` does not write: it could escape the other checks.
    """
    if not backup.exists():
        raise BackupError(
            f"There is no {backup}: give a folder that `vlm-loom workspace backup` made."
        )
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
    files = {}
    for name, file in manifest.files.items():
        relative = Path(name)
        is_plain = relative.as_posix() == name and not relative.is_absolute() and "\0" not in name
        if not is_plain or not is_backed_up(relative):
            raise BackupError(
                f"{backup / MANIFEST} was not written by `vlm-loom workspace backup`, which has no "
                f"file {name!r} in a backup: give a backup that it made."
            )
        if name.partition("/")[0] in NOT_BACKED_UP:
            continue
        path = backup / name
        linked = path.resolve() != backup.resolve() / name
        if linked or not path.is_file() or path.stat().st_size != file.n_bytes:
            raise BackupError(
                f"{backup} is not as it was made, as {name} is missing, a link or of another size: "
                "give an earlier backup."
            )
        files[name] = file
    return files


def _without_foreign_views(draft: Path, backup: Path) -> list[str]:
    """Drop foreign views of the restored tables, and return them. Raises BackupError if a declared
    table is a view or has a generated column.
    """
    tables = draft / WAREHOUSE
    if not tables.exists():
        return []
    if computed := computed_tables(tables):
        raise BackupError(
            f"{backup / WAREHOUSE} has views or generated columns in place of stored tables "
            f"({listed(computed)}), and nothing was restored: give an earlier backup."
        )
    return drop_foreign_views(tables)


def _without_foreign_code(draft: Path, names: Iterable[str]) -> list[str]:
    """Drop undeclared triggers and views of the restored SQLite files, and return them."""
    files = [name for name in names if is_sqlite(draft / name, Path(name))]
    return [
        f"{code} of {name}"
        for name in files
        for code in declare_code_of_file(draft / name, SQLITE.get(name))
    ]


def forget_waiting_runs(folder: Path) -> list[str]:
    """Forget which runs of an unused workspace wait for batches of model calls; return their ids.

    No sensor starts them again.
    """
    ledger = folder / home.ledger_path().name
    if not ledger.exists():
        return []
    with closing(sqlite3.connect(ledger)) as connection, connection:
        present = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
        if not connection.execute(present, (BATCH_WAITS.name,)).fetchone():
            return []
        deleted = connection.execute(f"DELETE FROM {BATCH_WAITS.name} RETURNING run")
        return sorted({run for (run,) in deleted})


def _put_back(backup: Path, target: Path, path: Path, sha256: str) -> None:
    """Copy one file of a backup, which nobody writes. Raises BackupError if it has changed."""
    copy, target_file = backup / path, target / path
    target_file.parent.mkdir(parents=True, exist_ok=True)
    if home.images_path().name in path.parts[:-1]:
        link_or_copy(copy, target_file)
    else:
        shutil.copyfile(copy, target_file)
    if file_hash(target_file) != sha256:
        raise BackupError(
            f"{copy} does not have the bytes that were backed up: give an earlier backup."
        )
