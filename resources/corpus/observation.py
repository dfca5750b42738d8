"""Observation of the corpus: which content its shards and the files about them have now.

Shards elsewhere are looked at when they are ingested.
"""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from methods.ids import content_id
from resources.corpus.corpus import CATEGORIES, Corpus, CorpusError
from resources.corpus.settings import FILE_NAME
from resources.corpus.shard import FileShard
from resources.files.bounded import file_hash


class ShardState(NamedTuple):
    """The size and time of a shard's file, and the fingerprint that its content had then."""

    stamp: str
    fingerprint: str


def observe(
    corpus: Corpus, before: Mapping[str, Sequence[str]], seconds: float
) -> dict[str, ShardState]:
    """Observe the content of every local shard.

    Args:
        corpus: The corpus.
        before: What an earlier call returned; only files that changed since are read.
        seconds: The time after which no further file is read; the next call reads the others.

    Returns:
        The state of each shard by its name. A file that is being replaced keeps its earlier state.

    Raises:
        CorpusError: The corpus cannot be read.
    """
    until, n_read = time.monotonic() + seconds, 0
    elsewhere = set(corpus.changing())
    observed = {}
    for name in corpus.shards():
        shard = corpus.shard(name)
        if name in elsewhere or not isinstance(shard, FileShard):
            continue
        state = ShardState(*before[name]) if name in before else None
        try:
            stamp = _stamp(shard.path)
            touched = state is None or state.stamp != stamp
            # At least one, however little time there is.
            if touched and (not n_read or time.monotonic() < until):
                n_read += 1
                state = ShardState(stamp, shard.fetch(lambda _: None))
        except (OSError, CorpusError):
            # The file is gone or unreadable for now; ingesting it says so.
            pass
        if state is not None:
            observed[name] = state
    return observed


def observe_files(corpus: Corpus, before: Sequence[str] | None = None) -> ShardState:
    """The files that say how shards become entries: corpus.yaml, categories, lists of excluded images.

    Args:
        corpus: The corpus.
        before: What an earlier call returned; files whose sizes and times are as then are not read.

    Returns:
        Sizes and times of the files, and a fingerprint of what ingestion reads of them.

    Raises:
        CorpusError: The corpus.yaml cannot be used.
    """
    settings = corpus.settings
    paths = [corpus.path / name for name in (CATEGORIES, *settings.images.exclude)]
    stamp = " ".join(_stamp(path) for path in (corpus.path / FILE_NAME, *paths) if path.is_file())
    if before and before[0] == stamp:
        return ShardState(*before)
    values = settings.model_dump(mode="json", exclude={"shards": True, "weekly_shards": True})
    contents = [file_hash(path) if path.is_file() else "" for path in paths]
    return ShardState(stamp, content_id(values, contents))


def _stamp(path: Path) -> str:
    status = path.stat()
    return f"{status.st_size}-{status.st_mtime_ns}"
