"""The archive: models, judges and runs that are hidden in leaderboards, reports and exports.

Answers and judgments stay in their tables and in the ledger. The views `evaluate.shown_answers`,
`evaluate.shown_judgments`, `evaluate.shown_pairs`, `evaluate.shown_failed` and `evaluate.shown_missing`
leave out archived rows.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from assets.common.tables import rows_to_arrow, write_rows
from methods.errors import UserError
from methods.evaluation.candidates import is_file, model_of
from methods.naming import listed, nearest
from resources.llm.registry import Profile
from resources.warehouse import TableWrite, Warehouse

TABLE = "evaluate.archive"
ARCHIVED, LEFT, KEPT = "archived", "left the profile", "kept"
ANY = ""
"""In the columns model, judge and release, the empty text stands for all of them."""
Row = dict[str, Any]
Key = tuple[str, str, str]
"""Model, judge and release of a row."""


class ArchiveError(UserError):
    """The names match nothing to archive or restore; the message lists what exists."""


def archive(warehouse: Warehouse, model: str, judge: str, release_id: str, run: str) -> str:
    """Archive a model, a judge, a model under one judge, or the results of a run.

    Args:
        warehouse: The tables.
        model: A model with answers; empty for all. Its ablations are archived with it.
        judge: A judge with judgments; empty for all.
        release_id: The release on which it is archived; empty for all releases.
        run: The beginning of the id of a run whose calls gave answers or judgments; empty for all.

    Returns:
        A text that lists what is archived.

    Raises:
        ArchiveError: No name is given, or no results have these names.
    """
    keys = sorted(_named(warehouse, model, judge, release_id, run))
    _write(warehouse, {key: ARCHIVED for key in keys})
    return listed([_in_words(key) for key in keys])


def restore(
    warehouse: Warehouse, profile: Profile, model: str, judge: str, release_id: str, run: str
) -> str:
    """Show archived results again, or those of models and judges that left the profile.

    Args:
        warehouse: The tables.
        profile: The profile. Restored models and judges that it does not name are marked as kept, so
            that later runs do not hide them again.
        model: As in `archive`.
        judge: As in `archive`.
        release_id: As in `archive`.
        run: As in `archive`.

    Returns:
        A text that lists what is shown again.

    Raises:
        ArchiveError: No name is given, or nothing with these names is archived.
    """
    hidden = {
        (row["model"], row["judge"], row["release_id"])
        for row in warehouse.select(TABLE).to_pylist()
        if row["state"] != KEPT
    }
    if run or not (model or judge):
        restored = hidden & _named(warehouse, model, judge, release_id, run)
    else:
        restored = {
            key
            for key in hidden
            if (not model or model in (key[0], model_of(key[0])))
            and (not judge or judge == key[1])
            and (not release_id or release_id == key[2])
        }
    if not restored:
        there_are = listed(sorted(map(_in_words, hidden)))
        raise ArchiveError(f"Nothing of this name is archived; archived: {there_are}.")
    former = {key: KEPT for key in restored if _is_former(key, profile)}
    _write(warehouse, {key: former.get(key) for key in restored})
    return listed(sorted(map(_in_words, restored)))


def hide_former(warehouse: Warehouse, profile: Profile, candidates: Sequence[str]) -> None:
    """Hide models and judges with results that the profile no longer names.

    Args:
        warehouse: The tables.
        profile: The profile.
        candidates: Names of candidates that this run asks.
    """
    rows_before = warehouse.select(TABLE).to_pylist()
    decided = {_key(row) for row in rows_before if row["state"] != LEFT}
    models, judges = _models_and_judges(warehouse)
    former = {(model, ANY, ANY) for model in models if model not in candidates}
    former |= {(ANY, judge, ANY) for judge in judges}
    former = {key for key in former - decided if _is_former(key, profile)}
    if former != {_key(row) for row in rows_before if row["state"] == LEFT}:
        rows = [_row(key, LEFT) for key in sorted(former)]
        write_rows(warehouse, {TABLE: rows}, {"state": LEFT})


def archived_models(warehouse: Warehouse, release_id: str) -> set[str]:
    """Find the candidates that a user archived on a release; they are not asked on it.

    Args:
        warehouse: The tables.
        release_id: The release.

    Returns:
        Their names.
    """
    return {
        row["model"]
        for row in warehouse.select(TABLE, state=ARCHIVED, judge=ANY).to_pylist()
        if row["release_id"] in (ANY, release_id)
    }


def archived_judges(warehouse: Warehouse) -> set[str]:
    """Return the judges that a user archived on all releases; they are not asked."""
    rows = warehouse.select(TABLE, state=ARCHIVED, model=ANY, release_id=ANY)
    return {*rows["judge"].to_pylist()}


def kept_models(warehouse: Warehouse) -> set[str]:
    """Return the candidates that left the profile but were restored; they get no new judgments."""
    return {*warehouse.select(TABLE, "model", state=KEPT, judge=ANY)["model"].to_pylist()}


def _models_and_judges(warehouse: Warehouse) -> tuple[list[str], list[str]]:
    """Return the models that have answers, and the judges that have judgments."""
    models = warehouse.select("evaluate.answers", "model", distinct=True)["model"]
    judges = warehouse.select("evaluate.judgments", "judge", distinct=True)["judge"]
    return models.to_pylist(), judges.to_pylist()


def _named(warehouse: Warehouse, model: str, judge: str, release_id: str, run: str) -> set[Key]:
    """Return the keys of the archive rows for names that the user gave. Raises ArchiveError."""
    if not (model or judge or run):
        raise ArchiveError("Name a model (--model), a judge (--judge) or a run (--run).")
    models, judges = _models_and_judges(warehouse)
    names = [name for name in models if model and model in (name, model_of(name))]
    _require("model", model, models)
    _require("judge", judge, judges)
    if not run:
        return {(name, judge, release_id) for name in names or [ANY]}
    result_rows = warehouse.read("evaluate/made_in_run", {"run": run}).to_pylist()
    keys = {
        _key(row)
        for row in result_rows
        if (not model or row["model"] in names)
        and (not judge or row["judge"] == judge)
        and (not release_id or row["release_id"] == release_id)
    }
    if not keys:
        raise ArchiveError(
            f"No answer or judgment here was made by a call of the run {run}. ledger.calls has the run "
            "of each call; run the job ledger to bring it up to date."
        )
    return keys


def _require(kind: str, name: str, names: Iterable[str]) -> None:
    if name and name not in (sorted_names := sorted(names)):
        raise ArchiveError(f"No {kind} {name} has results here; {nearest(name, sorted_names)}.")


def _is_former(key: Key, profile: Profile) -> bool:
    """Tell whether the profile no longer names the model, or the judge if the key is of all models."""
    model, judge, _ = key
    if model:
        return not (model in profile.evaluate or is_file(model))
    return judge not in profile.judges


def _write(warehouse: Warehouse, states: dict[Key, str | None]) -> None:
    """Write the state of each key; None removes its row."""
    warehouse.replace_all(
        [
            TableWrite(
                TABLE,
                rows_to_arrow(TABLE, [_row(key, state)] if state else []),
                dict(zip(("model", "judge", "release_id"), key, strict=True)),
            )
            for key, state in states.items()
        ]
    )


def _key(row: Row) -> Key:
    return row["model"], row["judge"], row["release_id"]


def _row(key: Key, state: str) -> Row:
    model, judge, release_id = key
    return {"model": model, "judge": judge, "release_id": release_id, "state": state}


def _in_words(key: Key) -> str:
    model, judge, release_id = key
    what = model or "every model"
    by = f" under the judge {judge}" if judge else ""
    return f"{what}{by}{f' on {release_id}' if release_id else ''}"
