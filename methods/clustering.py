"""Threshold communities and the two passes of MMDU (2.2, 3.1: tau = 0.75).

A community is a centre and every text within tau of it; communities are taken largest first and do
not overlap (the semantics of sentence-transformers' `community_detection`). The first pass groups
entries by category, the second by caption inside a group. What belongs here: who belongs with whom.
What does not: making vectors (`resources/embedder.py`), drawing sets (`image_sets.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from methods.ids import content_id

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


@dataclass(frozen=True)
class Placement:
    """Where one entry sits; None where it joined no group, or no cluster inside its group."""

    entry_id: str
    group_id: str | None = None
    group_centre: str | None = None
    group_similarity: float | None = None
    cluster_id: str | None = None
    cluster_centre: str | None = None
    cluster_similarity: float | None = None


def place_entries(
    entry_ids: Sequence[str], categories: Vectors, captions: Vectors, tau: float
) -> list[Placement]:
    """Both passes: groups by category, then clusters by caption inside each group.

    `categories` and `captions` hold one unit vector per entry, in the order of `entry_ids`. Ids of
    groups and clusters are hashes of their members, so the same grouping has the same name.
    """
    placed: dict[str, dict[str, object]] = {}
    for group in threshold_communities(categories, tau):
        members = [entry_ids[i] for i in group.members]
        group_id = content_id("group", sorted(members))
        for entry_id, similarity in zip(members, group.similarities, strict=True):
            placed[entry_id] = {
                "group_id": group_id,
                "group_centre": entry_ids[group.centre],
                "group_similarity": similarity,
            }
        # In the order of the entries, so that ties in the second pass do not hang on the first.
        inside = sorted(group.members)
        for cluster in threshold_communities(captions[inside], tau):
            clustered = [entry_ids[inside[i]] for i in cluster.members]
            cluster_id = content_id("cluster", sorted(clustered))
            for entry_id, similarity in zip(clustered, cluster.similarities, strict=True):
                placed[entry_id] |= {
                    "cluster_id": cluster_id,
                    "cluster_centre": entry_ids[inside[cluster.centre]],
                    "cluster_similarity": similarity,
                }
    return [Placement(entry_id, **placed.get(entry_id, {})) for entry_id in entry_ids]  # type: ignore[arg-type]
