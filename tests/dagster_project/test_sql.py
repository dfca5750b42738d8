"""`vlm-loom sql`: a copy of the tables to read, and nobody who writes waits for who reads it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import dagster as dg
import duckdb
import pytest

from dagster_project import resources, sql
from dagster_project.cli import main as loom
from resources.files import home
from resources.files.home import REPO_ROOT
from resources.migrations import current_version
from resources.warehouse import Warehouse, file_database
from resources.warehouse.versions import MIGRATIONS
from tests.e2e.running import CLI
from tests.resources.test_warehouse import TABLE, answers

pytestmark = pytest.mark.slow


@pytest.fixture
def warehouse(empty_tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Warehouse:
    monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path / "it's"))
    (tmp_path / "it's").mkdir()
    made = Warehouse(Path(shutil.copy(empty_tables, home.warehouse_path())))
    made.replace(TABLE, answers("a", 3))
    return made


def left_behind() -> list[str]:
    return [path.name for path in home.home().iterdir() if path.name.startswith("sql-")]


def test_what_a_terminal_would_obey_is_spelled_out(warehouse, capsys):
    assert loom(["sql", "SELECT chr(155) || '31m' || chr(8238) AS text"]) == 0
    printed = capsys.readouterr().out
    assert "\\u009b31m\\u202e" in printed and not {"\x9b", "\u202e"} & {*printed}


def test_an_error_spells_out_what_a_terminal_would_obey(warehouse, capsys):
    for query in ("SELECT (chr(27) || '[31mx')::INT", 'SELECT * FROM "\x1b[31mx"'):
        assert loom(["sql", query]) == 2
        printed = capsys.readouterr().err
        assert "\\u001b[31mx" in printed and "\x1b" not in printed


def test_of_several_queries_each_is_printed_up_to_a_wrong_one(warehouse, capsys):
    assert loom(["sql", f"SELECT count(*) AS n_rows FROM {TABLE}; SELECT 'second' AS a;"]) == 0
    printed = capsys.readouterr().out
    assert printed.index("3") < printed.index("second") and "n_rows" in printed
    assert left_behind() == []
    assert loom(["sql", "SELECT 'first' AS a; SELECT nothing; SELECT 'third' AS a"]) == 2
    printed = capsys.readouterr()
    assert "first" in printed.out and "third" not in printed.out and "nothing" in printed.err


def test_a_table_that_there_is_not_is_answered_with_the_nearest_of_ours(warehouse, capsys):
    assert loom(["sql", "SELECT * FROM dialogue.anwsers"]) == 2
    said = capsys.readouterr().err
    assert re.match(r"There is no table \S+; the nearest (is|are) dialogue.answers\b", said)
    assert "pg_" not in said and said.count("\n") == 1


def test_tables_of_a_later_version_are_read_and_it_is_said(warehouse, capsys):
    known = current_version(MIGRATIONS)
    with duckdb.connect(str(warehouse.path)) as connection:
        connection.execute(f"UPDATE main.schema_version SET version = {known + 3}, declared = 'x'")
        connection.execute("ALTER TABLE dialogue.answers ADD COLUMN later VARCHAR DEFAULT 'new'")
    assert loom(["sql", f"SELECT later FROM {TABLE}"]) == 0
    printed = capsys.readouterr()
    assert "new" in printed.out
    assert printed.err == (
        f"{warehouse.path} has version {known + 3}, and this version of vlm-loom knows versions up to "
        f"{known}: what is in it can be looked at, and may differ from the guides; update vlm-loom "
        "before all else.\n"
    )


def test_a_copy_is_read_while_the_tables_are_written_and_nothing_can_be_written_to_it(warehouse):
    with sql.copy_of_tables() as connection:
        warehouse.replace(TABLE, answers("a", 5))
        assert connection.sql(f"SELECT count(*) FROM {TABLE}").fetchall() == [(3,)]
        with pytest.raises(duckdb.Error, match="read-only"):
            connection.execute(f"DELETE FROM {TABLE}")
        # It is gone for good, however this process ends.
        assert left_behind() == []
    assert warehouse.count(TABLE) == 5


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
    with (
        dg.DagsterInstance.ephemeral() as instance,
        subprocess.Popen(command, **pipes) as reader,
    ):
        assert reader.stdout.readline() == "open\n"

        def let_go(line: str) -> None:
            reader.communicate("\n")

        @dg.asset(required_resource_keys={"warehouse"})
        def rows(context: dg.AssetExecutionContext) -> int:
            return context.resources.warehouse.count(TABLE)

        monkeypatch.setattr(
            file_database.TimedWait,
            "goes_on",
            _then(file_database.TimedWait.goes_on, let_go),
        )
        run = dg.materialize([rows], instance=instance, resources=resources.make_resources())
        assert run.success and run.output_for_node("rows") == 3
        logged = [entry.user_message for entry in instance.all_logs(run.run_id)]
    assert any("Waiting for 0 s" in line and "vlm-loom sql" in line for line in logged)


def _then(goes_on, act):
    """`goes_on`, and then `act` once something was said."""

    def both(waiting, why):
        before = waiting._says_at
        result = goes_on(waiting, why)
        if waiting._says_at != before:
            act(why)
        return result

    return both
