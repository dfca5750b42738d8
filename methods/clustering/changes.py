"""How the communities of a new clustering relate to those of the prior one.

Each is kept, split, merged, new or gone. Communities are numbers here; labels give the community of
each entry (-1: none). What belongs here: matching prior and new communities. What does not: their ids
(`incremental.py`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from methods.clustering.two_passes import Labels

CHANGES = ("kept", "merged", "split", "new", "gone")
KEPT, MERGED, SPLIT, NEW, GONE = range(len(CHANGES))


@dataclass(frozen=True)
class CommunityChanges:
    """Rows of a prior and a new community (-1: none), the change, and the entries they share."""

    old: Labels
    new: Labels
    change: NDArray[np.int8]
    """Numbers of `CHANGES`."""
    n_common: Labels

    def continued(self, n_new: int) -> Labels:
        """For each new community the prior one that it continues, or -1."""
        kept = self.change == KEPT
        prior = np.full(n_new, -1, dtype=np.intp)
        prior[self.new[kept]] = self.old[kept]
        return prior


def compare_communities(
    old_labels: Labels,
    new_labels: Labels,
    existed: NDArray[np.bool_],
    n_old: int,
    n_new: int,
) -> CommunityChanges:
    """What became of `n_old` prior communities, and where `n_new` new ones come from.

    `existed` says which entries the prior clustering knew; only entries in both clusterings count. A
    new community is the *successor* of a prior one if it holds more than half of the prior one's
    remaining entries. The prior one is its *predecessor* if it held more than half of the new one's
    entries that existed before. Because of "more than half", no community has two successors or two
    predecessors, and there are no ties.

    - kept: successor and predecessor; the new community is the prior one;
    - merged: successor only; most of the prior one is now in a community with at least as many others;
    - split: predecessor only; the new one is a part of the prior one, which lost at least as much;
    - new: the new one has no predecessor and is nobody's successor;
    - gone: the prior one has no successor and is nobody's predecessor.

    So every community has a row. A prior one that is kept may also be the predecessor of parts that
    split off, and a new one that is kept the successor of others that merged into it. Rows: pairs by
    old, then new; then new; then gone.
    """
    both = (old_labels >= 0) & (new_labels >= 0)
    pairs, common = np.unique(
        old_labels[both] * max(n_new, 1) + new_labels[both], return_counts=True
    )
    old, new = np.divmod(pairs, max(n_new, 1))
    of_old = np.bincount(old_labels[old_labels >= 0], minlength=n_old)
    of_new = np.bincount(new_labels[(new_labels >= 0) & existed], minlength=n_new)
    successor, predecessor = 2 * common > of_old[old], 2 * common > of_new[new]
    change = np.select([successor & predecessor, successor, predecessor], [KEPT, MERGED, SPLIT], -1)
    related = change >= 0
    added = np.setdiff1d(np.arange(n_new), new[related])
    gone = np.setdiff1d(np.arange(n_old), old[related])
    alone = new_and_gone(added, gone)
    return CommunityChanges(
        np.concatenate([old[related], alone.old]),
        np.concatenate([new[related], alone.new]),
        np.concatenate([change[related].astype(np.int8), alone.change]),
        np.concatenate([common[related], alone.n_common]),
    )


def new_and_gone(added: Labels, gone: Labels) -> CommunityChanges:
    """Rows of the communities `added`, then of those that are `gone`."""
    none = np.full(len(added) + len(gone), -1)
    return CommunityChanges(
        np.concatenate([none[: len(added)], gone]),
        np.concatenate([added, none[len(added) :]]),
        np.repeat(np.array([NEW, GONE], dtype=np.int8), [len(added), len(gone)]),
        np.zeros(len(none), dtype=np.intp),
    )
