"""Threshold communities and the two passes of MMDU (2.2, 3.1: tau = 0.75).

A community is a centre and every text within tau of it; communities are taken largest first and do
not overlap (the semantics of sentence-transformers' `community_detection`). The first pass groups
entries by category, the second by caption inside a group. What belongs here: who belongs with whom.
What does not: making vectors (`resources/embedder.py`), drawing sets (`image_sets.py`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""Unit vectors, one a row: shape (n, d)."""

BLOCK = 2048
"""Rows compared at a time: a block of similarities is BLOCK x n floats, whatever n is."""


@dataclass(frozen=True)
class Community:
    """Indices of members, the centre first, then by falling similarity to it, all within tau."""

    centre: int
    members: tuple[int, ...]
    similarities: tuple[float, ...]


def threshold_communities(vectors: Vectors, tau: float, min_size: int = 2) -> list[Community]:
    """Disjoint communities of at least `min_size` at cosine >= `tau`, largest first.

    Every vector is a candidate centre with all its neighbours; candidates are taken by size, ties by
    the smaller index of the centre; a centre already taken is none, members already taken fall out,
    and what is left must still have `min_size`. Exact, deterministic. Cost: n^2 d multiply-adds;
    memory BLOCK x n and every pair within tau.
    """
    candidates: list[tuple[int, NDArray[np.intp], NDArray[np.float32]]] = []
    for start in range(0, len(vectors), BLOCK):
        similarity = vectors[start : start + BLOCK] @ vectors.T
        # Rounding must neither make a cosine above 1 nor cost a text its own community: a vector is
        # within tau of itself.
        np.minimum(similarity, 1.0, out=similarity)
        for row, values in enumerate(similarity):
            values[start + row] = 1.0
            near = np.flatnonzero(values >= tau)
            if len(near) >= min_size:
                order = np.lexsort((near, -values[near], near != start + row))
                candidates.append((start + row, near[order], values[near[order]]))
    candidates.sort(key=lambda candidate: (-len(candidate[1]), candidate[0]))
    taken = np.zeros(len(vectors), dtype=bool)
    communities = []
    for centre, members, similarities in candidates:
        free = ~taken[members]
        if taken[centre] or free.sum() < min_size:
            continue
        taken[members[free]] = True
        communities.append(
            Community(
                centre,
                tuple(int(index) for index in members[free]),
                tuple(float(value) for value in similarities[free]),
            )
        )
    return sorted(communities, key=lambda community: -len(community.members))
