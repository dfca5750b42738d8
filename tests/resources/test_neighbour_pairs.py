"""The folder with the vectors and pairs of a search on Ray; no Ray is needed for it."""

import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

from methods.clustering.communities import Community, communities_from_graph, threshold_communities
from methods.clustering.neighbours import MAX_PAIRS, ThresholdError, merge
from resources.ray_rows import neighbour_pairs
from resources.ray_rows.neighbour_pairs import (
    PairFolder,
    PairFolderInUse,
    find_on_worker,
    open_pair_folder,
)

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


# --- The same communities, to the last bit -------------------------------------------------------


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


def test_several_blocks_at_once_are_the_blocks_one_by_one(tmp_path):
    vectors = clumps(20, 10)
    with open_pair_folder(tmp_path, vectors, TAU, 50) as folder:
        folder.store(folder.find(folder.unfinished_blocks()))
        assert communities(folder) == threshold_communities(vectors, TAU)


# --- What stays after an error, and what goes ----------------------------------------------------


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
        assert communities(one) == communities(two) == threshold_communities(vectors, TAU)


@contextmanager
def locked(lock: str) -> Iterator[None]:
    """Another process holds the lock in the block."""
    fork = multiprocessing.get_context("fork")
    is_held, may_end = fork.Event(), fork.Event()

    def hold() -> None:
        with FileLock(lock):
            is_held.set()
            may_end.wait(60)

    holder = fork.Process(target=hold)
    holder.start()
    assert is_held.wait(60)
    yield
    may_end.set()
    holder.join(60)


# --- Faults --------------------------------------------------------------------------------------


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

    with (
        pytest.raises(ThresholdError, match="not finite"),
        open_pair_folder(tmp_path, vectors, TAU, 8),
    ):
        pass

    assert [path.suffix for path in tmp_path.iterdir()] == [".lock"]


def test_too_many_pairs_are_an_error_as_soon_as_they_are_stored(tmp_path, monkeypatch):
    """Pairs of an earlier run count, and a block that is stored twice counts once."""
    vectors = clumps(20, 10)
    n_pairs = [len(pairs.low) for pairs in _pairs_by_block(tmp_path, vectors)]
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


def _pairs_by_block(root: Path, vectors: np.ndarray) -> list[neighbour_pairs.Pairs]:
    with open_pair_folder(root, vectors, TAU, 50) as folder:
        find_blocks(folder)
        return list(folder.pairs())
