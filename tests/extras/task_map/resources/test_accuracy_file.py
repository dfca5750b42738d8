"""A table of accuracies by task: what is read, and each fault by its line."""

from pathlib import Path

import pytest

from extras.task_map.resources.accuracy_file import AccuracyFileError, read_accuracies


def written(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "accuracy.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "has no column task"),
        ("task,score\na,1\n", "has no column accuracy"),
        ("task,accuracy\n", "has no line below its first one"),
        ("task,accuracy\na,1\n,2\n", "Line 3 of .* has no task name"),
        ("task,accuracy\na,1\na,2\n", "Line 3 of .* repeats the task a"),
        ("task,accuracy\na,high\n", "Line 2 of .* has the accuracy 'high', which is not a number"),
        ("task,accuracy\na,nan\n", "has the accuracy 'nan', which is not a number"),
        ('task,accuracy\n"a,1\nb,2\n', "the quote that opens on line 2 .* --quoting none"),
        (b"\xff\xfe\x00", "cannot be read as CSV"),
    ],
)
def test_a_fault_is_named(tmp_path: Path, text: str | bytes, why: str) -> None:
    with pytest.raises(AccuracyFileError, match=why):
        read_accuracies(written(tmp_path, text))
