"""Texts of entries to vectors, each text once, ever; and the vectors of entries for who reads them.

What belongs here: which texts are embedded, and in what portions they are kept. What a text of an entry
is, says the view `cluster.entry_texts`; how it becomes a vector, `resources/embedder.py`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from assets.common.progress import Steps
from assets.common.tables import WHEN_READY, report, table_asset
from assets.ingest import entries
from resources.batched import batched
from resources.embedder import Embedder
from resources.warehouse import Warehouse

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PORTION = 4096
"""Texts that are written at once: the most that a run loses when it is killed."""
STEP = 256
"""Texts that are encoded at once: how often a run may say how far it is."""


@dataclass(frozen=True)
class EntryVectors:
    """Two unit vectors of every entry; ids are sorted and distinct, arrays have shape (n, d)."""

    entry_ids: list[str]
    categories: "NDArray[np.float32]"
    captions: "NDArray[np.float32]"


def entry_vectors(warehouse: Warehouse, model: str) -> EntryVectors:
    """Both vectors of every entry, as `model` (`Embedder.name`) made them.

    A vector that many entries share is read once. Raises dg.Failure when one is missing, or when the
    model's vectors are not all of one length.
    """
    ids = warehouse.read("cluster/text_ids")
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
    """A column of lists as one array of shape (n, d), without a Python object a number."""
    rows = vectors.combine_chunks()
    lengths = pc.unique(pc.list_value_length(rows)).to_pylist()
    if len(lengths) > 1:
        raise dg.Failure(
            f"The vectors by {model} have {len(lengths)} lengths, so two models had this name: give "
            "LOOM_EMBEDDER a folder or a model of another name.",
            allow_retries=False,
        )
    return rows.flatten().to_numpy(zero_copy_only=True).reshape(len(rows), sum(lengths))


@table_asset(
    "cluster.embeddings",
    side_tables=["cluster.entry_texts"],
    kinds={"pytorch"},
    deps=[entries],
    automation_condition=WHEN_READY,
)
def embeddings(
    context: dg.AssetExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    embedder: dg.ResourceParam[Embedder],
) -> dg.MaterializeResult:
    """The categories and captions of entries as unit vectors; a text is embedded once, ever.

    The vector of a text is the one it got when it first came, in the batch it came with. From an empty
    table the same entries give the same portions, the same batches and the same vectors.
    """
    import numpy as np

    model = {"model": embedder.name}
    known = warehouse.read("cluster/known_texts", model)
    new = warehouse.read("cluster/new_texts", model)
    # The longest texts come first, so the rest seldom takes longer than it says.
    progress = Steps(context, "texts")
    n_truncated = 0
    for start in range(0, new.num_rows, PORTION):
        portion = new.slice(start, PORTION)
        texts = portion["text"].to_pylist()
        n_truncated += embedder.count_truncated(texts)
        encoded = []
        for step in batched(texts, STEP):
            encoded.append(embedder.encode(step))
            progress.reach(start + sum(map(len, encoded)), new.num_rows)
        vectors = np.concatenate(encoded)
        # By their ids and not by appending: of two runs at once each leaves every row once.
        warehouse.replace(
            "cluster.embeddings",
            portion.append_column("model", pa.array([embedder.name] * len(texts))).append_column(
                "vector", pa.FixedSizeListArray.from_arrays(vectors.ravel(), vectors.shape[1])
            ),
            {"text_id": portion["text_id"].to_pylist(), "model": embedder.name},
        )
    details = {
        **model,
        "backend": embedder.backend,
        "known texts": sum(known["n"].to_pylist()),
        "new texts": new.num_rows,
        "truncated texts": n_truncated,
    }
    if new.num_rows:
        details |= {"device": embedder.device, "texts per second": progress.per_second()}
    return report(
        warehouse.read("cluster/first_embeddings", model),
        details,
        n_rows=warehouse.count("cluster.embeddings"),
    )
