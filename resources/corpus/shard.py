"""The interface of a shard: a part of the corpus that becomes rows in WIT's columns.

Each kind of shard has a module: `tsv.py`, `wit_base.py`, `wikipedia_shard.py`.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from methods.web_address import without_query
from resources.corpus.download import download
from resources.corpus.settings import CorpusError
from resources.corpus.staging import StagedShard
from resources.files.bounded import file_hash

READER = 3
"""The version of the parsers, part of each fingerprint. Increase it when parsing changes, so that
unchanged shards are read again."""

SECONDS_BETWEEN_MESSAGES = 60.0
"""A slow download is logged this often, a fast one every 100 MB."""

Log = Callable[[str], None]
"""Takes a progress message."""


class Shard(ABC):
    """One partition of the corpus.

    `name` is also its partition key in Dagster, `address` is its source, for messages. Its methods
    raise CorpusError, or WikipediaError, for what a person has to correct.
    """

    name: str
    address: str
    carries_images = False
    """Whether the shard contains image files, which `images` yields."""

    @abstractmethod
    def fetch(self, log: Log) -> str:
        """Download the shard if necessary, and return a fingerprint of its content."""

    @abstractmethod
    def stage(self, folder: Path) -> StagedShard:
        """Parse what `fetch` downloaded into staged files in `folder`.

        If the file breaks off, the rows before that are kept. Raises CorpusError if it is not a shard
        of this format.
        """

    def images(self) -> Iterator[tuple[str, bytes]]:
        """Yield the URL and the bytes of each image in the shard; most shards contain none."""
        return iter(())


def replaced_address(shard: Shard, fingerprint: str, earlier: Mapping[str, Any]) -> str | None:
    """Find out whether a shard takes the place of another one with the same name.

    Args:
        shard: The shard.
        fingerprint: The fingerprint of its content.
        earlier: The row of `ingest.shards` with the same name.

    Returns:
        The address of the other shard if its content differs and it is no file any more; None if it is
        the same shard.

    Raises:
        CorpusError: The file of the other shard is still there, so the names have to differ.
    """
    address = earlier["address"]
    # The part before the hyphen is the version of the parsers.
    is_same = earlier["fingerprint"].partition("-")[2] == fingerprint.partition("-")[2]
    if is_same or address == shard.address:
        return None
    other = Path(address)
    if not other.is_file():
        return address
    file = Path(shard.address)
    if file.exists() and other.samefile(file):
        return None
    raise CorpusError(
        f"The rows of shard {shard.name!r} in this workspace are those of {address}, and "
        f"{shard.address} has other content: rename the new file, use another workspace (--workspace, "
        "LOOM_WORKSPACE), or move the earlier file away if the new one replaces it."
    )


class FileShard(Shard):
    """A shard that is one file, local or at an http(s) address."""

    def __init__(self, name: str, address: str, downloads: Path) -> None:
        self.name = name
        self.address = without_query(address)
        self._source = address
        self._remote = address.startswith(("http://", "https://"))
        self.path = downloads / self.address.rpartition("/")[2] if self._remote else Path(address)

    def fetch(self, log: Log) -> str:
        """Download the current version if necessary; the fingerprint is a hash of its bytes."""
        if self._remote:
            self._download(log)
        try:
            digest = file_hash(self.path)
        except OSError as error:
            raise CorpusError(
                f"Shard {self.name!r} cannot be read ({error.strerror}): "
                f"replace {self.path} with an intact copy."
            ) from error
        return f"{READER}-{digest}"

    def _download(self, log: Log) -> None:
        shown, shown_at = -1, 0.0

        def show(n_bytes: int, total: int | None) -> None:
            nonlocal shown, shown_at
            step = n_bytes // 100_000_000
            if step > shown or time.monotonic() - shown_at >= SECONDS_BETWEEN_MESSAGES:
                shown, shown_at = step, time.monotonic()
                of_total = f" of {total / 1e6:,.0f}" if total else ""
                log(f"shard {self.name}: {n_bytes / 1e6:,.0f}{of_total} MB")

        self.path.parent.mkdir(parents=True, exist_ok=True)
        download(self._source, self.path, on_progress=show, warn=log)
