"""Reading files of scores that people gave.

What belongs here: which columns are read. Opening the file is `record_file.py`; what the records are
of is `methods/evaluation/human_scores.py`.
"""

from pathlib import Path

from methods.delimited import Quoting
from methods.evaluation.cells import Row
from methods.evaluation.human_scores import COLUMNS, HumanScoresError
from methods.evaluation.published import PublishedError
from resources.importing.record_file import read_records


def read_rows(file: Path, quoting: Quoting = "checked") -> list[Row]:
    """The records of `file` with the columns that are needed; raises HumanScoresError.

    `quoting` is how the quotes of a CSV or TSV are read.
    """
    try:
        return read_records(file, COLUMNS, COLUMNS, quoting=quoting)
    except PublishedError as error:
        raise HumanScoresError(f"{file} cannot be imported: {error}.") from None
