"""A clustering as rows of its three tables, columns made of arrays.

What belongs here: which column says what. What the tables are for stands in `sql/cluster/schema.sql`.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from assets.cluster.prior_state import Found
from assets.common.tables import arrow_schema
from methods.clustering.difference import CHANGES
from methods.clustering.explanation import Explanation, explain_clusters, explain_groups
from methods.clustering.extension import Clustering, Communities
from methods.clustering.placement import WORDS

Column: TypeAlias = pa.Array | pa.ChunkedArray


def clusters_table(found: Found, made: Clustering) -> pa.Table:
    """Every entry, where it sits and how near that is."""
    groups = explain_groups(found.entries, made)
    clusters = explain_clusters(found.entries, made)
    columns = {
        **{
            name: found.places[name] for name in ("entry_id", "category_text_id", "caption_text_id")
        },
        **_places("group", made.groups, _centre_ids(found, "group", made.groups), groups),
        "group_caption_similarity": _numbers(groups.other_cosine),
        **_places("cluster", made.clusters, _centre_ids(found, "cluster", made.clusters), clusters),
        "cluster_category_similarity": _numbers(clusters.other_cosine),
    }
    return _table("cluster.clusters", columns)


def _places(
    kind: str, communities: Communities, centre_ids: Column, why: Explanation
) -> dict[str, Column]:
    ids = pa.array(communities.ids, pa.string())
    return {
        f"{kind}_id": _take(ids, communities.level.community),
        f"{kind}_how": _take(WORDS, communities.level.how),
        f"{kind}_centre": _take(centre_ids, communities.level.community),
        f"{kind}_similarity": _numbers(why.cosine),
        f"nearest_{kind}_id": _take(ids, why.nearest),
        f"nearest_{kind}_similarity": _numbers(why.nearest_cosine),
    }


def communities_table(
    found: Found, made: Clustering, run_id: str, settings: Mapping[str, Any]
) -> pa.Table:
    """Every group, then every cluster."""
    tables = []
    for kind, communities in _kinds(made):
        n, was = len(communities.ids), _was(found, kind)
        columns = {
            "community_id": communities.ids,
            "kind": [kind] * n,
            "group_id": _take(made.groups.ids, communities.parents),
            "centre_entry_id": _centre_ids(found, kind, communities),
            "n_members": communities.sizes,
            "founded_in": pc.fill_null(_take(was["founded_in"], communities.continues), run_id),
            **{name: [value] * n for name, value in settings.items()},
        }
        for text in ("category_text_id", "caption_text_id"):
            columns[text] = _of_centres(found.places[text], was[text], communities)
        tables.append(_table("cluster.communities", columns))
    return pa.concat_tables(tables)


def changes_table(found: Found, made: Clustering, run_id: str, now: datetime) -> pa.Table:
    """What became of the communities that there were."""
    tables = []
    for kind, communities in _kinds(made):
        difference, was = communities.difference, _was(found, kind)
        n = len(difference.change)
        columns = {
            "run_id": [run_id] * n,
            "changed_at": [now] * n,
            "kind": [kind] * n,
            "change": _take(CHANGES, difference.change),
            "old_id": _take(was["community_id"], difference.old),
            "new_id": _take(communities.ids, difference.new),
            "n_old": pc.fill_null(_take(was["n_members"], difference.old), 0),
            "n_new": pc.fill_null(_take(communities.sizes, difference.new), 0),
            "n_common": difference.n_common,
        }
        tables.append(_table("cluster.changes", columns))
    return pa.concat_tables(tables)


def _kinds(made: Clustering) -> list[tuple[str, Communities]]:
    return [("group", made.groups), ("cluster", made.clusters)]


def _was(found: Found, kind: str) -> pa.Table:
    return found.groups if kind == "group" else found.clusters


def _centre_ids(found: Found, kind: str, communities: Communities) -> Column:
    was = _was(found, kind)["centre_entry_id"]
    return _of_centres(found.places["entry_id"], was, communities)


def _of_centres(of_entries: Column, before: Column, communities: Communities) -> Column:
    """What the entries at the centres have; where a centre is what it was, what it had before."""
    return pc.coalesce(_take(of_entries, communities.centres), _take(before, communities.continues))


def _take(
    values: Column | Sequence[str] | NDArray[np.integer], numbers: NDArray[np.integer]
) -> Column:
    """The values with these numbers, NULL for -1."""
    column = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values)
    return column.take(pa.array(numbers, pa.int64(), mask=numbers < 0))


def _numbers(values: NDArray[np.float64]) -> pa.Array:
    """NaN is NULL."""
    return pa.array(values, mask=np.isnan(values))


def _table(name: str, columns: Mapping[str, Any]) -> pa.Table:
    schema = arrow_schema(name)
    return pa.table({field.name: columns[field.name] for field in schema}, schema=schema)
