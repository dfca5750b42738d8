"""Shards of `wikimedia/wit_base`: Parquet files, local or on the Hugging Face Hub (`hf://`).

Texts and images are read separately, so that reading texts does not load images.
"""

import os
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import IO, Any, cast

from methods.ingest.image_check import MAX_BYTES
from methods.ingest.wit import COLUMNS_READ, rows_of_record
from resources.corpus.settings import CorpusError
from resources.corpus.shard import READER, FileShard, Log
from resources.corpus.staging import StagedShard, StagedWriter
from resources.files.bounded import open_file, unpacked_limit
from resources.files.parquet_records import open_parquet, read_records

FEW_RECORDS, FEWEST_BYTES = 100_000, 50
"""A file whose footer claims more than FEW_RECORDS records must have at least FEWEST_BYTES compressed
bytes per record. Otherwise a file of kilobytes could claim millions of equal records."""
LONGEST_REASON = 300
"""Characters of a library's error message that are shown: some contain the whole schema of a file."""
MOST_RECORD_BYTES = 20_000_000 + MAX_BYTES
"""The most bytes of a decoded record: the texts of its Wikipedia pages, or its image."""


class WitBaseShard(FileShard):
    """One Parquet file in the format of wit_base. A file on the Hugging Face Hub is read
    remotely, without a download.
    """

    carries_images = True

    def fetch(self, log: Log) -> str:
        """Download the shard if necessary. A file on the Hugging Face Hub is not downloaded; its
        fingerprint is the Hub's key of the file.
        """
        if not self._on_hub:
            return super().fetch(log)
        import fsspec

        filesystem, path = fsspec.url_to_fs(self.address)
        try:
            return f"{READER}-{filesystem.ukey(path)}"
        except Exception as error:  # fsspec and the Hub's client have their own exceptions
            raise CorpusError(
                f"Shard {self.name!r} cannot be found on the hub ({error}): correct "
                f"{self.address} in corpus.yaml, or download the file into the corpus's folder."
            ) from error

    def stage(self, folder: Path) -> StagedShard:
        """Write a row for each page of each image. What was read before an error is kept; raises
        CorpusError if that is nothing.
        """
        numbers = count(1)
        broken = None
        with StagedWriter(folder, self.name, unit="record") as writer:
            try:
                for record in self._records(*COLUMNS_READ):
                    writer.write(rows_of_record(record, numbers))
            except CorpusError as error:
                if next(numbers) == 1:
                    raise  # Nothing was read.
                broken = str(error)
        return writer.staged(broken)

    def images(self) -> Iterator[tuple[str, bytes]]:
        """Yield the URL and the bytes of each image in the file. Images without bytes are
        fetched by their URLs later.
        """
        if self._remote and not self.path.exists():
            self.fetch(lambda _: None)
        for record in self._records("image", "image_url"):
            data = (record["image"] or {}).get("bytes")
            if data and record["image_url"]:
                yield record["image_url"], data

    @property
    def _on_hub(self) -> bool:
        return self.address.startswith("hf://")

    def _open(self) -> IO[bytes]:
        if not self._on_hub:
            return open_file(self.path)
        import fsspec

        filesystem, path = fsspec.url_to_fs(self.address)
        return cast(IO[bytes], filesystem.open(path))

    def _require_form(self, metadata: Any, n_bytes: int, columns: Sequence[str]) -> None:
        """Raise CorpusError for a file that lacks columns, or claims more records than its size
        allows.
        """
        place = self.address if self._on_hub else self.path
        names = metadata.schema.to_arrow_schema().names
        if missing := [name for name in columns if name not in names]:
            raise CorpusError(
                f"Shard {self.name!r} cannot be read as wit_base's Parquet: {place} has no column "
                f"{missing[0]!r}. Replace it with a file of wit_base."
            )
        n_records = metadata.num_rows
        if n_records > FEW_RECORDS and n_records * FEWEST_BYTES > n_bytes:
            raise CorpusError(
                f"Shard {self.name!r} is not read: {place} says that it has {n_records:,} records, "
                "far more than its size allows. Replace it with a file of wit_base."
            )

    def _records(self, *columns: str) -> Iterator[dict[str, Any]]:
        try:
            with self._open() as file:
                n_bytes = file.seek(0, os.SEEK_END)
                table = open_parquet(file)
                self._require_form(table.metadata, n_bytes, columns)
                # Checking the Parquet pages would download a file on the Hub twice.
                checked_file = None if self._on_hub else file
                most_bytes = unpacked_limit(n_bytes)
                for batch in read_records(
                    checked_file, table, most_bytes, columns, MOST_RECORD_BYTES
                ):
                    yield from batch.to_pylist()
        except CorpusError:
            raise
        except Exception as error:  # pyarrow, fsspec and the Hub's client have their own exceptions
            remedy = (
                "run again, or download the file into the corpus's folder"
                if self._on_hub
                else f"replace {self.path} with an intact copy"
            )
            reason = " ".join(str(error).split())[:LONGEST_REASON]
            raise CorpusError(
                f"Shard {self.name!r} cannot be read as wit_base's Parquet ({reason}): {remedy}."
            ) from error
