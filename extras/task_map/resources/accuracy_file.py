"""Reads a table of accuracies by task after fine-tuning."""

import math
from collections.abc import Iterator
from pathlib import Path

from methods.delimited import DelimitedError, Quoting, TableRow, rows_of
from methods.errors import UserError
from resources.files.bounded import open_text

COLUMNS = ("task", "accuracy")


class AccuracyFileError(UserError):
    """The file is not a table of accuracies; the message names the line."""


def read_accuracies(path: Path, quoting: Quoting = "checked") -> dict[str, float]:
    """Read the accuracy of each task from a CSV, on any scale; other columns are ignored.

    Args:
        path: The file.
        quoting: How the quotes of the file are read.

    Raises:
        AccuracyFileError: The file cannot be read, or a line is wrong.
    """
    try:
        with open_text(path, "utf-8-sig", newline="") as file:
            rows = rows_of(file, ",", quoting)
            header = next(rows, TableRow(1, [])).cells
            lacking = [name for name in COLUMNS if name not in header]
            if lacking:
                raise AccuracyFileError(
                    f"{path} has no column {lacking[0]}: its first line must name task and accuracy."
                )
            return _accuracies(path, header, rows)
    except (OSError, UnicodeDecodeError, DelimitedError) as error:
        raise AccuracyFileError(f"{path} cannot be read as CSV ({error}).") from None


def _accuracies(path: Path, header: list[str], rows: Iterator[TableRow]) -> dict[str, float]:
    accuracies: dict[str, float] = {}
    for line, cells in rows:
        if not cells:
            continue
        row = dict(zip(header, cells, strict=False))
        task, accuracy = row.get("task", "").strip(), row.get("accuracy", "")
        where = f"Line {line} of {path}"
        if not task:
            raise AccuracyFileError(f"{where} has no task name.")
        if task in accuracies:
            raise AccuracyFileError(f"{where} repeats the task {task}: give each task one line.")
        try:
            accuracies[task] = float(accuracy)
        except ValueError:
            accuracies[task] = math.nan
        if not math.isfinite(accuracies[task]):
            raise AccuracyFileError(
                f"{where} has the accuracy {accuracy!r}, which is not a number."
            )
    if not accuracies:
        raise AccuracyFileError(
            f"{path} has no line below its first one: give a line for each task."
        )
    return accuracies
