"""Rows as a Parquet file, portion by portion, the folder they are made in, and lists of pictures."""

import os
import signal
import subprocess
import time
from operator import length_hint
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.batched import batched
from resources.files import rows as rows_file
from resources.files.home import staging_path
from resources.files.rows import (
    KnownImagesError,
    RowsFile,
    RowsStream,
    first_rows,
    known_images,
    n_rows,
    portions,
    staging_folder,
)
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
    read = list(portions(file.path, 3))
    assert [len(portion) for portion in read] == groups
    assert [row["size"] for portion in read for row in portion] == list(range(n))


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


@given(st.lists(st.integers()), st.integers(1, 5))
def test_batches_are_all_items_in_order_and_full_but_for_the_last(items, size):
    left = iter(items)
    batches = [(batch, len(items) - length_hint(left)) for batch in batched(left, size)]
    assert [item for batch, _ in batches for item in batch] == items
    assert all(0 < len(batch) <= size for batch, _ in batches)
    # Each is full, and given before the next is asked for.
    assert [n_taken for _, n_taken in batches[:-1]] == [*range(size, len(items), size)]


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


def test_processes_of_one_name_wait_for_each_other(loom_home):
    script = """
        from resources.files.rows import staging_folder
        print("begun", flush=True)
        with staging_folder("pages", "a") as folder:
            print(list(folder.iterdir()))
    """
    with staging_folder("pages", "a") as folder:
        (folder / "own").touch()
        other = start(script, stdout=subprocess.PIPE)
        assert other.stdout.readline() == "begun\n"
        time.sleep(0.5)
        assert (folder / "own").exists()
    assert other.communicate() == ("[]\n", None)


ONE, OTHER = "0a" * 32, "f" * 64


def test_a_list_as_sha256sum_writes_it_is_read_and_a_line_without_a_hash_is_named(
    tmp_path: Path,
) -> None:
    file = tmp_path / "known.txt"
    md5 = "c" * 32
    with pytest.raises(KnownImagesError, match="cannot be used"):
        known_images(file)
    file.write_text(
        f"\ufeff# others'\n\n{ONE}  folder/a b.png\n{OTHER.upper()}\r\n{md5} *x\x0b\u2028y\n"
    )
    assert known_images(file) == {ONE, OTHER, md5}
    file.write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(KnownImagesError, match="cannot be used"):
        known_images(file)
    for line in ("abc", ONE[:-1], f"{ONE}0", "a.png " + ONE, "g" * 64):
        file.write_text(f"{OTHER}\n{line}\n")
        with pytest.raises(KnownImagesError, match=r"^The list of pictures .*\(Line 2 of"):
            known_images(file)
