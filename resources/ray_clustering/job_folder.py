"""The files of one clustering job, in a folder that every node sees: input, finished blocks, result.

Arrays are memory-mapped: the processes of a node share one copy, and only the pages they access are
read. What belongs here: the folder's files. What does not: running the job (`__main__.py`).
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from uuid import uuid4

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from methods.clustering.communities import Community
from methods.clustering.neighbours import (
    Pairs,
    PreparedVectors,
    Vectors,
    block_pairs,
    blocks,
    prepare,
)
from methods.clustering.pair_filter import PairFilter
from methods.json_text import from_json
from resources.ray_clustering.cluster import FolderOfJob

Block = tuple[int, int]
"""The first row of a block and the row after its last one."""

_KEY = re.compile(r"[0-9a-f]{32}")
"""The name of a folder; those of other work beside it have another form."""


class JobFolderInUse(RuntimeError):
    """Another run uses the same job folder."""


class JobFolder(FolderOfJob):
    """The folder of one clustering job: of some vectors, at one tau, in blocks of some rows."""

    # --- Input -----------------------------------------------------------------------------------

    def write_input(self, vectors: Vectors, tau: float, rows: int) -> None:
        """Prepare vectors, shape (n, d), unless that is done already. Raises ThresholdError."""
        if self._prepared.exists():
            return
        prepared = prepare(vectors, tau)
        numbers = {"tau": tau, "bound": prepared.pair_filter.bound, "rows": rows}
        unfinished = self.path / f"{uuid4().hex}.tmp"
        unfinished.mkdir(parents=True)
        _save(unfinished / "vectors.npy", prepared.vectors)
        _save(unfinished / "heads.npy", prepared.pair_filter.heads)
        _save(unfinished / "first.npy", prepared.first)
        _save(unfinished / "distinct_of.npy", prepared.distinct_of)
        (unfinished / "numbers.json").write_text(json.dumps(numbers))
        unfinished.rename(self._prepared)

    @cached_property
    def prepared(self) -> PreparedVectors:
        """The prepared vectors, memory-mapped."""
        return PreparedVectors(
            _mapped(self._prepared / "vectors.npy"),
            PairFilter(_mapped(self._prepared / "heads.npy"), self._numbers["bound"]),
            self._numbers["tau"],
            _mapped(self._prepared / "first.npy"),
            _mapped(self._prepared / "distinct_of.npy"),
        )

    @cached_property
    def blocks(self) -> list[Block]:
        """All blocks of the job; the first has the most columns."""
        return blocks(self.prepared, int(self._numbers["rows"]))

    # --- Blocks ----------------------------------------------------------------------------------

    def n_pairs(self, block: Block) -> int | None:
        """The number of pairs of a block; None if it is not finished."""
        path = self._block(block)
        return _mapped(path).shape[1] if path.is_file() else None

    def run_block(self, block: Block) -> int:
        """Find the pairs of a block, unless it is finished, and return their number."""
        n_found = self.n_pairs(block)
        if n_found is not None:
            return n_found
        pairs = block_pairs(self.prepared, *block)
        self._block(block).parent.mkdir(exist_ok=True)
        _save(self._block(block), [pairs.low, pairs.high])
        return len(pairs.low)

    def pairs(self) -> Iterator[Pairs]:
        """Pairs of each block; all blocks must be finished."""
        for block in self.blocks:
            low, high = _mapped(self._block(block))
            yield Pairs(low, high)

    # --- Result ----------------------------------------------------------------------------------

    def has_communities(self, min_size: int) -> bool:
        """Whether the communities of at least `min_size` are written."""
        return self._communities(min_size).exists()

    def write_communities(self, min_size: int, communities: Iterable[Community]) -> None:
        """Write communities for `read_communities`."""
        listed = list(communities)
        ends = np.cumsum([len(community.members) for community in listed], dtype=np.int64)
        members = [index for community in listed for index in community.members]
        similarities = [near for community in listed for near in community.similarities]
        with _atomic(self._communities(min_size)) as unfinished, unfinished.open("wb") as file:
            np.savez(
                file,
                ends=ends,
                members=np.array(members, dtype=np.int64),
                similarities=np.array(similarities),
            )

    def read_communities(self, min_size: int) -> list[Community]:
        """The communities that `write_communities` wrote."""
        with np.load(self._communities(min_size)) as arrays:
            members, similarities = arrays["members"].tolist(), arrays["similarities"].tolist()
            ends = arrays["ends"].tolist()
        return [
            Community(members[start], tuple(members[start:end]), tuple(similarities[start:end]))
            for start, end in zip([0, *ends], ends, strict=False)
        ]

    # --- Paths -----------------------------------------------------------------------------------

    @property
    def _prepared(self) -> Path:
        return self.path / "prepared"

    @cached_property
    def _numbers(self) -> dict[str, float]:
        return from_json((self._prepared / "numbers.json").read_text(), most=None)

    def _block(self, block: Block) -> Path:
        return self.path / "blocks" / f"{block[0]}-{block[1]}.npy"

    def _communities(self, min_size: int) -> Path:
        return self.path / f"communities-{min_size}.npz"


@contextmanager
def open_job_folder(root: Path, vectors: Vectors, tau: float, rows: int) -> Iterator[JobFolder]:
    """The job folder of these vectors under `root`, locked for this process.

    If the context is left without an error, the folder is deleted, and so are unlocked folders of other
    vectors. After an error the folder stays, and the next run reuses its finished blocks. Raises
    JobFolderInUse, ThresholdError.
    """
    path = root / _key(vectors, tau, rows)
    root.mkdir(parents=True, exist_ok=True)
    try:
        # The lock is shared within the process: both passes may have the same vectors.
        with FileLock(f"{path}.lock", timeout=0, is_singleton=True):
            folder = JobFolder(path)
            folder.write_input(vectors, tau, rows)
            yield folder
            others = [entry for entry in root.iterdir() if _KEY.fullmatch(entry.name)]
            for other in [entry for entry in others if entry.is_dir() and entry != path]:
                with suppress(Timeout), FileLock(f"{other}.lock", timeout=0):
                    shutil.rmtree(other, ignore_errors=True)
            shutil.rmtree(path, ignore_errors=True)
    except Timeout:
        raise JobFolderInUse(f"Another run clusters the same vectors in {path}.") from None


def _key(vectors: Vectors, tau: float, rows: int) -> str:
    """Name of the folder: a hash of the vectors' bits, tau and the size of a block."""
    digest = hashlib.sha256(f"{vectors.shape} {vectors.dtype} {tau!r} {rows}".encode())
    digest.update(np.ascontiguousarray(vectors).data.cast("B"))
    return digest.hexdigest()[:32]


def _mapped(path: Path) -> NDArray:
    """A memory-mapped array, copy-on-write: torch needs writable pages, the file stays unchanged."""
    return np.load(path, mmap_mode="c")


def _save(path: Path, array: NDArray | list[NDArray[np.int32]]) -> None:
    with _atomic(path) as unfinished, unfinished.open("wb") as file:
        np.save(file, array)


@contextmanager
def _atomic(path: Path) -> Iterator[Path]:
    """A temporary path to write to; it is renamed to `path` once the file is complete and durable."""
    unfinished = path.with_name(f"{path.name}.{uuid4().hex}.tmp")
    try:
        yield unfinished
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
