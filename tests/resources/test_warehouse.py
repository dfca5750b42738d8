"""The warehouse: replaced twice is replaced once, all is seen or none, and nobody holds the door."""

import fcntl
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from unittest.mock import Mock

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from filelock import FileLock

from resources.settings.extras import folders
from resources.warehouse import (
    SQL_ROOT,
    STAGES,
    ArrowStream,
    Parquet,
    TableWrite,
    Warehouse,
    WarehouseError,
    declared_columns,
    duckdb_file,
    file_database,
    sql_text,
    writes,
)
from resources.warehouse.database import end_query
from resources.warehouse.duckdb_file import OpenFile, OpenFiles, left_open
from tests.doubles.file_size import files_of_at_most
from tests.doubles.scripts import start
from tests.lakes import made_lake, new_lake
from tests.shared import PROCESSES

pytestmark = pytest.mark.slow

TABLE = "dialogue.answers"
QUERIES = sorted(
    path.relative_to(folder).with_suffix("").as_posix()
    for folder in (SQL_ROOT, *folders("sql"))
    for path in folder.glob("*/*.sql")
    if path.stem not in ("schema", "views") and path.parent.name != "migrations"
)


def answers(set_id: str, n: int, text: str = "seen") -> pa.Table:
    """`n` rows of dialogue.answers of one set; the keys are the set's, whatever `text` is."""
    values = {"set_id": set_id, "answer": text, "call_key": "key", "prompt_version": "p@1"}
    columns = {
        name: pa.array([value] * n, pa.string())
        for name, value in {**values, "provider": "mock"}.items()
    }
    questions = [f"{set_id}-{number}" for number in range(n)]
    return pa.table({**columns, "question_id": pa.array(questions, pa.string())})


def failures(n: int, set_id: str = "a") -> pa.Table:
    """`n` equal rows of dialogue.failed, the table without a key."""
    row = {"set_id": set_id, "stage": "summaries", "subject": "e"}
    return pa.Table.from_pylist([{**row, "reason": "refused", "detail": "no"}] * n)


def held(warehouse: Warehouse) -> dict[str, tuple[int, list[str]]]:
    """Set -> (number of rows, their distinct texts)."""
    rows = warehouse.sql(
        f"SELECT set_id, count(*) AS n, list(DISTINCT answer ORDER BY answer) AS texts "
        f"FROM {TABLE} GROUP BY set_id"
    ).to_pylist()
    return {row["set_id"]: (row["n"], row["texts"]) for row in rows}


def opened_by_another_process(path) -> bool:
    """Whether a process without our lock could open the file for writing, now: DuckDB locks it."""
    child = os.fork()
    if child == 0:
        try:
            with path.open("r+b") as file:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return status == 0


@pytest.fixture
def warehouse(tmp_path, request, tables_on) -> Warehouse:
    if tables_on == "lake":
        return made_lake(request.getfixturevalue("postgres"), tmp_path)
    return request.getfixturevalue("empty_warehouse")


@pytest.fixture
def in_a_run(monkeypatch) -> Iterator[None]:
    """A file stays open between transactions, as in a run: the test is about what stands in it."""
    monkeypatch.setattr(duckdb_file, "LEFT_OPEN", 3600)
    monkeypatch.setattr(duckdb_file, "OPEN_AT_MOST", 3600)
    with left_open.of_run():
        yield


IN_A_RUN = pytest.mark.usefixtures("in_a_run")


@pytest.fixture
def missing(tmp_path, request, tables_on) -> Warehouse:
    """Neither the file nor its folder is there."""
    if tables_on == "lake":
        return new_lake(request.getfixturevalue("postgres"), tmp_path)
    return Warehouse(tmp_path / "not" / "there" / "warehouse.duckdb")


def test_the_schema_is_there_on_first_use_as_sql_declares_it(missing):
    assert not missing.path.exists()
    assert missing.columns() == declared_columns()
    assert ("answer", "VARCHAR", False) in declared_columns()[TABLE]
    assert ("follows", "VARCHAR", True) in declared_columns()["dialogue.questions"]
    assert {table.partition(".")[0] for table in declared_columns()} == set(STAGES)


