"""The folder of a Ray job as files, and how its blocks are asked for; no Ray is needed for either."""

import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from methods.clustering.communities import Community, communities_from_graph, threshold_communities
from methods.clustering.neighbours import MAX_PAIRS, ThresholdError, merge
from resources.files.home import REPO_ROOT
from resources.ray_clustering import job_folder as job_folder_module
from resources.ray_clustering import scheduler
from resources.ray_clustering.job_folder import JobFolder, JobFolderInUse, open_job_folder

TAU = 0.75


def clumps(n_clumps: int, of_each: int, seed: int = 0, spread: float = 0.3) -> np.ndarray:
    """Unit vectors about `n_clumps` directions of 32 dimensions, in random order."""
    rng = np.random.default_rng(seed)
    vectors = np.repeat(rng.normal(size=(n_clumps, 32)), of_each, axis=0)
    vectors += rng.normal(size=vectors.shape) * spread
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return rng.permutation(vectors).astype(np.float32)


def done(folder: JobFolder, min_size: int = 2) -> list[Community]:
    """What a job makes of a folder, in one process."""
    for block in reversed(folder.blocks):
        folder.run_block(block)
    neighbours = merge(folder.prepared, folder.pairs())
    folder.write_communities(min_size, communities_from_graph(neighbours, min_size))
    return folder.read_communities(min_size)


# --- The same communities, to the last bit -------------------------------------------------------


@pytest.mark.parametrize("rows", [7, 64, 1000])
@pytest.mark.parametrize("spread", [0.05, 0.3, 0.6])
def test_blocks_and_a_merge_give_what_one_pass_gives(tmp_path, rows, spread):
    vectors = clumps(20, 10, seed=rows, spread=spread)
    vectors[50:60] = vectors[:10]
    vectors[60] = 0.0

    for min_size in (2, 5):
        with open_job_folder(tmp_path, vectors, TAU, rows) as folder:
            found = done(folder, min_size)
        assert found == threshold_communities(vectors, TAU, min_size)
        assert found or spread == 0.6


def test_nobody_near_anybody_is_no_community(tmp_path):
    with open_job_folder(tmp_path, np.eye(8, dtype=np.float32), TAU, 3) as folder:
        assert done(folder) == []


def test_a_community_comes_out_of_its_file_as_it_went_in(tmp_path):
    made = [Community(4, (4, 0, 9), (1.0, 0.1 + 0.2, 1 / 3)), Community(7, (7, 2), (1.0, 0.75))]
    JobFolder(tmp_path).write_communities(2, made)

    assert JobFolder(tmp_path).read_communities(2) == made
    assert JobFolder(tmp_path).has_communities(2) and not JobFolder(tmp_path).has_communities(3)


# --- What stays, and for whom --------------------------------------------------------------------


def interrupted(root: Path, vectors: np.ndarray, n_blocks: int, rows: int = 50) -> JobFolder:
    """A folder with so many blocks done, by who then failed."""
    with pytest.raises(ZeroDivisionError), open_job_folder(root, vectors, TAU, rows) as folder:
        for block in folder.blocks[:n_blocks]:
            folder.run_block(block)
        raise ZeroDivisionError
    return folder


def test_after_an_error_what_was_done_is_there(tmp_path, monkeypatch):
    """200 vectors in blocks of 50 rows: 4 blocks, 3 of them done."""
    vectors = clumps(20, 10)
    before = interrupted(tmp_path, vectors, 3)
    monkeypatch.setattr(job_folder_module, "prepare", None)
    asked = []
    find = job_folder_module.block_pairs
    monkeypatch.setattr(
        job_folder_module, "block_pairs", lambda *block: asked.append(block[1:]) or find(*block)
    )

    with open_job_folder(tmp_path, vectors, TAU, 50) as folder:
        assert folder.path == before.path
        assert [folder.n_pairs(block) is None for block in folder.blocks] == [False] * 3 + [True]
        found = done(folder)

    assert asked == [(150, 200)]
    assert found == threshold_communities(vectors, TAU)


def test_other_vectors_another_tau_and_other_blocks_are_other_work(tmp_path):
    vectors = clumps(4, 5)
    moved = vectors.copy()
    moved[3, 3] = np.nextafter(moved[3, 3], np.float32(1))
    folders = set()
    for given in ((vectors, 0.75, 8), (moved, 0.75, 8), (vectors, 0.7, 8), (vectors, 0.75, 9)):
        with open_job_folder(tmp_path, *given) as folder:
            folders.add(folder.path)
    with open_job_folder(tmp_path, vectors.copy(), 0.75, 8) as folder:
        assert folder.path in folders

    assert len(folders) == 4


