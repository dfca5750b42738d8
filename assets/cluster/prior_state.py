"""What there was before a clustering: entries with vectors and places, and the living communities.

What belongs here: tables to the arrays that `methods/clustering/` takes.
"""

from dataclasses import dataclass

import dagster as dg
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from assets.cluster.embeddings import entry_vectors
from methods.clustering.neighbours import Vectors
from methods.clustering.placement import WORDS, Before, Centres, Entries, Labels, Level
from resources.warehouse import Warehouse


@dataclass(frozen=True)
class Found:
    """The same in arrays and in tables: a row of `places` an entry, of the others a community.

    `groups` and `clusters` are numbered as in `before`; `communities` are both.
    """

    entries: Entries
    before: Before
    places: pa.Table
    communities: pa.Table
    groups: pa.Table
    clusters: pa.Table


def read_before(warehouse: Warehouse, model: str) -> Found:
    """Everything that a clustering of `model`'s vectors starts from.

    Raises dg.Failure when entries lack vectors, or came and went while they were read.
    """
    vectors = entry_vectors(warehouse, model)
    places = warehouse.read("cluster/places").combine_chunks()
    if places["entry_id"].to_pylist() != vectors.entry_ids:
        raise dg.Failure("Entries were ingested while they were read: run this again.")
    communities = warehouse.read("cluster/communities").combine_chunks()
    groups = communities.filter(pc.equal(communities["kind"], "group"))
    clusters = communities.filter(pc.equal(communities["kind"], "cluster"))
    n_dimensions = vectors.categories.shape[1]
    before = Before(
        places["known"].to_numpy(),
        _centres(groups, groups, n_dimensions),
        _centres(clusters, groups, n_dimensions),
        _level(places, "group", groups),
        _level(places, "cluster", clusters),
    )
    entries = Entries(vectors.entry_ids, vectors.categories, vectors.captions)
    return Found(entries, before, places, communities, groups, clusters)


def _centres(table: pa.Table, groups: pa.Table, n_dimensions: int) -> Centres:
    return Centres(
        table["community_id"].to_pylist(),
        table["n_members"].to_numpy(),
        _numbers(table["group_id"], groups["community_id"]),
        _matrix(table["category"], n_dimensions),
        _matrix(table["caption"], n_dimensions),
    )


def _matrix(vectors: pa.ChunkedArray, n_dimensions: int) -> Vectors:
    """Shape (m, d); (0, d) where the model has not all of them, so that nothing can be extended."""
    if vectors.null_count:
        return np.empty((0, n_dimensions), dtype=np.float32)
    return vectors.combine_chunks().flatten().to_numpy().reshape(len(vectors), n_dimensions)


def _level(places: pa.Table, kind: str, communities: pa.Table) -> Level:
    return Level(
        _numbers(places[f"{kind}_id"], communities["community_id"]),
        _numbers(places[f"{kind}_how"], pa.array(WORDS)).astype(np.int8),
    )


def _numbers(values: pa.ChunkedArray, among: pa.Array | pa.ChunkedArray) -> Labels:
    """Where each value stands among others, -1 for NULL."""
    places = pc.index_in(values, value_set=among, skip_nulls=True)
    return pc.fill_null(places, -1).to_numpy().astype(np.intp)
