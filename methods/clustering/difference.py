"""What a clustering made of the communities there were before: kept, split, merged, new, gone.

A community is here a number; `before` and `after` say which one each entry is in (-1: none). What
belongs here: which old and new communities are the same, and what became of the others. What they are
called says `extension.py`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from methods.clustering.placement import Labels

CHANGES = ("kept", "merged", "split", "new", "gone")
KEPT, MERGED, SPLIT, NEW, GONE = range(len(CHANGES))


@dataclass(frozen=True)
class Difference:
    """Rows of old and new communities (-1: there is none), what happened, and how many they share."""

    old: Labels
    new: Labels
    change: NDArray[np.int8]
    """Numbers of `CHANGES`."""
    n_common: Labels

    def successors(self, n_new: int) -> Labels:
        """For each new community the old one that it is, or -1."""
        kept = self.change == KEPT
        found = np.full(n_new, -1, dtype=np.intp)
        found[self.new[kept]] = self.old[kept]
        return found

    def without_kept(self) -> "Difference":
        """The rows that say something where all others keep their names."""
        told = self.change != KEPT
        return Difference(*(each[told] for each in vars(self).values()))


def compare(
    before: Labels, after: Labels, there: NDArray[np.bool_], n_old: int, n_new: int
) -> Difference:
    """What became of `n_old` communities, and where `n_new` come from.

    `there` says which entries were there before; entries that came or went since do not count. A new
    community is the *heir* of an old one if it holds more than half of what stayed of the old one, and
    the old one is its *source* if more than half of those in the new one that stayed are out of it.
    More than half: nobody has two heirs or two sources, and there is no tie.

    - kept: heir and source; the new one is the old one;
    - merged: heir alone; most of the old one went into one where others are the more, or as many;
    - split: source alone; the new one is a part of the old one, which has more elsewhere, or as much;
    - new: the new one has no source and is nobody's heir;
    - gone: the old one has no heir and is nobody's source.

    So every community has a row. An old one that is kept may be the source of parts that split off, and
    a new one that is kept the heir of others. Rows: pairs by old, then new; then new; then gone.
    """
    both = (before >= 0) & (after >= 0)
    pairs, common = np.unique(before[both] * max(n_new, 1) + after[both], return_counts=True)
    old, new = np.divmod(pairs, max(n_new, 1))
    of_old = np.bincount(before[before >= 0], minlength=n_old)
    of_new = np.bincount(after[(after >= 0) & there], minlength=n_new)
    heir, source = 2 * common > of_old[old], 2 * common > of_new[new]
    change = np.select([heir & source, heir, source], [KEPT, MERGED, SPLIT], -1)
    told = change >= 0
    fresh = np.setdiff1d(np.arange(n_new), new[told])
    gone = np.setdiff1d(np.arange(n_old), old[told])
    none = np.full(len(fresh) + len(gone), -1)
    return Difference(
        np.concatenate([old[told], none[: len(fresh)], gone]),
        np.concatenate([new[told], fresh, none[len(fresh) :]]),
        np.concatenate([change[told], np.full(len(fresh), NEW), np.full(len(gone), GONE)]).astype(
            np.int8
        ),
        np.concatenate([common[told], np.zeros(len(none), dtype=np.intp)]),
    )
