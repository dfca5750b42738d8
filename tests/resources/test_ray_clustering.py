"""The work of a Ray job as files, and how its blocks are asked for; no Ray is needed for either."""

import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from methods.clustering.communities import Community, communities_of, threshold_communities
from methods.clustering.neighbours import MAX_PAIRS, ThresholdError, merge
from resources.home import REPO_ROOT
from resources.ray_clustering import sharing
from resources.ray_clustering import work as work_module
from resources.ray_clustering.work import Work, WorkInUse, work_of

TAU = 0.75


def clumps(n_clumps: int, of_each: int, seed: int = 0, spread: float = 0.3) -> np.ndarray:
    """Unit vectors about `n_clumps` directions of 32 dimensions, in random order."""
    rng = np.random.default_rng(seed)
    vectors = np.repeat(rng.normal(size=(n_clumps, 32)), of_each, axis=0)
    vectors += rng.normal(size=vectors.shape) * spread
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return rng.permutation(vectors).astype(np.float32)


def done(work: Work, min_size: int = 2) -> list[Community]:
    """What a job makes of a work, in one process."""
    for block in reversed(work.blocks):
        work.do(block)
    neighbours = merge(work.prepared, work.pairs())
    work.finish(min_size, communities_of(neighbours, min_size))
    return work.communities(min_size)


# --- The same communities, to the last bit -------------------------------------------------------


@pytest.mark.parametrize("rows", [7, 64, 1000])
@pytest.mark.parametrize("spread", [0.05, 0.3, 0.6])
def test_blocks_and_a_merge_give_what_one_pass_gives(tmp_path, rows, spread):
    vectors = clumps(20, 10, seed=rows, spread=spread)
    vectors[50:60] = vectors[:10]
    vectors[60] = 0.0

    for min_size in (2, 5):
        with work_of(tmp_path, vectors, TAU, rows) as work:
            found = done(work, min_size)
        assert found == threshold_communities(vectors, TAU, min_size)
        assert found or spread == 0.6


def test_nobody_near_anybody_is_no_community(tmp_path):
    with work_of(tmp_path, np.eye(8, dtype=np.float32), TAU, 3) as work:
        assert done(work) == []


def test_a_community_comes_out_of_its_file_as_it_went_in(tmp_path):
    made = [Community(4, (4, 0, 9), (1.0, 0.1 + 0.2, 1 / 3)), Community(7, (7, 2), (1.0, 0.75))]
    Work(tmp_path).finish(2, made)

    assert Work(tmp_path).communities(2) == made
    assert Work(tmp_path).is_finished(2) and not Work(tmp_path).is_finished(3)


# --- What stays, and for whom --------------------------------------------------------------------


def interrupted(root: Path, vectors: np.ndarray, n_blocks: int, rows: int = 50) -> Work:
    """A work with so many blocks done, by who then failed."""
    with pytest.raises(ZeroDivisionError), work_of(root, vectors, TAU, rows) as work:
        for block in work.blocks[:n_blocks]:
            work.do(block)
        raise ZeroDivisionError
    return work


def test_after_an_error_what_was_done_is_there(tmp_path, monkeypatch):
    """200 vectors in blocks of 50 rows: 4 blocks, 3 of them done."""
    vectors = clumps(20, 10)
    before = interrupted(tmp_path, vectors, 3)
    monkeypatch.setattr(work_module, "prepare", None)
    asked = []
    find = work_module.block_pairs
    monkeypatch.setattr(
        work_module, "block_pairs", lambda *block: asked.append(block[1:]) or find(*block)
    )

    with work_of(tmp_path, vectors, TAU, 50) as work:
        assert work.folder == before.folder
        assert [work.n_found(block) is None for block in work.blocks] == [False] * 3 + [True]
        found = done(work)

    assert asked == [(150, 200)]
    assert found == threshold_communities(vectors, TAU)


def test_other_vectors_another_tau_and_other_blocks_are_other_work(tmp_path):
    vectors = clumps(4, 5)
    moved = vectors.copy()
    moved[3, 3] = np.nextafter(moved[3, 3], np.float32(1))
    folders = set()
    for given in ((vectors, 0.75, 8), (moved, 0.75, 8), (vectors, 0.7, 8), (vectors, 0.75, 9)):
        with work_of(tmp_path, *given) as work:
            folders.add(work.folder)
    with work_of(tmp_path, vectors.copy(), 0.75, 8) as work:
        assert work.folder in folders

    assert len(folders) == 4


def test_who_is_through_leaves_nothing_but_locks(tmp_path):
    """What an earlier run left of other vectors goes; what another process is at stays."""
    left = interrupted(tmp_path, clumps(4, 5), 1)
    at_work = interrupted(tmp_path, clumps(5, 5), 1)

    with locked(f"{at_work.folder}.lock"), work_of(tmp_path, clumps(6, 5), TAU, 50) as mine:
        done(mine)

    assert not left.folder.exists() and not mine.folder.exists()
    assert at_work.n_found(at_work.blocks[0]) is not None
    assert {path.suffix for path in tmp_path.iterdir()} == {"", ".lock"}


