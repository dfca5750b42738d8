"""Blocks of rows as files: what is done once is not done again, whatever ends on the way."""

from pathlib import Path

import pyarrow as pa
import pytest

from resources.ray_rows.folder import RowFolder

pytestmark = pytest.mark.slow


def rows(*numbers: int) -> pa.Table:
    return pa.table({"id": [f"r{n}" for n in numbers], "n": pa.array(numbers, pa.int64())})


class Squares:
    """What is done with rows; `done` has those that it was given."""

    def __init__(self) -> None:
        self.done: list[int] = []

    def __call__(self, block: pa.Table) -> pa.Table:
        numbers = block["n"].to_pylist()
        self.done += numbers
        return block.append_column("square", pa.array([n * n for n in numbers], pa.int64()))


@pytest.fixture
def folder(tmp_path: Path) -> RowFolder:
    return RowFolder(tmp_path / "rows")


def taken(folder: RowFolder) -> dict[int, int]:
    blocks = [block.to_pydict() for block in folder.take()]
    return {
        n: square for block in blocks for n, square in zip(block["n"], block["square"], strict=True)
    }


def test_each_row_is_done_once_in_blocks_of_the_rows_order(folder):
    squares = Squares()
    assert folder.plan(rows(3, 1, 2, 5, 4), 2) == 3

    for name in folder.todo():
        assert folder.run(name, squares) == (1 if len(squares.done) == 5 else 2)

    assert squares.done == [3, 1, 2, 5, 4] and folder.todo() == []
    assert taken(folder) == {1: 1, 2: 4, 3: 9, 4: 16, 5: 25}
    assert taken(folder) == {}


@pytest.mark.parametrize("is_taken", [False, True])
def test_a_block_that_was_done_is_not_done_again_by_a_worker_that_comes_late(folder, is_taken):
    squares = Squares()
    folder.plan(rows(1, 2), 2)
    (name,) = folder.todo()
    folder.run(name, squares)
    if is_taken:
        taken(folder)

    assert folder.run(name, squares) == 0 and squares.done == [1, 2]


def test_who_is_killed_while_a_block_is_stored_gets_it_again(folder):
    folder.plan(rows(1, 2), 1)
    for name in folder.todo():
        folder.run(name, Squares())
    first = next(folder.take())

    assert first["n"].to_pylist() == [1]
    assert taken(folder) == {1: 1, 2: 4} and folder.todo() == []


def test_the_next_run_keeps_whole_blocks_and_drops_what_nobody_wants(folder):
    folder.plan(rows(1, 2, 3, 4, 5), 2)
    kept, _, dropped = folder.todo()

    assert folder.plan(rows(1, 2, 3, 6), 2) == 2

    assert kept in folder.todo() and dropped not in folder.todo()
    squares = Squares()
    for name in folder.todo():
        folder.run(name, squares)
    assert sorted(squares.done) == [1, 2, 3, 6]


def test_a_worker_that_fails_leaves_its_block_to_do(folder):
    def fail(_block: pa.Table) -> pa.Table:
        raise ZeroDivisionError

    folder.plan(rows(1), 1)
    (name,) = folder.todo()
    with pytest.raises(ZeroDivisionError):
        folder.run(name, fail)

    assert folder.todo() == [name] and taken(folder) == {}


def test_an_error_is_told_once(folder):
    assert folder.take_error() is None
    folder.write_error("The model cannot be loaded.")
    assert folder.take_error() == "The model cannot be loaded." and folder.take_error() is None


def test_after_cancel_a_running_job_finds_nothing_to_do_and_finished_blocks_stay(folder):
    squares = Squares()
    folder.plan(rows(1, 2, 3), 1)
    first, *later = folder.todo()
    folder.run(first, squares)

    folder.cancel()

    assert [folder.run(name, squares) for name in later] == [0, 0]
    assert folder.todo() == [] and taken(folder) == {1: 1}