def test_every_query_file_runs_against_the_schema(warehouse):
    assert len(QUERIES) > 100
    with warehouse.kept_open():
        for name in QUERIES:
            text = re.sub("--.*", "", sql_text(name))
            lists = set(re.findall(r"(?:list_contains|unnest)\(\s*\$(\w+)", text))
            params = {
                parameter: ["x"] if parameter in lists else 1 if parameter.startswith("n_") else "x"
                for parameter in re.findall(r"\$(\w+)", text)
            }
            result = warehouse.read(name, params)
            # A row of counts and of lists says that there is nothing.
            is_empty = not any(any(row.values()) for row in result.to_pylist())
            assert is_empty and result.num_columns, name


@IN_A_RUN
def test_what_is_selected_has_its_columns_values_and_order(warehouse):
    odd = "x' OR 'a' = 'a"
    rows = [answers("b", 2, "one"), answers("a", 2, "two"), answers(odd, 1, "three")]
    warehouse.replace(TABLE, pa.concat_tables(rows))

    assert warehouse.select(TABLE, order="set_id, question_id DESC", answer=["one", "two"]) == (
        warehouse.sql(f"FROM {TABLE} WHERE set_id < 'c' ORDER BY set_id, question_id DESC")
    )
    named = warehouse.select(TABLE, "question_id", "answer", order="question_id DESC", set_id="b")
    assert named.to_pydict() == {"question_id": ["b-1", "b-0"], "answer": ["one", "one"]}
    once = warehouse.select(TABLE, "answer", order="ALL", distinct=True)
    assert once.to_pydict() == {"answer": ["one", "three", "two"]}
    assert warehouse.select(TABLE, set_id=[]).num_rows == 0
    assert warehouse.select(TABLE, "set_id", set_id=odd).to_pydict() == {"set_id": [odd]}, "bound"
    assert warehouse.select("review.approved", "item_id", demanded=True).num_rows == 0


@pytest.mark.parametrize(
    ("table", "columns", "how", "said"),
    [
        ("dialogue.nothing", (), {}, "no table dialogue.nothing"),
        (TABLE, ("set_id, answer",), {}, "no column set_id, answer"),
        (TABLE, ("set_id",), {"colour": "red"}, "no column colour"),
        (TABLE, (), {"order": "colour"}, "no column colour"),
        (TABLE, (), {"order": "set_id; DROP TABLE x"}, "not an order"),
    ],
)
@IN_A_RUN
def test_what_sql_does_not_declare_is_not_selected_or_written(warehouse, table, columns, how, said):
    with pytest.raises(WarehouseError, match=said):
        warehouse.select(table, *columns, **how)
    if "order" not in how:
        partition = how or dict.fromkeys(columns, "x")
        with pytest.raises(WarehouseError, match="nothing|answer|colour"):
            warehouse.replace_all([TableWrite(table, answers("a", 1), partition)])


@pytest.fixture
def opened(monkeypatch) -> list[object]:
    """What was given to each opening of a file."""
    opened, attach = [], file_database.attached
    monkeypatch.setattr(
        file_database, "attached", lambda *args, **how: opened.append(args) or attach(*args, **how)
    )
    return opened


@pytest.mark.of_file
def test_blocks_and_runs_open_the_file_once_and_give_it_back(warehouse, opened, monkeypatch):
    with warehouse.kept_open():
        with warehouse.kept_open():
            assert warehouse.count(TABLE) == 0
        assert warehouse.count(TABLE, {"set_id": "b"}) == 0
        assert not opened_by_another_process(warehouse.path)
    assert len(opened) == 1
    assert opened_by_another_process(warehouse.path)
    monkeypatch.setattr(duckdb_file, "LEFT_OPEN", 3600)
    monkeypatch.setattr(duckdb_file, "OPEN_AT_MOST", 3600)
    with left_open.of_run():
        for n_rows in (1, 2, 3):
            warehouse.replace(TABLE, answers("a", n_rows))
            assert warehouse.count(TABLE) == n_rows
        assert len(opened) == 2
        assert not opened_by_another_process(warehouse.path)
    # Outside of a run it is closed after each.
    warehouse.replace(TABLE, answers("a", 1))
    assert opened_by_another_process(warehouse.path)
    with pytest.raises(duckdb.Error, match="no_such_table"), warehouse.kept_open():
        warehouse.sql("SELECT * FROM no_such_table")
    assert opened_by_another_process(warehouse.path)