def test_two_processes_are_not_at_one_work(tmp_path):
    vectors = clumps(4, 5)
    folder = interrupted(tmp_path, vectors, 1).folder

    with (
        locked(f"{folder}.lock"),
        pytest.raises(WorkInUse, match=f"^Another run clusters the same vectors in {folder}.$"),
        work_of(tmp_path, vectors, TAU, 50),
    ):
        pass

    assert folder.exists()


def test_one_process_may_be_given_the_same_vectors_twice(tmp_path):
    """As when captions are equal to categories."""
    vectors = clumps(4, 5)
    with work_of(tmp_path, vectors, TAU, 8) as one, work_of(tmp_path, vectors, TAU, 8) as two:
        assert done(one) == done(two) == threshold_communities(vectors, TAU)


def locked(lock: str) -> subprocess.Popen:
    """A process that holds a lock, until it is left."""
    script = """
        import sys
        from filelock import FileLock

        with FileLock(sys.argv[1]):
            print(flush=True)
            sys.stdin.read()
    """
    command = [sys.executable, "-c", textwrap.dedent(script), lock]
    process = subprocess.Popen(
        command, cwd=REPO_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"\n"
    # Leaving a Popen closes its streams, and then waits.
    return process


def test_a_block_that_cannot_be_written_is_not_done(tmp_path, monkeypatch):
    """A full disk leaves no half of a file, and the block is done again."""
    vectors = clumps(20, 10)

    def half(file, array) -> None:
        file.write(b"\x93NUMPY")
        raise OSError(28, "No space left on device")

    with work_of(tmp_path, vectors, TAU, 50) as work:
        block = work.blocks[0]
        with monkeypatch.context() as patch:
            patch.setattr(np, "save", half)
            with pytest.raises(OSError, match="No space"):
                work.do(block)
        assert work.n_found(block) is None
        assert list((work.folder / "blocks").iterdir()) == []
        assert work.do(block) == work.n_found(block) > 0


def test_vectors_that_cannot_be_clustered_leave_nothing_to_go_on_with(tmp_path):
    vectors = clumps(4, 5)
    vectors[2, 2] = np.nan

    with pytest.raises(ThresholdError, match="not finite"), work_of(tmp_path, vectors, TAU, 8):
        pass

    assert [path.suffix for path in tmp_path.iterdir()] == [".lock"]


def test_a_refusal_is_read_once(tmp_path):
    Work(tmp_path).refuse("Too many pairs.")

    assert Work(tmp_path).refusal() == "Too many pairs."
    assert Work(tmp_path).refusal() is None


# --- Which block is asked for when ---------------------------------------------------------------


class Ray(SimpleNamespace):
    """Does a task when it is waited for, the last one first; counts how many wait."""

    def __init__(self, cores: int) -> None:
        super().__init__(asked=[], most=0, waiting=0, cores=cores)

    def remote(self, max_retries):
        assert max_retries == 3

        def task(folder, block):
            self.asked.append(block)
            self.waiting += 1
            self.most = max(self.most, self.waiting)
            return lambda: (Work(Path(folder)).do(block), f"node/{len(self.asked) % 3}")

        return lambda _function: SimpleNamespace(remote=task)

    def cluster_resources(self):
        return {"CPU": float(self.cores)}

    def wait(self, running, timeout):
        self.waiting -= 1
        return running[-1:], running[:-1]

    def get(self, ready):
        return [task() for task in ready]


def test_few_blocks_wait_at_once_and_the_largest_are_asked_for_first(tmp_path, monkeypatch):
    """20 blocks, 3 done before; two cores hold 4 of them. After it, all are done."""
    vectors, said = clumps(20, 10), []
    interrupted(tmp_path, vectors, 3, rows=10)
    monkeypatch.setitem(sys.modules, "ray", ray := Ray(cores=2))

    with work_of(tmp_path, vectors, TAU, 10) as work:
        sharing.do_all(work, said.append)
        n_pairs = sum(work.n_found(block) for block in work.blocks)
        assert ray.asked == work.blocks[3:]

    assert ray.most == 4
    assert said == [f"20/20 blocks (3 of them by an earlier job), {n_pairs:,} pairs, 3 workers"]


def test_how_far_it_is_is_said_every_few_seconds(tmp_path, monkeypatch):
    """Each look at the clock is 3 s after the one before: the second block and the fourth are told."""
    ticks = iter(range(0, 100, 3))
    said = []
    monkeypatch.setitem(sys.modules, "ray", Ray(cores=1))
    monkeypatch.setattr(sharing, "time", SimpleNamespace(monotonic=lambda: next(ticks)))

    with work_of(tmp_path, np.eye(8, dtype=np.float32), TAU, 2) as work:
        sharing.do_all(work, said.append)

    assert [line.split(" blocks")[0] for line in said] == ["2/4", "4/4", "4/4"]


def test_too_many_pairs_end_it_before_the_rest_is_done(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", ray := Ray(cores=1))
    monkeypatch.setattr(Work, "do", lambda _work, _block: MAX_PAIRS // 2 + 1)

    with (
        pytest.raises(ThresholdError, match=f"More than {MAX_PAIRS:,} pairs lie within tau"),
        work_of(tmp_path, clumps(20, 10), TAU, 10) as work,
    ):
        sharing.do_all(work, print)

    assert len(ray.asked) == 3
