"""Indexes that went through a column of floats."""

import pytest

from methods.evaluation.cells import FileRow
from methods.evaluation.indexes import known_id, whole_id, whole_index
from methods.evaluation.published import PublishedError


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("1", "1"),
        (" 1.0 ", "1"),
        ("1000001.0", "1000001"),
        ("1.000001e+06", "1000001"),
        ("1.0E+6", "1000000"),
        ("1e+06", "1000000"),
        ("0000001", "1"),
        ("000", "0"),
        ("-1.0", "-1"),
        ("", ""),
        ("d7", "d7"),
        ("v1.0", "v1.0"),
        ("12e45678", "12e45678"),
        ("1.0.0", "1.0.0"),
    ],
)
def test_a_whole_number_is_read_as_such(text: str, read: str) -> None:
    assert whole_index("record 1", "index", text) == read


@pytest.mark.parametrize("text", ["1.5", "1.5e-05", "1e-2", "1.2345678901234567e+18"])
def test_another_number_is_refused_by_its_row(text: str) -> None:
    with pytest.raises(PublishedError) as caught:
        whole_index("record 3", "index", text)
    assert str(caught.value) == f"record 3: its index '{text}' is not a whole number"


def test_an_id_stays_as_it_is_but_for_a_float() -> None:
    assert [whole_id("r", "id", text) for text in ("007", " a", "7.0")] == ["007", " a", "7"]


def test_a_known_id_is_that_id() -> None:
    row = FileRow("record 1", {"item": "1.50", "id": "2.0"})
    assert known_id(row, "item", {"1.50"}) == "1.50"
    assert known_id(row, "id", {"2"}) == "2"
    with pytest.raises(PublishedError):
        known_id(row, "item", {"1"})
