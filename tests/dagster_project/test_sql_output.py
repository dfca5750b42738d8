"""Results as CSV and JSON: every type comes back as the value it was, and texts as they were."""

import csv
import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dagster_project.cli import main as loom
from dagster_project.sql_output import csv_of, json_of
from methods.errors import UserError

BIG = 2**127 - 1
VALUES: list[tuple[str, str, Any]] = [
    ("NULL", "", None),
    ("''", "", ""),
    ("'a,\"b\"' || chr(13) || chr(10) || 'c'", 'a,"b"\r\nc', 'a,"b"\r\nc'),
    ("'NULL'", "NULL", "NULL"),
    ("chr(27) || '[31m' || chr(8238)", "\x1b[31m\u202e", "\x1b[31m\u202e"),
    ("true", "true", True),
    (f"{BIG}::HUGEINT", str(BIG), BIG),
    ("1.10::DECIMAL(10, 2)", "1.10", Decimal("1.10")),
    ("9999999999999999.99::DECIMAL(18, 2)", "9999999999999999.99", Decimal("9999999999999999.99")),
    ("0.1::DOUBLE", "0.1", Decimal("0.1")),
    ("'nan'::DOUBLE", "nan", "nan"),
    ("DATE '2024-02-29'", "2024-02-29", "2024-02-29"),
    ("TIMESTAMP '2024-02-29 01:02:03.5'", "2024-02-29 01:02:03.5", "2024-02-29 01:02:03.5"),
    ("INTERVAL 1 MONTH", "1 month", "1 month"),
    ("'\\xFF'::BLOB", "\\xFF", "\\xFF"),
    ("['a,b', NULL, '\"']", '["a,b", null, "\\""]', ["a,b", None, '"']),
    ("[DATE '2024-01-01']", '["2024-01-01"]', ["2024-01-01"]),
    ("{'x': 1.50, 'y': [1]}", '{"x": 1.50, "y": [1]}', {"x": Decimal("1.50"), "y": [1]}),
    ("MAP {1: 'a'}", '{"1": "a"}', {"1": "a"}),
]
"""SQL of a value, its field in CSV, its value in JSON."""


@pytest.mark.parametrize(("sql", "field", "value"), VALUES, ids=[sql for sql, _, _ in VALUES])
def test_a_value_is_what_it_was(sql: str, field: str, value: object) -> None:
    with duckdb.connect() as connection:
        result = connection.sql(f"SELECT {sql} AS v, 1 AS n")
        as_csv, as_json = "".join(csv_of(result)), "".join(json_of(result))
    assert [*csv.reader(io.StringIO(as_csv, newline=""))] == [["v", "n"], [field, "1"]]
    assert json.loads(as_json, parse_float=Decimal) == [{"v": value, "n": 1}]


def test_csv_has_the_lines_of_rfc_4180_and_tells_null_from_an_empty_text() -> None:
    with duckdb.connect() as connection:
        lines = [*csv_of(connection.sql("SELECT NULL AS a, '' AS \"b,c\", 'd' AS a"))]
    assert lines == ['a,"b,c",a\r\n', ',"",d\r\n']


def test_json_is_one_array_whatever_the_number_of_rows() -> None:
    with duckdb.connect() as connection:
        for n_rows in (0, 1, 2_500):
            text = "".join(json_of(connection.sql(f"SELECT range AS n FROM range({n_rows})")))
            assert json.loads(text) == [{"n": number} for number in range(n_rows)]
        with pytest.raises(UserError, match="Two columns of the result are called a"):
            [*json_of(connection.sql("SELECT 1 AS a, 2 AS a"))]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT 1; SELECT 2", "--format csv writes the result of one query, but there are 2"),
        ("SELECT nothing", "nothing"),
        ("COPY (SELECT 1) TO 'x'", "The tables are read-only here"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(
    empty_tables: Path, loom_home: Path, capsys: pytest.CaptureFixture[str], query: str, said: str
) -> None:
    loom_home.mkdir()
    (loom_home / "warehouse.duckdb").write_bytes(empty_tables.read_bytes())
    assert loom(["sql", "--format", "csv", query]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and said in printed.err
    assert loom(["sql", "--format", "csv", "SELECT 1 AS n"]) == 0
    assert capsys.readouterr().out == "n\r\n1\r\n"
