"""Imported predictions: answers from a file that are scored like those of any other model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from assets.common.tables import table_spec, write_rows
from assets.evaluate.released import items_of
from assets.release import releases
from methods.benchmarks import BENCHMARKS, benchmarks_with_predictions
from methods.delimited import Quoting
from methods.evaluation.asking import AskingLimits
from methods.evaluation.candidates import FILE
from methods.evaluation.predictions import (
    REASONS,
    PredictionError,
    PredictionKey,
    Predictions,
    predictions_of,
)
from methods.exports.conversations import TRIAL, NamedPositions
from methods.ids import content_id
from methods.json_text import is_unicode
from methods.release_card import benchmark_of
from resources.files.bounded import file_hash
from resources.importing.answer_files import read_rows, submitted_files
from resources.publishing.releases import cards_of, release_meant
from resources.settings.prompts import prompt
from resources.warehouse import Warehouse

TABLE, FILES = "evaluate.predictions", "evaluate.prediction_files"
ANSWERED = ("evaluate.answers", "evaluate.extractions", "evaluate.failed", "evaluate.missing")
"""Tables with rows derived from predictions, which are removed with them."""
MOST_NAME = 80
"""Longest name of imported predictions, in characters."""

predictions = table_spec(
    TABLE,
    kinds={"file"},
    side_tables=[FILES],
    deps=[releases],
    description="Predictions that were made elsewhere, as the job `import_predictions` took them from "
    "files. They take part in `evaluate/answers` as `file:<model>`.",
)


class PredictionsImport(NamedTuple):
    """The result of importing a file of predictions."""

    release_id: str
    model: str
    predictions: Predictions
    n_lacking: int
    """Number of items without a prediction in the file."""
    n_held_out: int
    """Number of items whose right answer is not in this workspace."""
    before: str | None
    """The name of the file that was imported before under the same name, if there was one."""
    same: bool
    """Whether that file had the same predictions."""

    def sentences(self) -> str:
        """Return a message for the user, with all counts."""
        sentences = [
            f"{self.model} has predictions for {self.predictions.n_items} items of {self.release_id}, "
            f"from {self.predictions.n_rows} records."
        ]
        if self.before is not None:
            sentences.append(
                "They were here already, and nothing changes."
                if self.same
                else f"They replace those of {self.before}."
            )
        sentences += [
            f"{n} records are {REASONS[reason]}."
            for reason, n in sorted(self.predictions.counts.items())
        ]
        if self.n_lacking:
            sentences.append(f"{self.n_lacking} items have no prediction and get the lowest score.")
        if self.n_held_out:
            sentences.append(f"{self.n_held_out} items have no answer here, and are not scored.")
        return " ".join(sentences)


def import_predictions(
    warehouse: Warehouse, release: str, file: Path, model: str, quoting: Quoting = "checked"
) -> PredictionsImport:
    """Import a file of predictions on a release.

    Importing the same predictions again changes nothing; other predictions under the same name replace
    the earlier ones.

    Args:
        warehouse: The tables.
        release: The id or name of the release, or the beginning of its id.
        file: The file; or a folder for MMIU's scorer, as `result export --as submission` writes it.
        model: The name of the model.
        quoting: How the quotes of a CSV or TSV are read.

    Returns:
        The result, with counts.

    Raises:
        UserError: The file cannot be imported; nothing is changed.
    """
    name = find_candidate(model)
    release_id = release_meant(warehouse, release)
    (card,) = cards_of(warehouse, [release_id])
    benchmark = BENCHMARKS.get(benchmark_of(card) or "")
    forms = None if benchmark is None else benchmark.predictions
    rows = read_rows(file, quoting, name.removeprefix(f"{FILE}:"))
    if forms is None and not any(row.cells.get(TRIAL) for row in rows):
        raise PredictionError(
            f"{release_id} is not a release that such predictions are imported for: those of "
            f"{', '.join(benchmarks_with_predictions())} are; for others give the log of a task that "
            "vlm-loom release export --as inspect-ai or lmms-eval made."
        )
    items = items_of(warehouse, release_id)
    try:
        brought = predictions_of(
            NamedPositions(benchmark, forms, AskingLimits(prompt=prompt)), items, rows
        )
    except PredictionError as error:
        raise PredictionError(f"{file} cannot be imported for {release_id}: {error}") from None
    before = _files(warehouse).get((release_id, name))
    model_key = {"release_id": release_id, "model": name}
    tables = {
        TABLE: [{**model_key, **row} for row in _rows(brought.texts)],
        FILES: [
            {
                **model_key,
                "content_hash": brought.content_hash,
                "file": file.name,
                "sha256": _hash(file, name.removeprefix(f"{FILE}:")),
                "n_rows": brought.n_rows,
                "n_items": brought.n_items,
                "counts": sorted(brought.counts.items()),
            }
        ],
    }
    write_rows(warehouse, tables, model_key)
    return PredictionsImport(
        release_id,
        name,
        brought,
        len(items) - brought.n_items,
        sum(not item.turns[-1].references for item in items),
        before["file"] if before else None,
        before is not None and before["content_hash"] == brought.content_hash,
    )


def remove_predictions(warehouse: Warehouse, release: str, model: str) -> str:
    """Remove imported predictions and the rows derived from them.

    Scores and reports contain them until the next run.

    Args:
        warehouse: The tables.
        release: The id or name of the release, or the beginning of its id.
        model: The name of the model.

    Returns:
        The id of the release.

    Raises:
        PredictionError: There are no such predictions; nothing is changed.
    """
    name = find_candidate(model)
    release_id = release_meant(warehouse, release)
    files = _files(warehouse)
    if (release_id, name) not in files:
        there_are = (
            ", ".join(other for on_release, other in files if on_release == release_id) or "none"
        )
        raise PredictionError(
            f"There are no predictions of {name} on {release_id}; there are {there_are}."
        )
    model_key = {"release_id": release_id, "model": name}
    write_rows(warehouse, dict.fromkeys((TABLE, FILES, *ANSWERED), []), model_key)
    return release_id


def imported_releases(warehouse: Warehouse) -> list[str]:
    """Return the ids of the releases with imported predictions."""
    return sorted({release_id for release_id, _ in _files(warehouse)})


def imported_hashes(warehouse: Warehouse) -> dict[tuple[str, str], str]:
    """Return a hash of the imported predictions for each (release id, candidate)."""
    return {place: row["content_hash"] for place, row in _files(warehouse).items()}


def imported_texts(warehouse: Warehouse, release_id: str) -> dict[str, dict[PredictionKey, str]]:
    """Read the imported predictions on a release.

    Args:
        warehouse: The tables.
        release_id: The release.

    Returns:
        The texts by candidate, then by item, trial and turn.
    """
    texts: dict[str, dict[PredictionKey, str]] = {}
    stored = warehouse.select(
        "evaluate.predictions", order="model, item_id, trial, turn", release_id=release_id
    )
    for row in stored.to_pylist():
        place = PredictionKey(row["item_id"], row["trial"], row["turn"])
        texts.setdefault(row["model"], {})[place] = row["prediction"]
    return texts


def find_candidate(model: str) -> str:
    """Return the candidate `file:<model>` for a name that the user gave. Raises PredictionError."""
    name = model.removeprefix(f"{FILE}:").strip()
    if not name or len(name) > MOST_NAME or not name.isprintable() or not is_unicode(name):
        raise PredictionError(
            f"{ascii(model[:MOST_NAME])} is not a valid name for predictions: give the name of the "
            "model, with up to "
            f"{MOST_NAME} characters."
        )
    return f"{FILE}:{name}"


def _hash(file: Path, model: str) -> str:
    """Return the SHA-256 of a file, or for a folder a hash of all hashes of the model's files."""
    if file.is_dir():
        return content_id([file_hash(each) for each in submitted_files(file, model)])
    return file_hash(file)


def _files(warehouse: Warehouse) -> dict[tuple[str, str], dict[str, Any]]:
    rows = warehouse.select("evaluate.prediction_files", order="release_id, model").to_pylist()
    return {(row["release_id"], row["model"]): row for row in rows}


def _rows(texts: Mapping[PredictionKey, str]) -> list[dict[str, Any]]:
    return [{**place._asdict(), "prediction": text} for place, text in sorted(texts.items())]