@IN_A_RUN
def test_every_column_of_a_partition_has_to_match(warehouse):
    table, partition = "dialogue.failed", {"set_id": "a", "stage": "summaries"}
    for _ in range(2):
        warehouse.replace(table, failures(4), partition)
    assert warehouse.count(table) == 4, "rows without a key are replaced, too"
    warehouse.replace(table, failures(0), {**partition, "stage": "answers"})
    assert warehouse.count(table) == 4
    warehouse.replace(table, failures(0), partition)
    assert warehouse.count(table) == 0


ODD = "a' OR 'x' = 'x"
OLD = (2, ["old"])


@pytest.mark.parametrize(
    ("rows", "partition", "left"),
    [
        (answers("b", 1), {"set_id": "b"}, {"a": OLD, "b": (1, ["seen"]), "c": OLD, ODD: OLD}),
        (answers("a", 1), {"set_id": ["a", "b"]}, {"a": (1, ["seen"]), "c": OLD, ODD: OLD}),
        (answers("a", 0), {"set_id": "a"}, {"b": OLD, "c": OLD, ODD: OLD}),
        (answers(ODD, 0), {"set_id": ODD}, {"a": OLD, "b": OLD, "c": OLD}),
        (answers("b", 0), {"set_id": []}, {"a": OLD, "b": OLD, "c": OLD, ODD: OLD}),
        (answers("b", 1), None, {"b": (1, ["seen"])}),
    ],
    ids=["one", "several values", "no rows", "bound, never read as SQL", "no value", "whole table"],
)
@IN_A_RUN
def test_rows_take_the_place_of_those_of_their_partition_and_of_no_others(
    warehouse, rows, partition, left
):
    warehouse.replace(
        TABLE, pa.concat_tables([answers(set_id, 2, "old") for set_id in ("a", "b", "c", ODD)])
    )

    warehouse.replace(TABLE, rows, *([partition] if partition else []))

    assert held(warehouse) == left


def in_memory(_folder, *tables: pa.Table) -> pa.Table:
    return pa.concat_tables(tables)


def staged(folder, *tables: pa.Table) -> Parquet:
    first = len(list(folder.iterdir()))
    paths = [folder / f"{first + number}.parquet" for number in range(len(tables))]
    for path, table in zip(paths, tables, strict=True):
        pq.write_table(table, path)
    return Parquet(paths)


def streamed(folder, *tables: pa.Table) -> ArrowStream:
    path = folder / f"{len(list(folder.iterdir()))}.arrow"
    with pa.ipc.new_stream(path, tables[0].schema) as writer:
        for table in tables:
            writer.write_table(table)
    return ArrowStream(path)


def unreadable(folder, *_tables: pa.Table) -> Parquet:
    path = folder / "it's.parquet"
    path.write_bytes(b"no Parquet")
    return Parquet([path])


SOURCES = pytest.mark.parametrize("source", [in_memory, staged, streamed])


@SOURCES
@IN_A_RUN
def test_rows_take_the_place_of_their_partition_however_often(warehouse, tmp_path, source):
    """Columns may stand in another order than in the table."""
    warehouse.replace(TABLE, answers("b", 2, "old"))
    warehouse.replace(TABLE, answers("a", 9, "old"), {"set_id": "a"})
    one, two = answers("a", 3), answers("a", 5).slice(3)
    names = one.column_names[::-1]
    rows = source(tmp_path, one.select(names), two.select(names))

    for _ in range(2):
        warehouse.replace_all([TableWrite(TABLE, rows, {"set_id": "a"})])
    assert held(warehouse) == {"a": (5, ["seen"]), "b": (2, ["old"])}

    none = source(tmp_path, one.slice(0, 0))
    warehouse.replace_all([TableWrite(TABLE, none, {"set_id": "a"})])
    assert held(warehouse) == {"b": (2, ["old"])}


