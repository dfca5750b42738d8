"""Reading files of predictions, such as other evaluation tools write.

What belongs here: which columns are read. Opening the file is `record_file.py`; what the records are
of is `methods/evaluation/predictions.py`.
"""

from pathlib import Path

from methods.choice.lettered import LETTERS
from methods.evaluation.cells import Row
from methods.evaluation.predictions import COLUMNS, PredictionError
from methods.evaluation.published import PublishedError
from resources.reports.record_file import read_records

KEPT = frozenset(
    (*COLUMNS, "index", "g_index", "item_id", "question_id", "id", "task", "options", *LETTERS)
)
"""Columns that say what a row is of and what was predicted; others, such as images, are not kept."""


def read_rows(file: Path) -> list[Row]:
    """The records of `file` with the columns that are needed; raises PredictionError."""
    try:
        return read_records(file, KEPT, COLUMNS)
    except PublishedError as error:
        raise PredictionError(f"{file} cannot be imported: {error}.") from None
