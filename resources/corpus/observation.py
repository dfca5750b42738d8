"""Observation of the corpus: which content its shards have now.

What belongs here: looking at local files without reading those that did not change. Shards elsewhere
are looked at when they are ingested.
"""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from resources.corpus.corpus import Corpus, CorpusError
from resources.corpus.shard import FileShard


class Observed(NamedTuple):
    """The size and time of a shard's file, and the fingerprint that its content had then."""

    stamp: str
    fingerprint: str


def observe(
    corpus: Corpus, before: Mapping[str, Sequence[str]], seconds: float
) -> dict[str, Observed]:
    """Every local shard by its name; `before` is what an earlier call returned.

    After `seconds` no further file is read: what is left out is seen by the next call. A file that is
    being replaced is left as it was seen before. Raises CorpusError.
    """
    until, n_read = time.monotonic() + seconds, 0
    elsewhere = set(corpus.changing())
    observed = {}
    for name in corpus.shards():
        shard = corpus.shard(name)
        if name in elsewhere or not isinstance(shard, FileShard):
            continue
        known = Observed(*before[name]) if name in before else None
        try:
            stamp = _stamp(shard.path)
            touched = known is None or known.stamp != stamp
            # At least one, however little time there is.
            if touched and (not n_read or time.monotonic() < until):
                n_read += 1
                known = Observed(stamp, shard.fetch(lambda _: None))
        except (OSError, CorpusError):
            # The file is gone or unreadable for now; ingesting it says so.
            pass
        if known is not None:
            observed[name] = known
    return observed


def _stamp(path: Path) -> str:
    status = path.stat()
    return f"{status.st_size}-{status.st_mtime_ns}"
