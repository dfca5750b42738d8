"""The two passes of MMDU (B.1, Figure 7): groups by category, then clusters by caption inside a group.

What belongs here: where each entry sits, and why.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from methods.clustering.communities import Vectors, threshold_communities
from methods.ids import content_id


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
