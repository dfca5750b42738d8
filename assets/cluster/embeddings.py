"""Texts of entries to vectors.

What belongs here: what is embedded. How, says `resources/embedder.py`.
"""

import dagster as dg

from assets.ingest import entries
from assets.tables import WHEN_READY, report, rows_to_arrow, table_asset
from resources.embedder import Embedder
from resources.warehouse import Warehouse


@table_asset(
    "cluster.embeddings", kinds={"pytorch"}, deps=[entries], automation_condition=WHEN_READY
)
def embeddings(
    context: dg.AssetExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    embedder: dg.ResourceParam[Embedder],
) -> dg.MaterializeResult:
    """Each entry's categories and caption as unit vectors; a text is embedded only once."""
    texts = [
        {"entry_id": entry["entry_id"], "space": space, "text": text}
        for entry in warehouse.read("cluster/entries").to_pylist()
        for space, text in (
            # A page without categories is grouped by what it is called.
            ("category", "; ".join(entry["categories"]) or entry["title"]),
            ("caption", entry["caption"]),
        )
    ]
    known = warehouse.read("cluster/known_vectors", {"model": embedder.name}).to_pylist()
    vector_of = {row["text"]: row["vector"] for row in known}
    new = sorted({row["text"] for row in texts} - vector_of.keys())
    if new:
        context.log.info(f"embeddings: {len(new)} new texts by {embedder.name}")
        vector_of |= dict(zip(new, embedder.encode(new).tolist(), strict=True))
    rows = [{**row, "model": embedder.name, "vector": vector_of[row["text"]]} for row in texts]
    table = rows_to_arrow("cluster.embeddings", rows)
    warehouse.replace("cluster.embeddings", table)
    return report(table, {"model": embedder.name, "new texts": len(new)})