REFUSED = "^The warehouse refused the write: .*"
OUTSIDE = ((answers("a", 3), answers("b", 2)), f"2 rows for {TABLE} lie outside")
TWICE = ((answers("a", 1),) * 2, f"{REFUSED}duplicate key")


@pytest.mark.parametrize(
    ("source", "tables", "says"),
    [
        (in_memory, *OUTSIDE),
        (in_memory, *TWICE),
        (in_memory, [answers("a", 2, "")], f"{REFUSED}CHECK"),
        (in_memory, [answers("a", 2).drop_columns(["provider"])], f"{REFUSED}NOT NULL"),
        (
            in_memory,
            [answers("a", 2).append_column("colour", pa.array(["red"] * 2))],
            f"{REFUSED}colour",
        ),
        # The key of another partition.
        (
            in_memory,
            [answers("b", 1).set_column(0, "set_id", pa.array(["a"]))],
            f"{REFUSED}[Dd]uplicate key",
        ),
        (staged, *OUTSIDE),
        (streamed, *TWICE),
        (unreadable, (), f"{REFUSED}it's.parquet"),
    ],
)
@IN_A_RUN
def test_rows_outside_the_partition_or_the_rules_are_refused_with_all_that_came_with_them(
    warehouse, tmp_path, source, tables, says
):
    warehouse.replace(TABLE, answers("a", 1, "old"))

    with pytest.raises(WarehouseError, match=says):
        warehouse.replace_all(
            [
                TableWrite("dialogue.failed", failures(2), {}),
                TableWrite(TABLE, answers("b", 2), {"set_id": "b"}),
                TableWrite(TABLE, source(tmp_path, *tables), {"set_id": "a"}),
            ]
        )

    assert held(warehouse) == {"a": (1, ["old"])}
    assert warehouse.count("dialogue.failed") == 0


@IN_A_RUN
def test_what_the_files_have_besides_is_left_out_and_what_one_lacks_is_null(warehouse, tmp_path):
    """By name, whatever the order."""
    table = "dialogue.failed"
    full = failures(2).append_column("call_key", pa.array(["key", "key"]))
    full = full.append_column("suspect", pa.array([None, "x"]))
    files = staged(tmp_path, full.select(full.column_names[::-1]), failures(1))

    warehouse.replace_all([TableWrite(table, files, {"set_id": "a"})])
    warehouse.replace(table, failures(1, "b"), {"set_id": "b"})

    taken = warehouse.sql(f"SELECT set_id, call_key FROM {table} ORDER BY ALL").to_pydict()
    assert taken == {"set_id": ["a", "a", "a", "b"], "call_key": ["key", "key", None, None]}


def test_a_stream_that_needs_more_memory_than_it_is_given_is_taken_in_all_the_same(
    warehouse, tmp_path, monkeypatch
):
    monkeypatch.setattr(writes, "STREAM_MEMORY", "8MB")
    # 16 MB in texts that are longer than a block of DuckDB's file, of 256 KiB.
    rows = streamed(tmp_path, answers("a", 32, "text " * 100_000))
    warehouse.replace_all([TableWrite(TABLE, rows, {"set_id": "a"})])
    assert held(warehouse) == {"a": (32, ["text " * 100_000])}


