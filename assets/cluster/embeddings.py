"""Text embeddings of entries: each distinct text is embedded once; `entry_vectors` reads them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from assets.common.progress import StepProgress
from assets.common.ray_jobs import RowsOnRay, RowWork, RowWorkSettings
from assets.common.tables import report, table_asset, write_rows
from assets.ingest import entries
from resources.embedding.embedder import STEP, Embedder, with_vectors
from resources.ray_rows.cluster import RayCluster
from resources.warehouse import Warehouse

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PORTION = 4096
"""Texts that are stored at once: a killed run embeds at most this many again."""
TEXTS_PER_BLOCK = 4 * STEP
"""Texts of a block on a Ray cluster, about ten seconds of one core. A multiple of `STEP`, so that the
model gets the same batches as without Ray.
"""
CAPTIONS_MEASURED = 300
"""Captions sampled of each language, to measure whether the model reads it."""
NO_ENTRIES = (
    "There are no entries: ingest a shard first; what was left out of one is in ingest.left_out and "
    "ingest.rejected."
)


@dataclass(frozen=True)
class EntryVectors:
    """Two unit vectors for each entry; ids are sorted and distinct, arrays have shape (n, d)."""

    entry_ids: list[str]
    categories: "NDArray[np.float32]"
    captions: "NDArray[np.float32]"


def entry_vectors(warehouse: Warehouse, model: str) -> EntryVectors:
    """Read both vectors of every entry. A vector that several entries share is read once.

    Args:
        warehouse: The tables.
        model: The embedding model (`Embedder.name`).

    Raises:
        dg.Failure: There are no entries, a vector is missing, or the vectors differ in length.
    """
    ids = warehouse.read("cluster/text_ids")
    if not ids.num_rows:
        raise dg.Failure(NO_ENTRIES, allow_retries=False)
    vectors = warehouse.read("cluster/vectors", {"model": model})
    matrix = _matrix(vectors["vector"], model)

    def rows_of(space: str) -> "NDArray[np.float32]":
        row = pc.index_in(ids[space], value_set=vectors["text_id"])
        if row.null_count:
            raise dg.Failure(
                f"{row.null_count} entries have no {space} vector by {model}: "
                "materialize cluster/embeddings first.",
                allow_retries=False,
            )
        return matrix[row.to_numpy()]

    return EntryVectors(ids["entry_id"].to_pylist(), rows_of("category"), rows_of("caption"))


def _matrix(vectors: pa.ChunkedArray, model: str) -> "NDArray[np.float32]":
    """Convert a column of lists to one array of shape (n, d), without creating Python objects."""
    rows = vectors.combine_chunks()
    lengths = pc.unique(pc.list_value_length(rows)).to_pylist()
    if len(lengths) > 1:
        raise dg.Failure(
            f"The vectors by {model} have {len(lengths)} different lengths, so two models used this "
            "name: set LOOM_EMBEDDER to a folder or model with another name.",
            allow_retries=False,
        )
    return rows.flatten().to_numpy(zero_copy_only=True).reshape(len(rows), sum(lengths))


class EmbeddingSettings(RowWorkSettings):
    """Settings of embedding: locally or on a Ray cluster, and with how many GPUs."""

    gpus_per_worker: float = Field(
        0, ge=0, le=8, description="GPUs of each worker on Ray, also a part of one; 0: one core."
    )


@table_asset(
    "cluster.embeddings",
    side_tables=["cluster.entry_texts", "cluster.languages"],
    kinds={"pytorch"},
    deps=[entries],
)
def embeddings(
    context: dg.AssetExecutionContext,
    config: EmbeddingSettings,
    warehouse: dg.ResourceParam[Warehouse],
    embedder: dg.ResourceParam[Embedder],
    ray: dg.ResourceParam[RayCluster],
) -> dg.MaterializeResult:
    """The categories and captions of entries as unit vectors; each text is embedded only once.

    `cluster.languages` has the languages of the captions, and which of them the model reads. A text
    keeps its first vector. Vectors may depend on the other texts of a batch by rounding, but the same
    entries in an empty table give the same batches and so the same vectors.
    """
    if not warehouse.count("ingest.entries"):
        raise dg.Failure(NO_ENTRIES, allow_retries=False)
    model = {"model": embedder.name}
    counts = warehouse.read("cluster/known_texts", model)
    new = warehouse.read("cluster/new_texts", model)
    n_truncated = 0

    def store(rows: pa.Table) -> None:
        nonlocal n_truncated
        n_truncated += sum(rows["is_truncated"].to_pylist())
        # Replaced by id, not appended, so that two concurrent runs do not duplicate rows.
        warehouse.replace(
            "cluster.embeddings",
            rows.drop_columns(["is_truncated"]).append_column(
                "model", pa.array([embedder.name] * rows.num_rows)
            ),
            {"text_id": rows["text_id"].to_pylist(), "model": embedder.name},
        )

    local = new
    if config.runner == "ray":
        on_ray = RowsOnRay(context, ray, config.gpus_per_worker)
        local = on_ray.run(_work(embedder, config.gpus_per_worker), new, store)
    # The longest texts come first, so the estimated time left is an upper bound.
    progress = StepProgress(context, "texts")
    for start in range(0, local.num_rows, PORTION):
        portion = local.slice(start, PORTION)

        def show(n_done: int, before: int = start) -> None:
            progress.update(before + n_done, local.num_rows)

        store(with_vectors(portion, embedder, show))
    if new.num_rows or warehouse.read("cluster/unmeasured_languages", model).num_rows:
        _measure_languages(warehouse, embedder)
    details = {
        **model,
        "backend": embedder.backend,
        "known texts": sum(counts["n"].to_pylist()),
        "new texts": new.num_rows,
        "truncated texts": n_truncated,
    }
    if local.num_rows:
        details |= {"device": embedder.device, "texts per second": progress.per_second()}
    if local.num_rows < new.num_rows:
        details["texts on Ray"] = new.num_rows - local.num_rows
    return report(
        warehouse.read("cluster/first_embeddings", model),
        details,
        n_rows=warehouse.count("cluster.embeddings"),
    )


def _measure_languages(warehouse: Warehouse, embedder: Embedder) -> None:
    """Measure which languages of entries the model reads, and write `cluster.languages`."""
    captions = warehouse.read("cluster/captions_of_languages", {"n": CAPTIONS_MEASURED}).to_pylist()
    rows = []
    for language in captions:
        counts = embedder.tokenized(language["texts"])
        rows.append(
            {
                "model": embedder.name,
                "language": language["language"],
                "n_texts": len(language["texts"]),
                "unknown_share": counts.unknown_share,
                "letters_per_token": counts.letters_per_token,
                "is_read": counts.is_read,
            }
        )
    write_rows(warehouse, {"cluster.languages": rows}, {"model": embedder.name})


def _work(embedder: Embedder, gpus: float) -> RowWork:
    """Describe embedding as a Ray job over rows. Workers without a GPU use the CPU explicitly."""
    device = embedder.wanted_device or (None if gpus else "cpu")
    return RowWork(
        "resources.embedding.embedder:embed_on_worker",
        {"model": embedder.model, "backend": embedder.backend, "device": device},
        TEXTS_PER_BLOCK,
    )
