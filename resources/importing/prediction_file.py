"""Reading files of predictions, such as other evaluation tools write.

What belongs here: which columns are read. Opening the file is `record_file.py`; what the records are
of is `methods/evaluation/predictions.py`.
"""

from pathlib import Path

from methods.choice.lettered import LETTERS
from methods.delimited import Quoting
from methods.evaluation.cells import Row
from methods.evaluation.predictions import COLUMNS, PredictionError
from methods.evaluation.published import PublishedError
from methods.evaluation.sample_logs import as_predictions, of_sample
from methods.json_text import storable
from resources.importing.record_file import read_records
from resources.importing.sample_log_file import read_samples

LOG = ".eval"

KEPT = frozenset(
    (
        *COLUMNS,
        *("index", "g_index", "item_id", "trial", "turn", "question_id", "id", "task", "options"),
        *LETTERS,
    )
)
"""Columns that say what a row is of and what was predicted; others, such as images, are not kept."""


def read_rows(file: Path, quoting: Quoting = "checked") -> list[Row]:
    """The records of `file` with the columns that are needed; raises PredictionError.

    A log of samples of lmms-eval (.jsonl) or inspect_ai (.eval) has what its task was exported with.
    `quoting` is how the quotes of a CSV or TSV are read.
    """
    try:
        if file.suffix.lower() == LOG:
            return _of_log(file)
        return read_records(file, KEPT, COLUMNS, as_predictions, quoting)
    except PublishedError as error:
        raise PredictionError(f"{file} cannot be imported: {error}.") from None


def _of_log(file: Path) -> list[Row]:
    found = [record for sample in read_samples(file) for record in of_sample(sample)]
    if not found:
        raise PublishedError("it has no samples")
    return [
        Row(f"record {number}", {name: storable(text) for name, text in record.items()})
        for number, record in enumerate(found, start=1)
    ]
