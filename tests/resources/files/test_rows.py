"""Rows as a Parquet file, portion by portion, and the folder they are made in."""

import multiprocessing
import os
import signal
import subprocess
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.batched import batched
from resources.files import rows as rows_file
from resources.files.home import staging_path
from resources.files.rows import RowsFile, RowsStream, first_rows, n_rows, portions, staging_folder
from tests.doubles.scripts import start

SCHEMA = pa.schema([("name", pa.string()), ("size", pa.int64())])


def written(path: Path, sizes: list[int]) -> RowsFile:
    with RowsFile(path, SCHEMA) as file:
        for size in sizes:
            file.add({"name": f"row {size}", "size": size})
    return file


@pytest.mark.parametrize(("n", "groups"), [(0, []), (2, [2]), (3, [3]), (7, [3, 3, 1])])
def test_every_row_is_in_the_file_once_and_in_order(tmp_path, monkeypatch, n, groups):
    monkeypatch.setattr(rows_file, "ROWS_A_GROUP", 3)
    file = written(tmp_path / "rows.parquet", list(range(n)))
    assert file.n_rows == n_rows(file.path) == n
    table = pq.read_table(file.path)
    assert table.schema == SCHEMA
    assert table.column("size").to_pylist() == list(range(n))
    assert sizes_of_groups(file.path) == groups


def sizes_of_groups(path: Path) -> list[int]:
    groups = pq.read_metadata(path)
    return [groups.row_group(n).num_rows for n in range(groups.num_row_groups)]


def test_what_a_row_lacks_is_null_and_what_it_has_besides_is_dropped(tmp_path):
    with RowsFile(tmp_path / "rows.parquet", SCHEMA) as file:
        file.add({"name": "owl"})
        file.add({"size": 7, "colour": "brown"})
    rows = pq.read_table(file.path).to_pylist()
    assert rows == [{"name": "owl", "size": None}, {"name": None, "size": 7}]
    empty = first_rows(written(tmp_path / "rows.parquet", []).path)
    assert empty.num_rows == 0 and empty.schema == SCHEMA


def test_a_group_is_written_when_it_has_enough_bytes(tmp_path, monkeypatch):
    """A few rows of very long texts would not fit into memory either."""
    monkeypatch.setattr(rows_file, "BYTES_A_GROUP", 100)
    with RowsFile(tmp_path / "rows.parquet", SCHEMA) as file:
        for n_characters in (60, 39, 1, 200, 99, 0):
            file.add({"name": "x" * n_characters, "size": n_characters})
    assert sizes_of_groups(file.path) == [3, 1, 2]


def test_a_stream_has_the_rows_added_one_by_one_and_those_added_in_columns(tmp_path):
    """Columns may come in another order, and with others beside them."""
    batch = pa.RecordBatch.from_pydict({"size": [1, 2], "colour": ["x", "y"], "name": ["a", "b"]})
    with RowsStream(tmp_path / "rows.arrow", SCHEMA) as file:
        file.add({"name": "row 0", "size": 0})
        file.add_batch(batch)
        file.add({"size": 3, "colour": "brown"})
    table = pa.ipc.open_stream(file.path).read_all()
    assert table.schema == SCHEMA and file.n_rows == 4
    assert table.to_pydict() == {"name": ["row 0", "a", "b", None], "size": [0, 1, 2, 3]}


@pytest.mark.parametrize(("n", "size", "sizes"), [(7, 3, [3, 3, 1]), (6, 3, [3, 3]), (0, 3, [])])
def test_portions_of_a_file_are_its_rows_so_many_at_a_time(tmp_path, n, size, sizes):
    path = written(tmp_path / "rows.parquet", list(range(n))).path
    read = list(portions(path, size))
    assert [len(portion) for portion in read] == sizes
    assert [row["size"] for portion in read for row in portion] == list(range(n))


@given(st.lists(st.integers()), st.integers(1, 5))
def test_batches_are_all_items_in_order_and_full_but_for_the_last(items, size):
    batches = list(batched(iter(items), size))
    assert [item for batch in batches for item in batch] == items
    assert all(len(batch) == size for batch in batches[:-1])
    assert all(0 < len(batch) <= size for batch in batches)


def test_a_batch_is_given_before_the_next_is_asked_for():
    taken = []
    batches = batched((taken.append(n) or n for n in range(100)), 2)
    assert next(batches) == [0, 1] and taken == [0, 1]


def left_in_staging() -> list[str]:
    return [path.name for path in staging_path().iterdir() if path.suffix != ".lock"]


def test_folders_of_different_names_are_there_at_once_and_stay_while_in_use(loom_home):
    with staging_folder("pages", "a") as one:
        (one / "rows.parquet").touch()
        with staging_folder("pages", "b") as other, staging_folder("pagesa") as third:
            assert len({one, other, third}) == 3
            assert sorted(left_in_staging()) == sorted(path.name for path in (one, other, third))
        assert (one / "rows.parquet").exists()


@pytest.mark.parametrize("name", ["pages", "../out", "a/b", "'", "", "x" * 300])
def test_the_folder_of_any_name_is_empty_and_under_the_home_and_is_gone_afterwards(loom_home, name):
    with staging_folder(name, "shard a") as folder:
        assert folder.parent == loom_home / "staging" and list(folder.iterdir()) == []
        (folder / "sub").mkdir()
        (folder / "sub" / "rows.parquet").write_bytes(b"rows")
    assert not folder.exists() and left_in_staging() == []


@pytest.mark.parametrize("name", ["a", "b"])
def test_what_a_killed_run_left_is_removed_by_whoever_comes_next(loom_home, name):
    script = """
        import time
        from resources.files.rows import staging_folder
        with staging_folder("pages", "a") as folder:
            (folder / "half.parquet").write_bytes(b"half")
            print(folder, flush=True)
            time.sleep(60)
    """
    with start(script, stdout=subprocess.PIPE) as run:
        left = Path(run.stdout.readline().strip())
        os.kill(run.pid, signal.SIGKILL)
    assert (left / "half.parquet").exists()
    with staging_folder("pages", name) as folder:
        assert (folder == left) == (name == "a")
        assert list(folder.iterdir()) == [] and left_in_staging() == [folder.name]
    assert left_in_staging() == []


def _use(number: int, barrier, notes: Path) -> None:
    barrier.wait()
    with staging_folder("pages", "a") as folder:
        assert list(folder.iterdir()) == []
        for note in ("in", "out"):
            (folder / f"{number}").touch()
            with notes.open("a") as file:
                file.write(f"{number} {note}\n")
            time.sleep(0.05)


def test_processes_of_one_name_wait_for_each_other(loom_home, tmp_path):
    spawn = multiprocessing.get_context("spawn")
    barrier, notes = spawn.Barrier(3), tmp_path / "notes"
    users = [spawn.Process(target=_use, args=(number, barrier, notes)) for number in range(3)]
    for user in users:
        user.start()
    for user in users:
        user.join(60)
    assert [user.exitcode for user in users] == [0, 0, 0]
    lines = notes.read_text().splitlines()
    order = [line.split()[0] for line in lines[::2]]
    assert sorted(order) == ["0", "1", "2"]
    assert lines == [f"{number} {note}" for number in order for note in ("in", "out")]
