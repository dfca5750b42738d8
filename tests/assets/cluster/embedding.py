"""Shared by the tests of embeddings: a double of the embedder, entries by hand, one materialization."""

import hashlib
from collections.abc import Sequence
from typing import Any

import dagster as dg
import numpy as np

from assets.cluster import embeddings as embeddings_asset
from methods.clustering.languages import Tokenized
from resources.embedding.embedder import Embedder
from resources.ray_rows.cluster import RayCluster
from resources.warehouse import Warehouse
from tests.assets.filled import put
from tests.assets.world import metadata


def vector_of(text: str) -> np.ndarray:
    """A unit vector of eight floats that hangs on the text alone."""
    raw = np.frombuffer(hashlib.sha256(text.encode()).digest(), dtype=np.uint8)[:8] + 1.0
    return (raw / np.linalg.norm(raw)).astype(np.float32)


class Double(Embedder):
    """Stands in for a model; `given` is what it was asked for, `before` is called first."""

    def __init__(self, model: str = "double", before: Any = None, **options: Any):
        super().__init__(model, **options)
        self.given: list[list[str]] = []
        self.before = before or (lambda texts: None)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.before(texts)
        self.given.append(list(texts))
        return np.stack([vector_of(text) for text in texts])

    def are_truncated(self, texts: Sequence[str]) -> list[bool]:
        return [len(text) > 100 for text in texts]

    def tokenized(self, texts: Sequence[str]) -> Tokenized:
        return Tokenized()


def entry(
    entry_id: str, categories: Sequence[str] = (), caption: str = "", **more: Any
) -> dict[str, Any]:
    """A row of ingest.entries; its title is `Title`."""
    texts = {"title": "Title", "categories": list(categories), "caption": caption}
    return {"wit_shard": "a", "entry_id": entry_id, **texts, **more}


def fill(warehouse: Warehouse, *rows: dict[str, Any]) -> None:
    put(warehouse, {"ingest.entries": rows})


def embed(warehouse: Warehouse, embedder: Embedder, **options: Any) -> dict[str, Any]:
    result = dg.materialize(
        [embeddings_asset],
        resources={"warehouse": warehouse, "embedder": embedder, "ray": RayCluster(None)},
        **options,
    )
    return metadata(result)
