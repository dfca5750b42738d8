"""Exact near-duplicate search on a Ray cluster: all pairs of vectors with a cosine of at least tau.

Each row of the cluster's work is a block of the vectors. The prepared vectors and the pairs of finished
blocks are files in a folder that all nodes share. Arrays are memory-mapped: the processes of a node
share one copy, and only the memory pages that they access are read.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from methods.clustering.neighbours import (
    Pairs,
    PreparedVectors,
    Vectors,
    block_pairs,
    blocks,
    prepare,
    require_pair_limit,
)
from methods.clustering.pair_filter import PairFilter
from methods.json_text import from_json
from resources.files.atomic import draft_folder, open_atomically

FIND_ON_WORKER = "resources.ray_rows.neighbour_pairs:find_on_worker"
"""The function that creates the work function on a worker, as `module:function`."""

_KEY = re.compile(r"[0-9a-f]{32}")
"""The format of a pair folder's name; folders of other work have different names."""


class PairFolderInUse(RuntimeError):
    """Another run uses the same pair folder."""


class PairFolder:
    """The prepared vectors of one search, and the pairs found so far."""

    def __init__(self, path: Path):
        self.path = path

    def write_vectors(self, vectors: Vectors, tau: float, rows_per_block: int) -> None:
        """Prepare vectors, shape (n, d), unless the folder already has them. Raises ThresholdError."""
        if self._prepared.exists():
            return
        prepared = prepare(vectors, tau)
        numbers = {"tau": tau, "bound": prepared.pair_filter.bound, "rows": rows_per_block}
        with draft_folder(self._prepared, "vectors") as draft:
            _save(draft / "vectors.npy", prepared.vectors)
            _save(draft / "heads.npy", prepared.pair_filter.heads)
            _save(draft / "first.npy", prepared.first)
            _save(draft / "distinct_of.npy", prepared.distinct_of)
            (draft / "numbers.json").write_text(json.dumps(numbers))

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

    def unfinished_blocks(self) -> pa.Table:
        """List the work: `block_id`, `start` and `stop` of each block without stored pairs.

        The first block has the most columns, so workers start with the longest work.
        """
        bounds = [block for block in self._blocks if not self._pairs(_block_id(*block)).is_file()]
        starts, stops = [start for start, _ in bounds], [stop for _, stop in bounds]
        return pa.table(
            {
                "block_id": pa.array([_block_id(*block) for block in bounds], pa.string()),
                "start": pa.array(starts, pa.int64()),
                "stop": pa.array(stops, pa.int64()),
            }
        )

    def find(self, rows: pa.Table) -> pa.Table:
        """Find the pairs of rows of `unfinished_blocks`: `block_id`, and lists `low` and `high`."""
        blocks = [
            block_pairs(self.prepared, start, stop)
            for start, stop in zip(rows["start"].to_pylist(), rows["stop"].to_pylist(), strict=True)
        ]
        lists = pa.list_(pa.int32())
        return pa.table(
            {
                "block_id": rows["block_id"],
                "low": pa.array([pairs.low for pairs in blocks], lists),
                "high": pa.array([pairs.high for pairs in blocks], lists),
            }
        )

    def store(self, blocks: pa.Table) -> None:
        """Store a result of `find`. Raises ThresholdError if there are too many pairs."""
        n_pairs = self._n_pairs
        for block_id, low, high in zip(*blocks.columns, strict=True):
            path = self._pairs(block_id.as_py())
            if not path.is_file():
                _save(path, [low.values.to_numpy(), high.values.to_numpy()])
                n_pairs += len(low.values)
        self._n_pairs = n_pairs
        require_pair_limit(n_pairs, self._numbers["tau"])

    def pairs(self) -> Iterator[Pairs]:
        """Yield the pairs of each block. The pairs of all blocks must be stored."""
        for block in self._blocks:
            low, high = _mapped(self._pairs(_block_id(*block)))
            yield Pairs(low, high)

    @property
    def _prepared(self) -> Path:
        return self.path / "prepared"

    @cached_property
    def _numbers(self) -> dict[str, float]:
        return from_json((self._prepared / "numbers.json").read_text(), most=None)

    @cached_property
    def _blocks(self) -> list[tuple[int, int]]:
        return blocks(self.prepared, int(self._numbers["rows"]))

    @cached_property
    def _n_pairs(self) -> int:
        return sum(_mapped(path).shape[1] for path in (self.path / "pairs").glob("*.npy"))

    def _pairs(self, block_id: str) -> Path:
        return self.path / "pairs" / f"{block_id}.npy"


def find_on_worker(folder: str) -> Callable[[pa.Table], pa.Table]:
    """Return the function that processes blocks of the pair folder at the path `folder`."""
    return PairFolder(Path(folder)).find


@contextmanager
def open_pair_folder(
    root: Path, vectors: Vectors, tau: float, rows_per_block: int
) -> Iterator[PairFolder]:
    """Open the pair folder of these vectors, locked for this process.

    If the block succeeds, the folder is deleted, and so are unlocked folders of other vectors. After an
    error the folder stays, and the next run continues with it.

    Args:
        root: The folder of all pair folders.
        vectors: Shape (n, d).
        tau: The lowest cosine of a pair.
        rows_per_block: Vectors of one block.

    Raises:
        PairFolderInUse: Another process uses the folder.
        ThresholdError: The vectors or tau cannot be used.
    """
    path = root / _key(vectors, tau, rows_per_block)
    root.mkdir(parents=True, exist_ok=True)
    try:
        # The lock is shared within the process, because both passes may use the same vectors.
        with FileLock(f"{path}.lock", timeout=0, is_singleton=True):
            folder = PairFolder(path)
            folder.write_vectors(vectors, tau, rows_per_block)
            yield folder
            others = [entry for entry in root.iterdir() if _KEY.fullmatch(entry.name)]
            for other in [entry for entry in others if entry.is_dir() and entry != path]:
                with suppress(Timeout), FileLock(f"{other}.lock", timeout=0):
                    shutil.rmtree(other, ignore_errors=True)
            shutil.rmtree(path, ignore_errors=True)
    except Timeout:
        raise PairFolderInUse(f"Another run clusters the same vectors in {path}.") from None


def _block_id(start: int, stop: int) -> str:
    return f"{start}-{stop}"


def _key(vectors: Vectors, tau: float, rows: int) -> str:
    """Return the name of the folder: a hash of the vectors, tau and the block size."""
    digest = hashlib.sha256(f"{vectors.shape} {vectors.dtype} {tau!r} {rows}".encode())
    digest.update(np.ascontiguousarray(vectors).data.cast("B"))
    return digest.hexdigest()[:32]


def _mapped(path: Path) -> NDArray:
    """Memory-map an array copy-on-write: torch needs writable memory, but the file must not change."""
    return np.load(path, mmap_mode="c")


def _save(path: Path, array: NDArray | list[NDArray[np.int32]]) -> None:
    with open_atomically(path) as file:
        np.save(file, array)
