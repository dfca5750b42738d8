"""The prior clustering, which a run extends: entries with vectors and memberships, and communities."""

from dataclasses import dataclass

import dagster as dg
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from assets.cluster.embeddings import entry_vectors
from methods.clustering.neighbours import Vectors
from methods.clustering.two_passes import (
    HOW,
    Entries,
    Labels,
    Membership,
    PriorClustering,
    PriorCommunities,
)
from resources.warehouse import Warehouse


@dataclass(frozen=True)
class PriorState:
    """Entries and the prior clustering, as arrays and as tables.

    `memberships` has one row for each entry. `communities` has one row for each group and cluster;
    `groups` and `clusters` are its parts, in the order of the community numbers in `clustering`.
    """

    entries: Entries
    clustering: PriorClustering
    memberships: pa.Table
    communities: pa.Table
    groups: pa.Table
    clusters: pa.Table


def read_prior_state(warehouse: Warehouse, model: str) -> PriorState:
    """Read the state of the tables before this run.

    Args:
        warehouse: The tables.
        model: The embedding model.

    Returns:
        Entries, vectors and the prior clustering.

    Raises:
        dg.Failure: Entries lack vectors, or changed while they were read.
    """
    vectors = entry_vectors(warehouse, model)
    memberships = warehouse.read("cluster/prior_memberships", {"model": model}).combine_chunks()
    if memberships["entry_id"].to_pylist() != vectors.entry_ids:
        raise dg.Failure(
            "Entries were ingested while they were read: run this again.", allow_retries=True
        )
    communities = warehouse.read("cluster/communities").combine_chunks()
    groups = communities.filter(pc.equal(communities["kind"], "group"))
    clusters = communities.filter(pc.equal(communities["kind"], "cluster"))
    n_dimensions = vectors.categories.shape[1]
    clustering = PriorClustering(
        memberships["known"].to_numpy(),
        _prior_communities(groups, groups, n_dimensions),
        _prior_communities(clusters, groups, n_dimensions),
        _membership(memberships, "group", groups),
        _membership(memberships, "cluster", clusters),
        memberships["category_changed"].to_numpy(),
        memberships["caption_changed"].to_numpy(),
    )
    languages = memberships["language"].to_numpy(zero_copy_only=False).astype(np.str_)
    entries = Entries(vectors.entry_ids, vectors.categories, vectors.captions, languages)
    return PriorState(entries, clustering, memberships, communities, groups, clusters)


def _prior_communities(table: pa.Table, groups: pa.Table, n_dimensions: int) -> PriorCommunities:
    return PriorCommunities(
        table["community_id"].to_pylist(),
        table["n_members"].to_numpy(),
        _numbers(table["group_id"], groups["community_id"]),
        _matrix(table["category"], n_dimensions),
        _matrix(table["caption"], n_dimensions),
        pc.fill_null(table["language"], "").to_numpy(zero_copy_only=False).astype(np.str_),
    )


def _matrix(vectors: pa.ChunkedArray, n_dimensions: int) -> Vectors:
    """Convert vectors to an array of shape (m, d).

    The shape is (0, d) if some are missing, because then the clustering cannot be extended.
    """
    if vectors.null_count:
        return np.empty((0, n_dimensions), dtype=np.float32)
    return vectors.combine_chunks().flatten().to_numpy().reshape(len(vectors), n_dimensions)


def _membership(memberships: pa.Table, kind: str, communities: pa.Table) -> Membership:
    return Membership(
        _numbers(memberships[f"{kind}_id"], communities["community_id"]),
        _numbers(memberships[f"{kind}_how"], pa.array(HOW)).astype(np.int8),
    )


def _numbers(values: pa.ChunkedArray, among: pa.Array | pa.ChunkedArray) -> Labels:
    """Return the index of each value in `among`; -1 for NULL."""
    positions = pc.index_in(values, value_set=among, skip_nulls=True)
    return pc.fill_null(positions, -1).to_numpy().astype(np.intp)
