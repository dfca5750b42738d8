"""What stands in files for Ray, which is not needed here: blocks of rows, and pairs of neighbours."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pytest

from methods.clustering.communities import Community, communities_from_graph, threshold_communities
from methods.clustering.neighbours import MAX_PAIRS, ThresholdError, merge
from resources.ray_rows import neighbour_pairs
from resources.ray_rows.folder import RowFolder
from resources.ray_rows.neighbour_pairs import (
    PairFolder,
    PairFolderInUse,
    find_on_worker,
    open_pair_folder,
)
from tests.doubles.scripts import start


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


def test_a_block_is_not_done_again_by_a_worker_that_comes_late_and_given_until_it_is_stored(folder):
    squares = Squares()
    folder.plan(rows(1, 2), 1)
    names = folder.todo()
    for n_rows in (1, 0):
        assert [folder.run(name, squares) for name in names] == [n_rows] * 2
    # Who is killed while a block is stored gets it again.
    assert next(folder.take())["n"].to_pylist() == [1]
    assert taken(folder) == {1: 1, 2: 4} and folder.todo() == []
    assert [folder.run(name, squares) for name in names] == [0, 0] and squares.done == [1, 2]


def test_the_next_run_keeps_whole_blocks_and_drops_what_nobody_wants(folder):
    folder.plan(rows(1, 2, 3, 4, 5), 2)
    kept, _, dropped = folder.todo()

    assert folder.plan(rows(1, 2, 3, 6), 2) == 2

    assert kept in folder.todo() and dropped not in folder.todo()
    squares = Squares()
    for name in folder.todo():
        folder.run(name, squares)
    assert sorted(squares.done) == [1, 2, 3, 6]


def test_a_worker_that_fails_leaves_its_block_to_do_and_its_error_is_told_once(folder):
    folder.plan(rows(1), 1)
    (name,) = folder.todo()
    with pytest.raises(ZeroDivisionError):
        folder.run(name, Mock(side_effect=ZeroDivisionError))

    assert folder.todo() == [name] and taken(folder) == {}
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


TAU = 0.75


def clumps(n_clumps: int, of_each: int, seed: int = 0, spread: float = 0.3) -> np.ndarray:
    """Unit vectors about `n_clumps` directions of 32 dimensions, in random order."""
    rng = np.random.default_rng(seed)
    vectors = np.repeat(rng.normal(size=(n_clumps, 32)), of_each, axis=0)
    vectors += rng.normal(size=vectors.shape) * spread
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return rng.permutation(vectors).astype(np.float32)


def find_blocks(folder: PairFolder, n_blocks: int | None = None) -> list[str]:
    """Find and store the pairs of unfinished blocks, the last one first; returns their ids."""
    rows = folder.unfinished_blocks().slice(0, n_blocks)
    work = find_on_worker(str(folder.path))
    for i in reversed(range(rows.num_rows)):
        folder.store(work(rows.slice(i, 1)))
    return rows["block_id"].to_pylist()


def communities(folder: PairFolder, min_size: int = 2) -> list[Community]:
    find_blocks(folder)
    return communities_from_graph(merge(folder.prepared, folder.pairs()), min_size)


@pytest.mark.parametrize(("rows", "spread"), [(7, 0.3), (64, 0.05), (64, 0.6), (1000, 0.3)])
def test_blocks_and_a_merge_give_what_one_pass_gives(tmp_path, rows, spread):
    vectors = clumps(20, 10, seed=rows, spread=spread)
    vectors[50:60] = vectors[:10]
    vectors[60] = 0.0

    for min_size in (2, 5):
        with open_pair_folder(tmp_path, vectors, TAU, rows) as folder:
            result = communities(folder, min_size)
        assert result == threshold_communities(vectors, TAU, min_size)
        assert result or spread == 0.6


def interrupted(root: Path, vectors: np.ndarray, n_blocks: int, rows: int = 50) -> PairFolder:
    """A folder with the pairs of `n_blocks` blocks, left by a run that failed."""
    with pytest.raises(ZeroDivisionError), open_pair_folder(root, vectors, TAU, rows) as folder:
        find_blocks(folder, n_blocks)
        raise ZeroDivisionError
    return folder


def test_the_run_after_an_error_searches_only_the_blocks_that_are_missing(tmp_path, monkeypatch):
    """200 vectors in blocks of 50 rows: 3 of 4 blocks are done. Vectors are not prepared again."""
    vectors = clumps(20, 10)
    before = interrupted(tmp_path, vectors, 3)
    monkeypatch.setattr(neighbour_pairs, "prepare", None)

    with open_pair_folder(tmp_path, vectors, TAU, 50) as folder:
        assert folder.path == before.path
        assert find_blocks(folder) == ["150-200"]
        assert communities(folder) == threshold_communities(vectors, TAU)


def test_other_vectors_another_tau_and_other_blocks_have_other_folders(tmp_path):
    vectors = clumps(4, 5)
    moved = vectors.copy()
    moved[3, 3] = np.nextafter(moved[3, 3], np.float32(1))
    folders = set()
    for search in ((vectors, 0.75, 8), (moved, 0.75, 8), (vectors, 0.7, 8), (vectors, 0.75, 9)):
        with open_pair_folder(tmp_path, *search) as folder:
            folders.add(folder.path)
    with open_pair_folder(tmp_path, vectors.copy(), 0.75, 8) as folder:
        assert folder.path in folders

    assert len(folders) == 4


def test_success_deletes_the_folder_and_unlocked_folders_of_other_vectors(tmp_path):
    left = interrupted(tmp_path, clumps(4, 5), 1)
    in_use = interrupted(tmp_path, clumps(5, 5), 1)

    with locked(f"{in_use.path}.lock"), open_pair_folder(tmp_path, clumps(6, 5), TAU, 50) as own:
        communities(own)

    assert not left.path.exists() and not own.path.exists()
    assert in_use.unfinished_blocks().num_rows == 0
    assert {path.suffix for path in tmp_path.iterdir()} == {"", ".lock"}


def test_two_processes_do_not_search_the_same_vectors_at_once(tmp_path):
    vectors = clumps(4, 5)
    folder = interrupted(tmp_path, vectors, 1).path

    with (
        locked(f"{folder}.lock"),
        pytest.raises(
            PairFolderInUse, match=f"^Another run clusters the same vectors in {folder}.$"
        ),
        open_pair_folder(tmp_path, vectors, TAU, 50),
    ):
        pass

    assert folder.exists()


def test_one_process_may_search_the_same_vectors_twice(tmp_path):
    """As when captions are equal to categories."""
    vectors = clumps(4, 5)
    with (
        open_pair_folder(tmp_path, vectors, TAU, 8) as one,
        open_pair_folder(tmp_path, vectors, TAU, 8) as two,
    ):
        two.store(two.find(two.unfinished_blocks()))  # Several blocks at once.
        assert communities(one) == communities(two) == threshold_communities(vectors, TAU)


@contextmanager
def locked(lock: str) -> Iterator[None]:
    """Another process holds the lock in the block."""
    script = """
        import filelock, sys
        with filelock.FileLock(sys.argv[1]):
            print(flush=True)
            sys.stdin.read()
    """
    with start(script, lock, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None and holder.stdout.readline()
        yield


def test_a_block_that_cannot_be_written_is_unfinished(tmp_path, monkeypatch):
    """A full disk leaves no half of a file, and the block is searched again."""
    with open_pair_folder(tmp_path, clumps(20, 10), TAU, 50) as folder:
        block = folder.find(folder.unfinished_blocks().slice(0, 1))

        def write_half(file, _array) -> None:
            file.write(b"\x93NUMPY")
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(np, "save", write_half)
            with pytest.raises(OSError, match="No space"):
                folder.store(block)
        assert folder.unfinished_blocks().num_rows == 4
        assert list((folder.path / "pairs").iterdir()) == []
        folder.store(block)
        assert folder.unfinished_blocks().num_rows == 3


def test_vectors_that_cannot_be_clustered_leave_no_folder(tmp_path):
    vectors = clumps(4, 5)
    vectors[2, 2] = np.nan
    with pytest.raises(ThresholdError, match="not finite"):
        open_pair_folder(tmp_path, vectors, TAU, 8).__enter__()
    assert [path.suffix for path in tmp_path.iterdir()] == [".lock"]


def test_too_many_pairs_are_an_error_as_soon_as_they_are_stored(tmp_path, monkeypatch):
    """Pairs of an earlier run count, and a block that is stored twice counts once."""
    vectors = clumps(20, 10)
    with open_pair_folder(tmp_path, vectors, TAU, 50) as folder:
        find_blocks(folder)
        n_pairs = [len(pairs.low) for pairs in folder.pairs()]
    interrupted(tmp_path, vectors, 2)
    monkeypatch.setattr("methods.clustering.neighbours.MAX_PAIRS", sum(n_pairs[:3]))

    with open_pair_folder(tmp_path, vectors, TAU, 50) as folder:
        third, fourth = (folder.find(folder.unfinished_blocks().slice(i, 1)) for i in (0, 1))
        folder.store(third)
        folder.store(third)
        with pytest.raises(
            ThresholdError, match=f"More than {sum(n_pairs[:3]):,} pairs lie within"
        ):
            folder.store(fourth)
    assert n_pairs[3] > 0 and sum(n_pairs) < MAX_PAIRS
