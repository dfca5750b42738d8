"""A table of accuracies by task, after fine-tuning: what is read, and what is refused."""

import csv
import math
from pathlib import Path

from methods.errors import UserError

COLUMNS = ("task", "accuracy")


class AccuracyFileError(UserError):
    """The file is not such a table; the message names the line."""


def read_accuracies(path: Path) -> dict[str, float]:
    """Accuracy by task, on whatever scale the file has; other columns do not matter.

    Raises AccuracyFileError.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = csv.DictReader(file)
            lacking = [name for name in COLUMNS if name not in (lines.fieldnames or ())]
            if lacking:
                raise AccuracyFileError(
                    f"{path} has no column {lacking[0]}: its first line must name task and accuracy."
                )
            return _accuracies(path, lines)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise AccuracyFileError(f"{path} cannot be read as CSV ({error}).") from None


def _accuracies(path: Path, lines: "csv.DictReader[str]") -> dict[str, float]:
    accuracies: dict[str, float] = {}
    for line in lines:
        task, accuracy = (line["task"] or "").strip(), line["accuracy"] or ""
        where = f"Line {lines.line_num} of {path}"
        if not task:
            raise AccuracyFileError(f"{where} names no task.")
        if task in accuracies:
            raise AccuracyFileError(f"{where} has {task} once more: give each task one line.")
        try:
            accuracies[task] = float(accuracy)
        except ValueError:
            accuracies[task] = math.nan
        if not math.isfinite(accuracies[task]):
            raise AccuracyFileError(f"{where} has the accuracy {accuracy!r}, which is no number.")
    if not accuracies:
        raise AccuracyFileError(
            f"{path} has no line below its first one: give a line for each task."
        )
    return accuracies
