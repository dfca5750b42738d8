"""Read files of predictions and of human scores, as other evaluation tools write them.

A log of inspect_ai (`.eval`) is a zip file with one JSON file for each sample. These are compressed
with zstd, which Python's `zipfile` does not support: Arrow decompresses them.
"""

import json
import struct
import zipfile
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from methods.choice.lettered import LETTERS
from methods.delimited import Quoting
from methods.evaluation.cells import FileRow
from methods.evaluation.human_scores import COLUMNS as SCORE_COLUMNS
from methods.evaluation.human_scores import HumanScoresError
from methods.evaluation.predictions import COLUMNS, PredictionError
from methods.evaluation.published import PublishedError
from methods.evaluation.sample_logs import as_predictions, of_sample
from methods.json_text import from_json, storable
from methods.naming import listed
from methods.results.submissions import file_name
from resources.files.bounded import first_unreadable, open_file, read_member
from resources.importing.record_file import limited_rows, read_records, require_small_members


def read_scores(file: Path, quoting: Quoting = "checked") -> list[FileRow]:
    """Read the records of a file of people's scores.

    Args:
        file: The file.
        quoting: How the quotes of a CSV or TSV are read.

    Raises:
        HumanScoresError: The file cannot be read, or a column is missing.
    """
    try:
        return read_records(file, SCORE_COLUMNS, SCORE_COLUMNS, quoting=quoting)
    except PublishedError as error:
        raise HumanScoresError(f"{file} cannot be imported: {error}.") from None


MOST_SAMPLE = 50_000_000
"""The most bytes of a sample, unpacked. Parsed JSON takes up to twenty times as much memory."""
SAMPLES = "samples/"
_ZSTD = 93
_HEADER = struct.Struct("<26xHH")


def read_samples(file: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the samples of an inspect_ai log, sorted by their names. Raises PublishedError."""
    try:
        with open_file(file) as data, zipfile.ZipFile(data) as archive:
            members = [info for info in archive.infolist() if info.filename.startswith(SAMPLES)]
            require_small_members(members, file.stat().st_size)
            for info in sorted(members, key=lambda info: info.filename):
                if info.file_size > MOST_SAMPLE:
                    raise PublishedError(
                        f"{ascii(info.filename[:200])} is more than {MOST_SAMPLE:,} bytes when unpacked"
                    )
                yield _sample(info.filename, _unpacked(archive, data, info))
    except OSError as error:
        raise PublishedError(f"it cannot be read ({error.strerror or error})") from None
    except (zipfile.BadZipFile, EOFError, ValueError, NotImplementedError, struct.error) as error:
        if isinstance(error, json.JSONDecodeError):
            raise PublishedError("a sample in it is not valid JSON") from None
        raise PublishedError("it is not an .eval file of inspect_ai, or it is damaged") from None


def _sample(name: str, text: bytes) -> Mapping[str, Any]:
    # The caller keeps no name for the sample, so that only one is in memory at a time.
    sample = from_json(text, most=None)
    if not isinstance(sample, dict):
        raise PublishedError(f"{name} is not a mapping")
    return sample


def _unpacked(archive: zipfile.ZipFile, data: IO[bytes], info: zipfile.ZipInfo) -> bytes:
    if info.compress_type != _ZSTD:
        return read_member(archive, info.filename, info.file_size)
    data.seek(info.header_offset)
    n_name, n_extra = _HEADER.unpack(data.read(_HEADER.size))
    data.seek(n_name + n_extra, 1)
    packed = pa.BufferReader(data.read(info.compress_size))
    with pa.CompressedInputStream(packed, "zstd") as stream:
        # The header may state a smaller size than the real one.
        unpacked: bytes = stream.read(info.file_size + 1)
    if len(unpacked) != info.file_size:
        raise ValueError("its size differs from the size in its header")
    return unpacked


LOG = ".eval"

KEPT = frozenset(
    (
        *COLUMNS,
        *("index", "g_index", "item_id", "trial", "turn", "question_id", "id", "task", "options"),
        *LETTERS,
    )
)
"""Columns that identify the item or have the prediction; others, such as images, are ignored."""


SUBMITTED = "metadata_info.json"
"""The file with the records of one task and model, in the folder that MMIU's own scorer reads."""


def submitted_files(folder: Path, model: str) -> list[Path]:
    """Find the files of one model in a submission to MMIU's scorer: `TASK/MODEL/metadata_info.json`.

    Args:
        folder: The folder of the submission.
        model: The name of the model. A folder may have it as a file name, with dashes at its end.

    Returns:
        The files of all tasks, in the order of their names.

    Raises:
        PredictionError: The folder has no such file, none of this model, or a link out of it.
    """
    files = sorted(folder.glob(f"*/*/{SUBMITTED}"))
    named = [file for file in files if file.parent.name.rstrip("-") == file_name(model).rstrip("-")]
    models = sorted({file.parent.name for file in files})
    if not named:
        there_are = (
            f"it has the models {listed(models)}: give the name of one of them"
            if models
            else "it has none"
        )
        raise PredictionError(
            f"{folder} cannot be imported: a folder has files TASK/MODEL/{SUBMITTED}, of which one "
            f"MODEL is {file_name(model)}; {there_are}."
        )
    if unreadable := first_unreadable(folder, named):
        file, why = unreadable
        raise PredictionError(f"{file} cannot be imported: it cannot be read ({why}).")
    return named


def read_rows(file: Path, quoting: Quoting = "checked", model: str = "") -> list[FileRow]:
    """Read predictions: the records of a file, with the columns that are needed.

    Logs of lmms-eval (.jsonl) and inspect_ai (.eval) contain the item ids from the exported
    task. A folder is a submission to MMIU's scorer, whose records have the answer in a
    field with the model's name.

    Args:
        file: The file, or the folder.
        quoting: How the quotes of a CSV or TSV are read.
        model: The name of the model, to find its files in a folder.

    Returns:
        The records in their order.

    Raises:
        PredictionError: The file or folder cannot be read.
    """
    if file.is_dir():
        return [
            row._replace(where=f"{answer_file.relative_to(file)}, {row.where}")
            for answer_file in submitted_files(file, model)
            for row in _of_submission(answer_file)
        ]
    try:
        if file.suffix.lower() == LOG:
            return _of_log(file)
        return read_records(file, KEPT, COLUMNS, as_predictions, quoting)
    except PublishedError as error:
        raise PredictionError(f"{file} cannot be imported: {error}.") from None


def _of_submission(file: Path) -> list[FileRow]:
    """Read the records of one task. Their right answers (`output`) are not used as predictions."""
    model = file.parent.name

    def as_prediction(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        fields = {name: value for name, value in record.items() if name not in COLUMNS}
        return [{**fields, COLUMNS[0]: record.get(model, "")}]

    try:
        return read_records(file, KEPT, COLUMNS, as_prediction)
    except PublishedError as error:
        raise PredictionError(f"{file} cannot be imported: {error}.") from None


def _of_log(file: Path) -> list[FileRow]:
    # Without a loop over the samples, which would keep a sample while the next one is read.
    records = chain.from_iterable(map(of_sample, read_samples(file)))
    converted = (
        FileRow(f"record {number}", {name: storable(text) for name, text in record.items()})
        for number, record in enumerate(records, start=1)
    )
    try:
        rows = limited_rows(converted, file.stat().st_size)
    except OSError as error:
        raise PublishedError(f"it cannot be read ({error.strerror or error})") from None
    if not rows:
        raise PublishedError("it has no samples")
    return rows
