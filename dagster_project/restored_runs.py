"""Ends what was under way in a restored instance of Dagster, so that no run starts by itself."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import dagster as dg

from dagster_project.instance import open_restored
from dagster_project.run_processes import UNFINISHED
from methods.errors import UserError
from methods.naming import listed
from resources.upkeep.restore import forget_waiting_runs

ENDED = "Canceled by vlm-loom workspace restore: the backup was made while this was not finished."
_OPEN = ("REQUESTED", "CANCELING", "FAILING")
"""The states of a backfill that is not finished."""


def end_restored_runs(folder: Path) -> list[str]:
    """End unfinished runs and backfills, and set schedules and sensors to their defaults.

    Args:
        folder: The restored workspace, which nobody uses.

    Returns:
        A sentence for each kind of what was ended or set to its default, and one on how to start it
        again; none if nothing was.

    Raises:
        UserError: Dagster cannot read the history, or it cannot be changed.
    """
    sentences = []
    if waiting := forget_waiting_runs(folder):
        sentences.append(f"No longer waiting for batches: runs {listed(waiting)}.")
    if (folder / "dagster").is_dir():
        try:
            with open_restored(folder / "dagster") as instance:
                sentences += _end_all(instance)
        # The rows are of another person, and Dagster has many exceptions for wrong ones.
        except Exception as error:
            reason = str(error).partition("\n")[0]
            raise UserError(
                f"Dagster's run history in the backup cannot be read ({reason}), and nothing was "
                "restored: give an earlier backup, or remove the files of dagster/ from the backup's "
                "folder and from its backup.json."
            ) from error
    if sentences:
        sentences.append(
            "Start them again, or turn them on, in the Dagster UI (vlm-loom ui: Runs, Automation)."
        )
    return sentences


def _end_all(instance: dg.DagsterInstance) -> list[str]:
    """End everything, and return a sentence for each kind of what was ended."""
    # Dagster names a run's file of events after the run.
    if strange := [run_id for run_id in instance.get_run_ids() if not _is_id(run_id)]:
        raise UserError(f"{strange[0]!r} is not an id of a run")
    runs = instance.get_runs(UNFINISHED)
    for run in runs:
        instance.report_run_canceled(run, ENDED)
    backfills = _open_backfills(instance)
    for backfill in backfills:
        instance.update_backfill(backfill.with_status(_backfill_status("CANCELED")))
    # Rows of one run or backfill may have the id of another.
    if instance.get_runs(UNFINISHED) or _open_backfills(instance):
        raise UserError("a run or a backfill has the id of another one")
    states = instance.all_instigator_state()
    changed = [state.name for state in states if state.status.value in ("RUNNING", "STOPPED")]
    # Also removes interrupted ticks, which would start the runs that they requested.
    instance.wipe_all_schedules()
    canceled = "Canceled, as not finished at the backup"
    names_of_kinds = {
        f"{canceled}: runs": [f"{run.job_name} {run.run_id}" for run in runs],
        f"{canceled}: backfills": [backfill.backfill_id for backfill in backfills],
        "Set to their defaults: schedules and sensors": changed,
    }
    return [f"{kind} {listed(names)}." for kind, names in names_of_kinds.items() if names]


def _is_id(run_id: str) -> bool:
    try:
        return str(UUID(run_id)) == run_id
    except ValueError:
        return False


def _open_backfills(instance: dg.DagsterInstance) -> list[Any]:
    statuses = map(_backfill_status, _OPEN)
    return [each for status in statuses for each in instance.get_backfills(status=status)]


def _backfill_status(name: str) -> Any:
    """Return a state of Dagster's backfills, from Dagster's storage format: the class is not public."""
    return dg.deserialize_value(json.dumps({"__enum__": f"BulkActionStatus.{name}"}))
