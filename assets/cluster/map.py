"""2D map of the corpus (`cluster.map`): a projection of the entries' embeddings."""

import dagster as dg
from pydantic import Field

from assets.cluster.clusters import clusters
from assets.cluster.embeddings import entry_vectors
from assets.common.settings import AssetConfig
from assets.common.tables import report, table_asset, write_rows
from resources.embedding.embedder import Embedder
from resources.warehouse import Warehouse


class MapSettings(AssetConfig):
    """Settings of the map: the largest number of entries, those in clusters first. 10,000 entries take
    about a minute.
    """

    max_points: int = Field(10_000, ge=1, description="Most entries on the map.")
    seed: int = Field(0, description="Seed of the sample and of the projection.")


@table_asset("cluster.map", deps=[clusters])
def entry_map(
    config: MapSettings,
    warehouse: dg.ResourceParam[Warehouse],
    embedder: dg.ResourceParam[Embedder],
) -> dg.MaterializeResult:
    """Coordinates of entries on a 2D map, from their category and caption vectors."""
    import numpy as np

    from methods.clustering.projection import project, sample_for_map

    vectors = entry_vectors(warehouse, embedder.name)
    clustered = set(warehouse.read("cluster/cluster_members")["entry_id"].to_pylist())
    row_of = {entry_id: row for row, entry_id in enumerate(vectors.entry_ids)}
    chosen = sample_for_map(
        ((entry_id, entry_id in clustered) for entry_id in row_of),
        config.max_points,
        config.seed,
    )
    rows = [row_of[entry_id] for entry_id in chosen]
    places = project(np.hstack([vectors.categories[rows], vectors.captions[rows]]), config.seed)
    placed_rows = [
        {"entry_id": entry_id, "place": place, "x": float(x), "y": float(y)}
        for place, (entry_id, (x, y)) in enumerate(zip(chosen, places, strict=True), start=1)
    ]
    table = write_rows(warehouse, {"cluster.map": placed_rows})
    return report(table, {"entries": len(row_of)})
