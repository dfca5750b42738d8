"""A work queue for a Ray cluster, in a folder that all nodes share: blocks of
rows to do, and finished blocks.

A block is a Parquet file whose first column has the ids of its rows. After a killed run,
the next run uses its blocks.
"""

import hashlib
import io
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from resources.files.atomic import write_atomically

OnRows = Callable[[pa.Table], pa.Table]
"""A function that processes the rows of a block."""


class RowFolder:
    """The blocks of one task; any number of processes may work on them at once."""

    def __init__(self, path: Path):
        self.path = path
        self._todo, self._done = path / "todo", path / "done"

    def plan(self, rows: pa.Table, n_rows: int) -> int:
        """Divide rows into blocks to process.

        An earlier run's block is kept if all of its rows are wanted, because a job may still process
        it.

        Args:
            rows: The rows.
            n_rows: The number of rows of a block.

        Returns:
            The number of blocks.
        """
        rest = rows
        for path in _files(self._todo):
            with suppress(FileNotFoundError):
                ids = pq.read_table(path, columns=rows.column_names[:1]).column(0)
                if pc.all(pc.is_in(ids, value_set=rest.column(0))).as_py():
                    rest = without(rest, ids)
                else:
                    path.unlink(missing_ok=True)
        for start in range(0, rest.num_rows, n_rows):
            block = rest.slice(start, n_rows)
            digest = hashlib.sha256("\n".join(block.column(0).to_pylist()).encode()).hexdigest()
            write_atomically(self._todo / f"{start:010}-{digest[:32]}.parquet", _parquet(block))
        return len(self.todo())

    def todo(self) -> list[str]:
        """List the names of the unfinished blocks."""
        return [path.name for path in _files(self._todo) if not (self._done / path.name).exists()]

    def run(self, name: str, on_rows: OnRows) -> int:
        """Process a block unless it is finished.

        Args:
            name: The name of the block.
            on_rows: Processes rows.

        Returns:
            The number of rows that were processed now.
        """
        if (self._done / name).exists():
            return 0
        try:
            rows = pq.read_table(self._todo / name)
        except FileNotFoundError:
            # Another job has finished the block, and its rows are stored.
            return 0
        write_atomically(self._done / name, _parquet(on_rows(rows)))
        return rows.num_rows

    def take(self) -> Iterator[pa.Table]:
        """Yield each finished block. It is deleted when the next one is requested."""
        for path in _files(self._done):
            yield pq.read_table(path)
            # Deleted in this order: a block to do without its result would be processed again.
            (self._todo / path.name).unlink(missing_ok=True)
            path.unlink(missing_ok=True)

    def cancel(self) -> None:
        """Remove the blocks to do, so that a running job ends after its current blocks."""
        shutil.rmtree(self._todo, ignore_errors=True)

    def write_error(self, message: str) -> None:
        """Record an error message for the run that waits for the job."""
        write_atomically(self.path / "error.txt", message.encode())

    def take_error(self) -> str | None:
        """Read and delete the recorded error, or None."""
        path = self.path / "error.txt"
        if not path.exists():
            return None
        message = path.read_text()
        path.unlink()
        return message


def without(rows: pa.Table, ids: pa.ChunkedArray) -> pa.Table:
    """Remove rows from a table by their ids.

    Args:
        rows: Rows with their id in the first column.
        ids: The ids of the rows to remove.
    """
    return rows.filter(pc.invert(pc.is_in(rows.column(0), value_set=ids)))


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.parquet"))


def _parquet(rows: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(rows, buffer)
    return buffer.getvalue()
