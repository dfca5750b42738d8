"""A clustering as files in one folder that every node sees: what goes in, what is done, what came out.

Arrays are mapped into memory, not read: all processes of a node share one copy, and only what is looked
at is fetched. What belongs here: the folder. Who does what is `__main__.py`'s.
"""

import hashlib
import json
import os
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
from methods.clustering.neighbours import Pairs, Prepared, Vectors, block_pairs, blocks, prepare
from methods.clustering.screen import Screen

Block = tuple[int, int]
"""Rows start..stop."""


class WorkInUse(RuntimeError):
    """Another run is at the same work."""


class Work:
    """The folder of one clustering: of which vectors, at which tau, in blocks of how many rows."""

    def __init__(self, folder: Path):
        self.folder = folder

    # --- What goes in ----------------------------------------------------------------------------

    def put_in(self, vectors: Vectors, tau: float, rows: int) -> None:
        """Prepare vectors, shape (n, d), if that is not done. Raises ThresholdError."""
        if self._prepared.exists():
            return
        prepared = prepare(vectors, tau)
        numbers = {"tau": tau, "bound": prepared.screen.bound, "rows": rows}
        half_made = self.folder / f"{uuid4().hex}.tmp"
        half_made.mkdir(parents=True)
        _save(half_made / "vectors.npy", prepared.vectors)
        _save(half_made / "heads.npy", prepared.screen.heads)
        _save(half_made / "first.npy", prepared.first)
        _save(half_made / "distinct_of.npy", prepared.distinct_of)
        (half_made / "numbers.json").write_text(json.dumps(numbers))
        half_made.rename(self._prepared)

    @cached_property
    def prepared(self) -> Prepared:
        """What was put in."""
        return Prepared(
            _mapped(self._prepared / "vectors.npy"),
            Screen(_mapped(self._prepared / "heads.npy"), self._numbers["bound"]),
            self._numbers["tau"],
            _mapped(self._prepared / "first.npy"),
            _mapped(self._prepared / "distinct_of.npy"),
        )

    @cached_property
    def blocks(self) -> list[Block]:
        """All there is to do; the first has most columns to look at."""
        return blocks(self.prepared, int(self._numbers["rows"]))

    # --- What is done ----------------------------------------------------------------------------

    def n_found(self, block: Block) -> int | None:
        """How many pairs a block has; None while it is not done."""
        path = self._block(block)
        return _mapped(path).shape[1] if path.is_file() else None

    def do(self, block: Block) -> int:
        """Find the pairs of a block, unless that is done, and say how many there are."""
        done = self.n_found(block)
        if done is not None:
            return done
        pairs = block_pairs(self.prepared, *block)
        self._block(block).parent.mkdir(exist_ok=True)
        _save(self._block(block), [pairs.low, pairs.high])
        return len(pairs.low)

    def pairs(self) -> Iterator[Pairs]:
        """Pairs of each block; all must be done."""
        for block in self.blocks:
            low, high = _mapped(self._block(block))
            yield Pairs(low, high)

    # --- What came out ---------------------------------------------------------------------------

    def is_finished(self, min_size: int) -> bool:
        """Whether communities of that size are there."""
        return self._communities(min_size).exists()

    def finish(self, min_size: int, communities: Iterable[Community]) -> None:
        """Keep communities, as `communities` gives them back."""
        made = list(communities)
        ends = np.cumsum([len(each.members) for each in made], dtype=np.int64)
        members = [index for each in made for index in each.members]
        similarities = [near for each in made for near in each.similarities]
        with _appearing(self._communities(min_size)) as half_made, half_made.open("wb") as file:
            np.savez(
                file,
                ends=ends,
                members=np.array(members, dtype=np.int64),
                similarities=np.array(similarities),
            )

    def communities(self, min_size: int) -> list[Community]:
        """What `finish` was given."""
        with np.load(self._communities(min_size)) as kept:
            members, similarities = kept["members"].tolist(), kept["similarities"].tolist()
            ends = kept["ends"].tolist()
        return [
            Community(members[start], tuple(members[start:end]), tuple(similarities[start:end]))
            for start, end in zip([0, *ends], ends, strict=False)
        ]

    def refuse(self, reason: str) -> None:
        """Leave word that there are no communities, and why."""
        self._refusal.write_text(reason)

    def refusal(self) -> str | None:
        """The word left, once; None if there is none."""
        if not self._refusal.exists():
            return None
        reason = self._refusal.read_text()
        self._refusal.unlink()
        return reason

    # --- Names -----------------------------------------------------------------------------------

    @property
    def _prepared(self) -> Path:
        return self.folder / "prepared"

    @property
    def _refusal(self) -> Path:
        return self.folder / "refused.txt"

    @cached_property
    def _numbers(self) -> dict[str, float]:
        return json.loads((self._prepared / "numbers.json").read_text())

    def _block(self, block: Block) -> Path:
        return self.folder / "blocks" / f"{block[0]}-{block[1]}.npy"

    def _communities(self, min_size: int) -> Path:
        return self.folder / f"communities-{min_size}.npz"


@contextmanager
def work_of(root: Path, vectors: Vectors, tau: float, rows: int) -> Iterator[Work]:
    """The work on these vectors under `root`, for one process at a time.

    A block that leaves without an error is through with it, and it is removed, with whatever earlier
    runs left of other vectors; after an error it stays, and the next block goes on with it. Raises
    WorkInUse, ThresholdError.
    """
    folder = root / _key(vectors, tau, rows)
    root.mkdir(parents=True, exist_ok=True)
    try:
        # One lock a process: a pass may be given the same vectors as the one before.
        with FileLock(f"{folder}.lock", timeout=0, is_singleton=True):
            work = Work(folder)
            work.put_in(vectors, tau, rows)
            yield work
            for left in [path for path in root.iterdir() if path.is_dir() and path != folder]:
                with suppress(Timeout), FileLock(f"{left}.lock", timeout=0):
                    shutil.rmtree(left, ignore_errors=True)
            shutil.rmtree(folder, ignore_errors=True)
    except Timeout:
        raise WorkInUse(f"Another run clusters the same vectors in {folder}.") from None


def _key(vectors: Vectors, tau: float, rows: int) -> str:
    """What the folder is called: the same for the same bits."""
    digest = hashlib.sha256(f"{vectors.shape} {vectors.dtype} {tau!r} {rows}".encode())
    digest.update(np.ascontiguousarray(vectors).data.cast("B"))
    return digest.hexdigest()[:32]


def _mapped(path: Path) -> NDArray:
    """An array out of its file; private pages, so that torch takes them and nothing is written back."""
    return np.load(path, mmap_mode="c")


def _save(path: Path, array: NDArray | list[NDArray[np.int32]]) -> None:
    with _appearing(path) as half_made, half_made.open("wb") as file:
        np.save(file, array)


@contextmanager
def _appearing(path: Path) -> Iterator[Path]:
    """A name to write under; the file gets its own once it is whole and durable."""
    half_made = path.with_name(f"{path.name}.{uuid4().hex}.tmp")
    try:
        yield half_made
        with half_made.open("rb") as file:
            os.fsync(file.fileno())
        half_made.replace(path)
    except BaseException:
        half_made.unlink(missing_ok=True)
        raise
