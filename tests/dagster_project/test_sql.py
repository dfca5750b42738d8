"""`vlm-loom sql`: a copy of the tables to read, and results as tables, CSV and JSON."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import dagster as dg
import duckdb
import pytest

from dagster_project import resources, sql
from dagster_project.sql_output import csv_of, json_of
from methods.errors import UserError
from resources.files import home
from resources.files.home import REPO_ROOT
from resources.migrations import current_version
from resources.warehouse import Warehouse, file_database
from resources.warehouse.versions import MIGRATIONS
from tests.dagster_project.conftest import Typed
from tests.e2e.running import CLI
from tests.resources.test_warehouse import TABLE, answers


@pytest.fixture
def warehouse(empty_tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Warehouse:
    monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path / "it's"))
    (tmp_path / "it's").mkdir()
    made = Warehouse(Path(shutil.copy(empty_tables, home.warehouse_path())))
    made.replace(TABLE, answers("a", 3))
    return made


def left_behind() -> list[str]:
    return [path.name for path in home.home().iterdir() if path.name.startswith("sql-")]


def test_what_a_terminal_would_obey_is_spelled_out_in_results_and_in_errors(warehouse, typed):
    printed = typed("sql", "SELECT chr(155) || '31m' || chr(8238) AS text").out
    assert "\\u009b31m\\u202e" in printed and not {"\x9b", "\u202e"} & {*printed}
    for query in ("SELECT (chr(27) || '[31mx')::INT", 'SELECT * FROM "\x1b[31mx"'):
        printed = typed("sql", query, code=2).err
        assert "\\u001b[31mx" in printed and "\x1b" not in printed


def test_of_several_queries_each_is_printed_up_to_a_wrong_one(warehouse, typed):
    printed = typed("sql", f"SELECT count(*) AS n_rows FROM {TABLE}; SELECT 'second' AS a;").out
    assert printed.index("3") < printed.index("second") and "n_rows" in printed
    assert left_behind() == []
    queries = "SELECT 'first' AS a; SELECT nothing; SELECT 'third' AS a"
    printed = typed("sql", queries, code=2)
    assert "first" in printed.out and "third" not in printed.out and "nothing" in printed.err


def test_a_table_that_there_is_not_is_answered_with_the_nearest_of_ours(warehouse, refused):
    said = refused("sql", "SELECT * FROM dialogue.anwsers")
    assert re.match(r"There is no table \S+; the nearest (is|are) dialogue.answers\b", said)
    assert "pg_" not in said


def test_tables_of_a_later_version_are_read_and_it_is_said(warehouse, typed):
    known = current_version(MIGRATIONS)
    with duckdb.connect(str(warehouse.path)) as connection:
        connection.execute(f"UPDATE main.schema_version SET version = {known + 3}, declared = 'x'")
        connection.execute("ALTER TABLE dialogue.answers ADD COLUMN later VARCHAR DEFAULT 'new'")
    printed = typed("sql", f"SELECT later FROM {TABLE}")
    assert "new" in printed.out
    assert printed.err == (
        f"{warehouse.path} has version {known + 3}, and this version of vlm-loom knows versions up to "
        f"{known}: what is in it can be looked at, and may differ from the guides; update vlm-loom "
        "before all else.\n"
    )


@pytest.mark.slow
def test_a_copy_is_read_while_the_tables_are_written_and_nothing_can_be_written_to_it(warehouse):
    with sql.copy_of_tables() as connection:
        warehouse.replace(TABLE, answers("a", 5))
        assert connection.sql(f"SELECT count(*) FROM {TABLE}").fetchall() == [(3,)]
        with pytest.raises(duckdb.Error, match="read-only"):
            connection.execute(f"DELETE FROM {TABLE}")
        # It is gone for good, however this process ends.
        assert left_behind() == []
    assert warehouse.count(TABLE) == 5


@pytest.mark.slow
def test_the_prompt_answers_each_query_and_goes_on_after_a_wrong_one(warehouse):
    typed = f".tables\nSELECT\n  answer FROM {TABLE}\nLIMIT 1;\nnonsense;\n\nSELECT 41 + 1\n"
    prompt = subprocess.run(
        [sys.executable, "-m", CLI, "sql"],
        input=typed,
        capture_output=True,
        text=True,
        cwd=REPO_ROOT,
        env={**os.environ, "PYTHONPATH": str(REPO_ROOT)},
        timeout=60,
    )
    assert prompt.returncode == 0
    for shown in ("dialogue.answers", "evaluate.leaderboard", "seen", "42"):
        assert shown in prompt.stdout
    assert "nonsense" in prompt.stderr


@pytest.mark.slow
def test_a_run_that_waits_for_a_reader_says_so_in_its_log(warehouse, monkeypatch):
    monkeypatch.setattr(file_database, "SAID_AFTER", 0.1)
    script = (
        "import duckdb, sys\n"
        "connection = duckdb.connect(sys.argv[1], read_only=True)\n"
        "print('open', flush=True)\n"
        "sys.stdin.readline()\n"
    )
    command = [sys.executable, "-c", script, warehouse.path]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with dg.DagsterInstance.ephemeral() as instance, subprocess.Popen(command, **pipes) as reader:
        assert reader.stdout.readline() == "open\n"

        @dg.asset(required_resource_keys={"warehouse"})
        def rows(context: dg.AssetExecutionContext) -> int:
            return context.resources.warehouse.count(TABLE)

        goes_on = file_database.TimedWait.goes_on

        def goes_on_and_lets_go(waiting: file_database.TimedWait, why: str) -> object:
            """The reader lets go once something was said."""
            before = waiting._says_at
            found = goes_on(waiting, why)
            if waiting._says_at != before:
                reader.communicate("\n")
            return found

        monkeypatch.setattr(file_database.TimedWait, "goes_on", goes_on_and_lets_go)
        run = dg.materialize([rows], instance=instance, resources=resources.make_resources())
        assert run.success and run.output_for_node("rows") == 3
        logged = [entry.user_message for entry in instance.all_logs(run.run_id)]
    assert any(re.match(r"Waiting( for \d+ s)?: .*vlm-loom sql", line) for line in logged)


# --- CSV and JSON --------------------------------------------------------------------------------

BIG = 2**127 - 1
VALUES: list[tuple[str, str, Any]] = [
    ("NULL", "", None),
    ("''", "", ""),
    ("'a,\"b\"' || chr(13) || chr(10) || 'c'", 'a,"b"\r\nc', 'a,"b"\r\nc'),
    *(
        (f"'a' || chr({number}) || 'b'", f"a{chr(number)}b", f"a{chr(number)}b")
        for number in (10, 13)
    ),
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
    tables: Warehouse, typed: Typed, query: str, said: str
) -> None:
    printed = typed("sql --format csv", query, code=2)
    assert printed.out == "" and said in printed.err
    assert typed("sql --format csv", "SELECT 1 AS n").out == "n\r\n1\r\n"
