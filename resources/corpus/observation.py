"""Detect changes of the corpus: fingerprints of its local shards and configuration files.

Remote shards are only checked when they are ingested.
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
    """Size and modification time of a shard's file, and the fingerprint of its content at that time."""

    stamp: str
    fingerprint: str


def observe(
    corpus: Corpus, before: Mapping[str, Sequence[str]], seconds: float
) -> dict[str, ShardState]:
    """Observe the content of every local shard.

    Args:
        corpus: The corpus.
        before: The result of an earlier call; only files that changed since are read.
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
            # At least one file is read, even if the time is over.
            if touched and (not n_read or time.monotonic() < until):
                n_read += 1
                state = ShardState(stamp, shard.fetch(lambda _: None))
        except (OSError, CorpusError):
            # The file is missing or unreadable; ingesting it reports the error.
            pass
        if state is not None:
            observed[name] = state
    return observed


def observe_files(corpus: Corpus, before: Sequence[str] | None = None) -> ShardState:
    """Observe the files that determine how shards are ingested: corpus.yaml,
    categories, lists of excluded images.

    Args:
        corpus: The corpus.
        before: The result of an earlier call; files are not read if all sizes and times are unchanged.

    Returns:
        Sizes and times of the files, and a fingerprint of the content that ingestion uses.

    Raises:
        CorpusError: `corpus.yaml` cannot be used.
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
