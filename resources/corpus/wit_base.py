"""Shards of `wikimedia/wit_base`: Parquet files, read through Hugging Face's `datasets`.

What belongs here: streaming such a file, here or on the hub (`hf://`), texts and images apart, so
that reading the one does not load the other.
"""

import glob
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from methods.ingest.wit import COLUMNS_READ, rows_of_record
from resources.corpus.settings import CorpusError
from resources.corpus.shard import READER, FileShard, Log
from resources.corpus.staging import Staged, StagedWriter

FEW_RECORDS, FEWEST_BYTES = 1_000_000, 50
"""Records that any file may have, and bytes that each one of a larger file takes at least: pages' texts
and addresses, packed. A file of kilobytes may state millions of equal records."""
LONGEST_REASON = 300
"""Characters of an error of others: some contain the whole schema of a file."""
RECORDS_AT_ONCE = 100
"""A row group may have more, and then as many images would be in memory."""


class WitBaseShard(FileShard):
    """One Parquet file of the dataset's form; files behind hf:// are read where they are."""

    carries_images = True

    def fetch(self, log: Log) -> str:
        """As for any file; of one on the hub the fingerprint is what the hub says of its content."""
        if not self._on_hub:
            return super().fetch(log)
        import fsspec

        filesystem, path = fsspec.url_to_fs(self.address)
        try:
            return f"{READER}-{filesystem.ukey(path)}"
        except Exception as error:  # the hub and what asks it have errors of their own
            raise CorpusError(
                f"Shard {self.name!r} cannot be found on the hub ({error}): correct "
                f"{self.address} in corpus.yaml, or download the file into the corpus's folder."
            ) from error

    def stage(self, folder: Path) -> Staged:
        """One row for each page of each image. Raises CorpusError if none can be read."""
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
        """The images as the file has them; one without bytes is left to its URL."""
        if self._remote and not self.path.exists():
            self.fetch(lambda _: None)
        for record in self._records("image", "image_url"):
            data = (record["image"] or {}).get("bytes")
            if data and record["image_url"]:
                yield record["image_url"], data

    @property
    def _on_hub(self) -> bool:
        return self.address.startswith("hf://")

    def _require_form(self, columns: Sequence[str]) -> None:
        """Raise CorpusError for a local file without the columns, or with more records than fit."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if self._on_hub:
            return
        try:
            metadata = pq.read_metadata(self.path)
            missing = [
                name for name in columns if name not in metadata.schema.to_arrow_schema().names
            ]
        except (OSError, pa.ArrowException):
            return  # Whoever reads it says so.
        if missing:
            raise CorpusError(
                f"Shard {self.name!r} cannot be read as wit_base's Parquet: {self.path} has no column "
                f"{missing[0]!r}. Replace it with a file of wit_base."
            )
        n_records = metadata.num_rows
        if n_records > FEW_RECORDS and n_records * FEWEST_BYTES > self.path.stat().st_size:
            raise CorpusError(
                f"Shard {self.name!r} is not read: {self.path} says that it has {n_records:,} records, "
                "far more than its size allows. Replace it with a file of wit_base."
            )

    def _records(self, *columns: str) -> Iterator[dict[str, Any]]:
        import datasets

        self._require_form(columns)
        # It logs each error that it raises, with the whole schema of the file.
        datasets.logging.set_verbosity(datasets.logging.CRITICAL)
        # What stands for a file in `datasets` is a pattern.
        location = self.address if self._on_hub else glob.escape(str(self.path))
        try:
            # Not load_dataset, which tells the hub of every file that is read.
            dataset = datasets.IterableDataset.from_parquet(
                location, columns=list(columns), batch_size=RECORDS_AT_ONCE
            )
            # Otherwise every image would be decoded here.
            if "image" in columns:
                dataset = dataset.cast_column("image", datasets.Image(decode=False))
            yield from dataset
        except Exception as error:  # pyarrow, fsspec and the hub each have errors of their own
            remedy = (
                "run again, or download the file into the corpus's folder"
                if self._on_hub
                else f"replace {self.path} with an intact copy"
            )
            reason = " ".join(str(error).split())[:LONGEST_REASON]
            raise CorpusError(
                f"Shard {self.name!r} cannot be read as wit_base's Parquet ({reason}): {remedy}."
            ) from error
