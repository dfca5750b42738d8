"""Commands on a whole workspace: back up, restore, check the ledger, clean."""

from datetime import datetime
from pathlib import Path

from dagster_project.restored_runs import end_restored_runs
from methods.errors import UserError, printable
from methods.naming import listed
from resources.files import home
from resources.files.atomic import write_atomically
from resources.llm.ledger.check import LedgerCheckResult, check_all, keys_of_calls
from resources.store_damage import sqlite_log_damage
from resources.stores.address import shown_database
from resources.stores_of_home import lost_calls_sentence
from resources.upkeep.backup import back_up
from resources.upkeep.cleaning import clean, require_unused
from resources.upkeep.restore import restore
from resources.warehouse.absent_files import n_absent_calls


def back_up_home(to: Path | None) -> tuple[str, bool]:
    """Back up the workspace.

    Args:
        to: The new folder; by default backups/<time> next to the workspace.

    Returns:
        A message, and whether the backup has all files that the tables name.

    Raises:
        UserError: The workspace cannot be backed up.
        OSError: The backup cannot be written.
    """
    folder = home.home()
    target = (to or folder.parent / "backups" / f"{datetime.now():%Y%m%d-%H%M%S}").resolve()
    backup = back_up(folder, target)
    message = (
        f"Backed up {folder}: {backup.n_files} files in {target}\nEvery table, image and file of a "
        "release in it was read and is sound."
    )
    if backup.absent:
        message += (
            f"\nNOT IN IT, as {folder} lacks them: {', '.join(backup.absent)}. Keep an earlier backup "
            "that has them; vlm-loom run build makes images, tables and releases again, of which some "
            "may differ, and the answers of calls have to be paid for again."
        )
    if backup.left_out:
        message += (
            f"\nLeft out, as they are not regular files of the workspace: {len(backup.left_out)} "
            f"({listed(backup.left_out)})."
        )
    if shown := shown_database():
        message += (
            f"\nThe stores on {shown} are not in it and were not checked: back them up with pg_dump, "
            "which reads every row, now."
        )
    return message, not backup.absent


def restore_home(source: Path, overwrite: bool) -> str:
    """Restore the workspace from a backup.

    Args:
        source: The backup.
        overwrite: Whether to move an existing workspace out of the way.

    Returns:
        The message to print.

    Raises:
        UserError: The backup cannot be restored.
    """
    folder, shown = home.home(), shown_database()
    ended: list[str] = []

    def prepare(restored: Path) -> None:
        named = restored / home.stores_database_path().name
        if shown and named.exists():
            # A copy in another database must not go on in that of the original.
            write_atomically(named, f"{shown}\n".encode())
        ended.extend(end_restored_runs(restored))

    earlier, dropped = restore(source.resolve(), folder, overwrite=overwrite, before_use=prepare)
    message = f"Restored {folder} from {source.resolve()}"
    if shown:
        message += (
            f"\nThe stores on {shown} are as they were: pg_restore puts a dump of pg_dump back."
        )
    elif home.review_path().exists():
        message += (
            "\nThe review app has the accounts of the backup, and its sessions stay signed in: "
            "vlm-loom review account list lists them."
        )
    if dropped:
        message += (
            "\nNot restored, as vlm-loom does not make them and they could read or change anything: "
            f"{listed(dropped)}. Create those again that you need."
        )
    if ended:
        message += f"\n{printable(' '.join(ended))}"
    if earlier:
        message += f"\nThe earlier workspace is {earlier}: remove it when you do not need it."
    return message


def check_ledger() -> str:
    """Check the ledger and return a message. Raises UserError if it is damaged."""
    path, findings = home.ledger_path(), _findings()
    if findings.wrong:
        for fault in findings.wrong:
            print(fault)
        raise UserError(
            f"{path} is damaged: put a backup back (`vlm-loom workspace restore`). What was "
            "answered since "
            "the backup is asked and paid for again."
        )
    if n_absent := n_absent_calls(home.warehouse_path(), keys_of_calls(path)):
        raise UserError(f"{path} {lost_calls_sentence(n_absent)}")
    return f"{path} is sound: {findings.n_calls} calls and {findings.n_charges} charges."


def _findings() -> LedgerCheckResult:
    if shown := shown_database():
        raise UserError(
            f"The ledger is on {shown}, which checks it itself: pg_dump reads all of it, and a dump is "
            "put back by pg_restore."
        )
    if not home.ledger_path().exists():
        if n_absent := n_absent_calls(home.warehouse_path(), frozenset()):
            raise UserError(
                f"There is no ledger at {home.ledger_path()}: the workspace "
                f"{lost_calls_sentence(n_absent)}"
            )
        raise UserError(
            f"There is no ledger at {home.ledger_path()}: one is made when models are first asked. If "
            "you have one in another workspace, name that with --workspace or LOOM_WORKSPACE."
        )
    require_unused(home.home())
    # Checked before the file is opened, as SQLite then discards the damaged part of its log.
    if lost := sqlite_log_damage(home.ledger_path()):
        return LedgerCheckResult(0, 0, [lost])
    return check_all(home.ledger_path())


def clean_home(everything: bool) -> str:
    """Remove files that can be made again, or the whole workspace, and return a message.

    Raises UserError.
    """
    removed, kept_names = clean(home.home(), everything=everything)
    message = f"Removed from {home.home()}: {', '.join(removed) or 'nothing'}."
    if kept_names and everything:
        message += f"\nKept, as vlm-loom does not make it: {', '.join(kept_names)}."
    elif kept_names:
        message += (
            f"\nKept, as it cannot be made again: {', '.join(kept_names)} (--all removes it, too)."
        )
    if shown := shown_database():
        message += f"\nThe stores on {shown} stay: pg_dump keeps what DROP SCHEMA would remove."
    return message
