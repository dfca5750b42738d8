"""Conversion of a clustering to its three Arrow tables: clusters, communities and changes."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from assets.cluster.prior_state import PriorState
from assets.common.tables import arrow_schema
from methods.clustering.centre_similarity import (
    CentreSimilarity,
    similarity_to_clusters,
    similarity_to_groups,
)
from methods.clustering.incremental import CHANGES, Clustering, Communities
from methods.clustering.two_passes import HOW

Column: TypeAlias = pa.Array | pa.ChunkedArray


def clusters_table(state: PriorState, clustering: Clustering) -> pa.Table:
    """Make `cluster.clusters`: every entry with its group, cluster and similarity to the centres.

    Args:
        state: The entries with their vectors.
        clustering: The groups and clusters.
    """
    groups, clusters = clustering.groups, clustering.clusters
    to_groups = similarity_to_groups(state.entries, clustering)
    to_clusters = similarity_to_clusters(state.entries, clustering)
    columns = {
        **{
            name: state.memberships[name]
            for name in ("entry_id", "category_text_id", "caption_text_id", "page_id", "image_id")
        },
        **_memberships("group", groups, _centre_ids(state, "group", groups), to_groups),
        "group_caption_similarity": _numbers(to_groups.other_cosine),
        **_memberships("cluster", clusters, _centre_ids(state, "cluster", clusters), to_clusters),
        "cluster_category_similarity": _numbers(to_clusters.other_cosine),
    }
    return _table("cluster.clusters", columns)


def _memberships(
    kind: str, communities: Communities, centre_ids: Column, similarity: CentreSimilarity
) -> dict[str, Column]:
    ids = pa.array(communities.ids, pa.string())
    return {
        f"{kind}_id": _take(ids, communities.membership.community),
        f"{kind}_how": _take(HOW, communities.membership.how),
        f"{kind}_centre": _take(centre_ids, communities.membership.community),
        f"{kind}_similarity": _numbers(similarity.cosine),
        f"nearest_{kind}_id": _take(ids, similarity.nearest),
        f"nearest_{kind}_similarity": _numbers(similarity.nearest_cosine),
    }


def communities_table(
    state: PriorState, clustering: Clustering, run_id: str, settings: Mapping[str, Any]
) -> pa.Table:
    """Make `cluster.communities`: every group, then every cluster.

    Args:
        state: The prior clustering.
        clustering: The groups and clusters.
        run_id: The run.
        settings: The settings of new communities.
    """
    tables = []
    for kind, communities in _kinds(clustering):
        n, prior = len(communities.ids), _prior(state, kind)
        columns = {
            "community_id": communities.ids,
            "kind": [kind] * n,
            "group_id": _take(clustering.groups.ids, communities.parents),
            "centre_entry_id": _centre_ids(state, kind, communities),
            "n_members": communities.sizes,
            "place": np.arange(1, n + 1),
            "created_in": pc.fill_null(_take(prior["created_in"], communities.continues), run_id),
            **{name: [value] * n for name, value in settings.items()},
        }
        columns["language"] = communities.languages
        for text in ("category_text_id", "caption_text_id"):
            columns[text] = _of_centres(state.memberships[text], prior[text], communities)
        tables.append(_table("cluster.communities", columns))
    return pa.concat_tables(tables)


def changes_table(
    state: PriorState, clustering: Clustering, run_id: str, current_time: datetime
) -> pa.Table:
    """Make `cluster.changes`: what this run changed about the prior communities.

    Args:
        state: The prior clustering.
        clustering: The groups and clusters.
        run_id: The run.
        current_time: The time of the run.
    """
    tables = []
    for kind, communities in _kinds(clustering):
        changes, prior = communities.changes, _prior(state, kind)
        n = len(changes.change)
        columns = {
            "run_id": [run_id] * n,
            "changed_at": [current_time] * n,
            "kind": [kind] * n,
            "change": _take(CHANGES, changes.change),
            "old_id": _take(prior["community_id"], changes.old),
            "new_id": _take(communities.ids, changes.new),
            "n_old": pc.fill_null(_take(prior["n_members"], changes.old), 0),
            "n_new": pc.fill_null(_take(communities.sizes, changes.new), 0),
            "n_common": changes.n_common,
        }
        tables.append(_table("cluster.changes", columns))
    return pa.concat_tables(tables)


def _kinds(clustering: Clustering) -> list[tuple[str, Communities]]:
    return [("group", clustering.groups), ("cluster", clustering.clusters)]


def _prior(state: PriorState, kind: str) -> pa.Table:
    return state.groups if kind == "group" else state.clusters


def _centre_ids(state: PriorState, kind: str, communities: Communities) -> Column:
    prior = _prior(state, kind)["centre_entry_id"]
    return _of_centres(state.memberships["entry_id"], prior, communities)


def _of_centres(of_entries: Column, of_prior: Column, communities: Communities) -> Column:
    """Return a column of the centre entries. If a community keeps its prior centre, its value is from
    the prior community.
    """
    return pc.coalesce(
        _take(of_entries, communities.centres), _take(of_prior, communities.continues)
    )


def _take(
    values: Column | Sequence[str] | NDArray[np.integer], numbers: NDArray[np.integer]
) -> Column:
    """Select values by index; index -1 gives NULL."""
    column = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values)
    return column.take(pa.array(numbers, pa.int64(), mask=numbers < 0))


def _numbers(values: NDArray[np.float64]) -> pa.Array:
    """Convert an array to a column with NULL for NaN."""
    return pa.array(values, mask=np.isnan(values))


def _table(name: str, columns: Mapping[str, Any]) -> pa.Table:
    schema = arrow_schema(name)
    return pa.table({field.name: columns[field.name] for field in schema}, schema=schema)