def test_who_is_through_leaves_nothing_but_locks(tmp_path):
    """What an earlier run left of other vectors goes; what another process is at stays."""
    left = interrupted(tmp_path, clumps(4, 5), 1)
    at_work = interrupted(tmp_path, clumps(5, 5), 1)

    with locked(f"{at_work.path}.lock"), open_job_folder(tmp_path, clumps(6, 5), TAU, 50) as mine:
        done(mine)

    assert not left.path.exists() and not mine.path.exists()
    assert at_work.n_pairs(at_work.blocks[0]) is not None
    assert {path.suffix for path in tmp_path.iterdir()} == {"", ".lock"}


def test_two_processes_are_not_at_one_work(tmp_path):
    vectors = clumps(4, 5)
    folder = interrupted(tmp_path, vectors, 1).path

    with (
        locked(f"{folder}.lock"),
        pytest.raises(
            JobFolderInUse, match=f"^Another run clusters the same vectors in {folder}.$"
        ),
        open_job_folder(tmp_path, vectors, TAU, 50),
    ):
        pass

    assert folder.exists()


def test_one_process_may_be_given_the_same_vectors_twice(tmp_path):
    """As when captions are equal to categories."""
    vectors = clumps(4, 5)
    with (
        open_job_folder(tmp_path, vectors, TAU, 8) as one,
        open_job_folder(tmp_path, vectors, TAU, 8) as two,
    ):
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

    with open_job_folder(tmp_path, vectors, TAU, 50) as folder:
        block = folder.blocks[0]
        with monkeypatch.context() as patch:
            patch.setattr(np, "save", half)
            with pytest.raises(OSError, match="No space"):
                folder.run_block(block)
        assert folder.n_pairs(block) is None
        assert list((folder.path / "blocks").iterdir()) == []
        assert folder.run_block(block) == folder.n_pairs(block) > 0


def test_vectors_that_cannot_be_clustered_leave_nothing_to_go_on_with(tmp_path):
    vectors = clumps(4, 5)
    vectors[2, 2] = np.nan

    with (
        pytest.raises(ThresholdError, match="not finite"),
        open_job_folder(tmp_path, vectors, TAU, 8),
    ):
        pass

    assert [path.suffix for path in tmp_path.iterdir()] == [".lock"]


def test_a_refusal_is_read_once(tmp_path):
    JobFolder(tmp_path).write_error("Too many pairs.")

    assert JobFolder(tmp_path).take_error() == "Too many pairs."
    assert JobFolder(tmp_path).take_error() is None


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
            return lambda: (JobFolder(Path(folder)).run_block(block), f"node/{len(self.asked) % 3}")

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

    with open_job_folder(tmp_path, vectors, TAU, 10) as folder:
        scheduler.run_blocks(folder, said.append)
        n_pairs = sum(folder.n_pairs(block) for block in folder.blocks)
        assert ray.asked == folder.blocks[3:]

    assert ray.most == 4
    assert said == [f"20/20 blocks (3 of them by an earlier job), {n_pairs:,} pairs, 3 workers"]


def test_how_far_it_is_is_said_every_few_seconds(tmp_path, monkeypatch):
    """Each look at the clock is 3 s after the one before: the second block and the fourth are told."""
    ticks = iter(range(0, 100, 3))
    said = []
    monkeypatch.setitem(sys.modules, "ray", Ray(cores=1))
    monkeypatch.setattr(scheduler, "time", SimpleNamespace(monotonic=lambda: next(ticks)))

    with open_job_folder(tmp_path, np.eye(8, dtype=np.float32), TAU, 2) as folder:
        scheduler.run_blocks(folder, said.append)

    assert [line.split(" blocks")[0] for line in said] == ["2/4", "4/4", "4/4"]


def test_too_many_pairs_end_it_before_the_rest_is_done(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", ray := Ray(cores=1))
    monkeypatch.setattr(JobFolder, "run_block", lambda _work, _block: MAX_PAIRS // 2 + 1)

    with (
        pytest.raises(ThresholdError, match=f"More than {MAX_PAIRS:,} pairs lie within tau"),
        open_job_folder(tmp_path, clumps(20, 10), TAU, 10) as folder,
    ):
        scheduler.run_blocks(folder, print)

    assert len(ray.asked) == 3
