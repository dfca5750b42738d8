"""Read and write files of rows (Parquet, Arrow) that may be larger than memory."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock, Timeout

from methods.errors import UserError
from methods.ids import content_id
from methods.ingest.image_filters import parse_exclusions
from resources.files.bounded import open_text
from resources.files.home import staging_path


class KnownImagesError(UserError):
    """A list of images cannot be used; the message names the file and the error."""


def known_images(file: Path) -> set[str]:
    """Read the MD5 and SHA-256 digests of a list, in lower case. Raises KnownImagesError."""
    try:
        with open_text(file, "utf-8-sig") as lines:
            return set(parse_exclusions(lines, file.name))
    except (OSError, ValueError) as error:
        raise KnownImagesError(
            f"The list of pictures {file} cannot be used ({error}): write it as md5sum or sha256sum "
            "does, or leave excluded of rewrite.candidates empty."
        ) from None


ROWS_A_GROUP = 20_000
BYTES_A_GROUP = 16_000_000
"""A row group is written when it reaches either size; larger groups cost memory and time."""


class RowsFile:
    """A Parquet file that rows are added to; a context manager, which completes the file."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self.path = path
        self.n_rows = 0
        self._schema = schema
        self._portion: list[Mapping[str, Any]] = []
        self._n_bytes = 0
        self._writer = self._opened()

    def __enter__(self) -> "RowsFile":
        return self

    def __exit__(self, *_: object) -> None:
        self._flush()
        self._writer.close()

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row; missing columns are NULL, columns that are not in the schema are dropped."""
        self._portion.append(row)
        self.n_rows += 1
        self._n_bytes += sum(map(_n_bytes, row.values()))
        if len(self._portion) == ROWS_A_GROUP or self._n_bytes >= BYTES_A_GROUP:
            self._flush()

    def _opened(self) -> "pq.ParquetWriter | pa.RecordBatchStreamWriter":
        # The file is read once, as a whole: compression and statistics would cost more than they save.
        return pq.ParquetWriter(
            self.path,
            self._schema,
            compression="none",
            use_dictionary=False,
            write_statistics=False,
        )

    def _flush(self) -> None:
        if not self._portion:
            return
        self._writer.write_table(pa.Table.from_pylist(self._portion, schema=self._schema))
        self._portion.clear()
        self._n_bytes = 0


def _n_bytes(value: object) -> int:
    if isinstance(value, str | bytes):
        return len(value)
    return sum(map(_n_bytes, value)) if isinstance(value, list) else 0


class RowsStream(RowsFile):
    """A file in Arrow's IPC format, for rows that are written once and read once.

    Writing and reading takes half the time of Parquet.
    """

    def add_batch(self, rows: pa.RecordBatch) -> None:
        """Add rows in columns, in any order, as a separate record batch."""
        self._flush()
        self._writer.write_batch(rows.select(self._schema.names))
        self.n_rows += len(rows)

    def _opened(self) -> pa.RecordBatchStreamWriter:
        return pa.ipc.new_stream(self.path, self._schema)


def first_rows(path: Path, n_rows: int = 10) -> pa.Table:
    """Read the first rows of a Parquet file, for a preview.

    Args:
        path: The file.
        n_rows: The number of rows.
    """
    with pq.ParquetFile(path) as file:
        batch = next(file.iter_batches(batch_size=n_rows), None)
        return pa.Table.from_batches([] if batch is None else [batch], file.schema_arrow)


def n_rows(path: Path) -> int:
    """Read the number of rows from a Parquet file's footer."""
    return int(pq.read_metadata(path).num_rows)


def portions(path: Path, n_rows: int) -> Iterator[list[dict[str, Any]]]:
    """Read a Parquet file in batches.

    Args:
        path: The file.
        n_rows: The number of rows in a batch.

    Yields:
        The rows of each batch.
    """
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=n_rows):
            yield batch.to_pylist()


@contextmanager
def staging_folder(*name: str) -> Iterator[Path]:
    """Create an empty staging folder in the workspace for work with this name;
    other work with this name waits.

    Folders that killed runs left behind are removed.
    """
    folder = staging_path() / content_id(*name)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        for leftover in [path for path in folder.parent.iterdir() if path.is_dir()]:
            _remove_unless_in_use(leftover, folder)
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _remove_unless_in_use(path: Path, mine: Path) -> None:
    if path == mine:
        shutil.rmtree(path, ignore_errors=True)
        return
    with suppress(Timeout), FileLock(f"{path}.lock", timeout=0):
        shutil.rmtree(path, ignore_errors=True)