@IN_A_RUN
def test_what_is_exported_is_what_is_read(warehouse, tmp_path, monkeypatch):
    """And a file takes the place of an earlier one."""
    sets = "-- Not $n_rows.\nSELECT DISTINCT set_id FROM dialogue.answers ORDER BY 1;"
    some = "SELECT set_id, question_id, answer FROM dialogue.answers "
    some += "WHERE list_contains($sets, set_id) ORDER BY ALL DESC LIMIT $n_rows;\n"
    texts = {"some/sets": sets, "some/rows": some}
    monkeypatch.setattr(
        "resources.warehouse.warehouse.sql_text", lambda name: texts.get(name) or sql_text(name)
    )
    text = "Où ?\n\t“字” 'quoted' $1 -- ; DROP"
    warehouse.replace(TABLE, pa.concat_tables([answers(set_id, 3, text) for set_id in "abc"]))
    path = tmp_path / "it's.parquet"
    for names in (["a", "c"], []):
        params = {"sets": names, "n_rows": 5}
        assert warehouse.export("some/rows", params, path) == path
        exported, read = pq.read_table(path), warehouse.read("some/rows", params)
        assert exported.to_pylist() == read.to_pylist()
        assert exported.column_names == ["set_id", "question_id", "answer"]
        assert exported.num_rows == (5 if names else 0)
        together = warehouse.read_rows("some/{}", ("rows", "sets"), params)
        assert together == {"rows": read.to_pylist(), "sets": [{"set_id": name} for name in "abc"]}


@pytest.mark.of_file
@pytest.mark.parametrize(
    ("function", "error", "said"),
    [
        (
            "replace_rows",
            "Could not write:\nNo space left on device",
            r"cannot be written \(Could not write: No space left on device\): make room on its disk",
        ),
        ("attached", 'Cannot open file "x": Permission denied', "denied.*you may read and write"),
    ],
)
def test_a_full_disk_and_a_file_that_may_not_be_opened_are_said_as_such(
    warehouse, monkeypatch, function, error, said
):
    monkeypatch.setattr(file_database, function, Mock(side_effect=duckdb.IOException(error)))
    with pytest.raises(WarehouseError, match=said):
        warehouse.replace(TABLE, answers("a", 2))


def _write_to_a_full_disk(path):
    full = pytest.raises(WarehouseError, match="File too large")
    with files_of_at_most(path.stat().st_size), full:
        Warehouse(path).replace(TABLE, answers("b", 100_000, "new"), {"set_id": "b"})


@pytest.mark.of_file
def test_a_full_disk_while_the_file_is_closed_is_one_clear_error_and_the_rows_are_there(warehouse):
    warehouse.replace(TABLE, answers("a", 100, "old"))

    child = PROCESSES.Process(target=_write_to_a_full_disk, args=(warehouse.path,))
    child.start()
    child.join(120)

    assert child.exitcode == 0
    assert held(warehouse) == {"a": (100, ["old"]), "b": (100_000, ["new"])}


INTERRUPTED_IMPORT = """
    import sys
    from pathlib import Path
    from resources.warehouse import Warehouse

    class Interrupt:
        def find_spec(self, name, path=None, target=None):
            if name == "pandas":
                raise KeyboardInterrupt

    warehouse = Warehouse(Path(sys.argv[1]))
    sys.meta_path.insert(0, Interrupt())
    try:
        warehouse.sql("SELECT $x", {"x": "1"})
    except KeyboardInterrupt:
        print("interrupted")
"""


def test_an_interrupt_during_the_import_of_pandas_is_not_dropped(tmp_path):
    """DuckDB imports pandas for a query with parameters, and drops what is raised meanwhile."""
    with start(INTERRUPTED_IMPORT, tmp_path / "warehouse.duckdb", stdout=subprocess.PIPE) as child:
        assert child.stdout.read() == "interrupted\n"


@pytest.mark.parametrize("writes", [False, True])
def test_an_interrupt_amid_a_query_is_raised_as_itself(warehouse, monkeypatch, writes):
    # DuckDB raises RuntimeError, which a step would fail with and its run would go on.
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    query = "SELECT count(*) FROM range(5000000000) AS t(n) WHERE hash(n) = 1"
    warehouse.replace(TABLE, answers("a", 1))
    for module in ("file_database", "lake_database"):
        monkeypatch.setattr(
            f"resources.warehouse.{module}.replace_rows",
            lambda connection, *_, **__: connection.execute(query),
        )
    before = signal.signal(signal.SIGUSR1, interrupt)
    timer = threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGUSR1])
    timer.start()
    try:
        with left_open.of_run(), pytest.raises(KeyboardInterrupt):
            warehouse.replace(TABLE, answers("b", 1)) if writes else warehouse.sql(query)
    finally:
        signal.signal(signal.SIGUSR1, before)
        timer.join()


def test_a_query_is_ended_where_an_interrupt_leaves_it_to_go_on():
    connection = Mock()
    with end_query(connection):
        pass
    connection.interrupt.assert_not_called()
    with pytest.raises(KeyboardInterrupt), end_query(connection):
        raise KeyboardInterrupt
    connection.interrupt.assert_called_once_with()


@pytest.mark.of_file
def test_a_file_that_cannot_take_the_schema_is_one_clear_error_and_is_let_go(missing):
    missing.path.parent.mkdir(parents=True)
    with duckdb.connect(str(missing.path)) as foreign:
        foreign.execute("CREATE SCHEMA evaluate; CREATE TABLE evaluate.leaderboard (x INTEGER)")

    with pytest.raises(
        WarehouseError, match="this version of sql/ .*leaderboard.*keep the file"
    ) as caught:
        missing.count("evaluate.leaderboard")

    # The error is still held, and with it everything its traceback knows.
    assert opened_by_another_process(missing.path), caught


@pytest.mark.of_file
def test_a_reader_at_the_duckdb_prompt_is_waited_for_and_the_log_names_it(warehouse, monkeypatch):
    """Another process reads the file without our lock, and lets go when its input ends."""
    warehouse.replace(TABLE, answers("a", 1))
    script = """
        import duckdb, sys
        with duckdb.connect(sys.argv[1], read_only=True):
            print('open', flush=True)
            sys.stdin.read()
    """
    said = []
    with start(script, warehouse.path, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
        assert reader.stdout.readline() == "open\n"
        with monkeypatch.context() as patched:
            patched.setattr(file_database, "OPEN_TIMEOUT", 0.5)
            with pytest.raises(WarehouseError, match="be opened; close what else has it open"):
                warehouse.replace(TABLE, answers("a", 2))
        # Each second counts as an hour, so that a second at the prompt is one.
        now = time.monotonic
        monkeypatch.setattr(time, "monotonic", lambda: 3600 * now())
        timer = threading.Timer(1, reader.stdin.close)
        timer.start()
        Warehouse(warehouse.path, said.append).replace(TABLE, answers("a", 2))
        timer.join()

    assert warehouse.count(TABLE) == 2
    assert 1 <= len(said) < 10
    holder = rf"is open in .*python.* \(process {reader.pid}\); close it there.*vlm-loom sql"
    assert all(re.search(rf"^Waiting for \d+ s: .*{holder}", line) for line in said)


@pytest.mark.of_file
def test_who_waits_behind_another_writer_says_so_and_does_not_wait_for_ever(warehouse, monkeypatch):
    monkeypatch.setattr(file_database, "SAID_AFTER", 0.2)
    assert warehouse.count(TABLE) == 0
    said = []
    lock = FileLock(f"{warehouse.path}.lock", thread_local=False)
    lock.acquire()
    with monkeypatch.context() as patched:
        patched.setattr(file_database, "LOCK_TIMEOUT", 0.2)
        with pytest.raises(WarehouseError, match=r"Another process has held .*\.lock for"):
            warehouse.count(TABLE)
    timer = threading.Timer(1, lock.release)
    timer.start()

    assert Warehouse(warehouse.path, said.append).count(TABLE) == 0

    timer.join()
    assert said and all("is in use by another process of vlm-loom" in line for line in said)


@pytest.mark.of_file
def test_what_is_no_duckdb_file_or_was_cut_short_is_said_and_not_touched(warehouse, monkeypatch):
    """DuckDB opens one that has its beginning, and fails where the rest is read."""
    warehouse.replace(TABLE, answers("a", 50_000))
    whole = warehouse.path.read_bytes()
    monkeypatch.setattr(file_database, "OPEN_TIMEOUT", 3600)
    for content, said in (
        (b"", "is not a DuckDB file.*"),
        (b"no DuckDB file " * 1000, "is not a DuckDB file.*"),
        (whole[:5_000], r"is damaged \(.*\): "),
        (whole[: 5_000 + int(0.9 * len(whole))], r"is damaged \(.*\): "),
    ):
        warehouse.path.write_bytes(content)
        advice = r"restore a backup \(vlm-loom workspace restore\)"
        with pytest.raises(WarehouseError, match=said + advice):
            Warehouse(warehouse.path).sql(f"FROM {TABLE}")
        assert warehouse.path.read_bytes() == content


def _write(path, set_id, barrier, rounds):
    barrier.wait()
    for number in range(rounds):
        Warehouse(path).replace(TABLE, answers(set_id, 50, f"{number}"), {"set_id": set_id})


def _read(path, barrier, done):
    warehouse = Warehouse(path)
    barrier.wait()
    while not done.is_set():
        for set_id, (n, texts) in held(warehouse).items():
            assert (n, len(texts)) == (50, 1), f"set {set_id} was seen with {n} rows of {texts}"


@pytest.mark.of_file
def test_processes_write_at_once_while_another_reads_and_all_rows_are_there(warehouse):
    path, barrier, done = warehouse.path, PROCESSES.Barrier(3), PROCESSES.Event()
    writers = [PROCESSES.Process(target=_write, args=(path, name, barrier, 5)) for name in "ab"]
    reader = PROCESSES.Process(target=_read, args=(path, barrier, done))
    for process in [*writers, reader]:
        process.start()
    for process in writers:
        process.join(120)
    done.set()
    reader.join(120)

    assert [process.exitcode for process in [*writers, reader]] == [0] * 3
    assert held(warehouse) == dict.fromkeys("ab", (50, ["4"]))


@pytest.mark.parametrize("of_run", [nullcontext, left_open.of_run], ids=["no run", "a run"])
def test_threads_of_one_process_may_share_a_warehouse(warehouse, of_run):
    with of_run(), ThreadPoolExecutor(6) as pool:
        for name in "abcdef":
            pool.submit(warehouse.replace, TABLE, answers(name, 5), {"set_id": name})

    assert held(warehouse) == dict.fromkeys("abcdef", (5, ["seen"]))


@pytest.mark.of_file
class TestLeftOpen:
    """A run leaves the file open for its next transaction, and others come to it soon."""

    def test_a_run_that_pauses_closes_the_file_and_others_get_it_anyway(self, warehouse):
        """Without the limit the other process would wait until the run ends."""
        alone = PROCESSES.Barrier(1)
        with left_open.of_run():
            warehouse.replace(TABLE, answers("a", 1))
            while not opened_by_another_process(warehouse.path):
                time.sleep(0.01)
            assert warehouse.count(TABLE) == 1
            writer = PROCESSES.Process(target=_write, args=(warehouse.path, "other", alone, 1))
            writer.start()
            while writer.is_alive():
                warehouse.count(TABLE)
                time.sleep(0.02)
            assert writer.exitcode == 0
            assert warehouse.count(TABLE, {"set_id": "other"}) == 50

    def test_a_failed_transaction_and_what_needs_an_own_file_close_it(self, warehouse, tmp_path):
        with left_open.of_run():
            with pytest.raises(duckdb.Error, match="no_such_table"):
                warehouse.sql("SELECT * FROM no_such_table")
            assert opened_by_another_process(warehouse.path)
            warehouse.replace(TABLE, answers("a", 2))
            warehouse.copy_to(tmp_path / "copy.duckdb")
            assert Warehouse(tmp_path / "copy.duckdb").count(TABLE) == 2
            warehouse.replace_all([TableWrite(TABLE, staged(tmp_path, answers("b", 1)), {})])
            assert warehouse.count(TABLE) == 1

    def test_when_a_run_has_ended_nobody_is_still_closing_its_file(self, tmp_path):
        """Whoever copies the folder then would find half of it."""
        files, closing, steps = OpenFiles(), ExitStack(), []
        closing.callback(steps.append, "closed")
        closing.callback(time.sleep, 0.5)
        closing.callback(steps.append, "begun")
        with files.of_run():
            files.leave(tmp_path, OpenFile(duckdb.connect(), time.monotonic(), closing))
            while not steps:
                time.sleep(0.01)
        assert steps == ["begun", "closed"]
