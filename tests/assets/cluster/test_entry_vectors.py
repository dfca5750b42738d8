"""The vectors of entries: in the order of ids, from one model, complete or an error."""

import hashlib

import dagster as dg
import numpy as np
import pytest

from assets.cluster.embeddings import entry_vectors
from assets.common.tables import rows_to_arrow
from resources.warehouse import Warehouse
from tests.assets.cluster.embedding import Double, embed, entry, fill, vector_of


def test_entries_find_their_vectors_in_the_order_of_their_ids(warehouse: Warehouse) -> None:
    fill(
        warehouse,
        entry("e3", ["Towers"], "A light."),
        entry("e1", ["Towers"], "Towers"),
        entry("e2", [], "A mill.", title="Mill"),
        entry("e2", [], "A mill.", title="Mill", wit_shard="b"),
    )
    embed(warehouse, Double())
    embed(warehouse, Double("other"))

    found = entry_vectors(warehouse, "double")

    assert found.entry_ids == ["e1", "e2", "e3"]
    for matrix, texts in (
        (found.categories, ["Towers", "Mill", "Towers"]),
        (found.captions, ["Towers", "A mill.", "A light."]),
    ):
        assert matrix.dtype == np.float32 and matrix.shape == (3, 8)
        assert (matrix == np.stack([vector_of(text) for text in texts])).all()


def test_an_entry_without_a_vector_says_what_to_run(warehouse: Warehouse) -> None:
    fill(warehouse, entry("e1", ["Towers"], "A light."))
    embed(warehouse, Double())
    fill(warehouse, entry("e1", ["Towers"], "A light."), entry("e2", ["Towers"], "A mill."))

    with pytest.raises(
        dg.Failure, match="^1 entries have no caption vector by double: mat"
    ) as told:
        entry_vectors(warehouse, "double")

    assert told.value.description.endswith("materialize cluster/embeddings first.")
    with pytest.raises(dg.Failure, match="no category vector by double@onnx"):
        entry_vectors(warehouse, "double@onnx")


def test_two_models_under_one_name_are_not_mixed(warehouse: Warehouse) -> None:
    fill(warehouse, entry("e1", ["Towers"], "A light."))
    embed(warehouse, Double())
    longer = {"text_id": hashlib.sha256(b"A mill.").hexdigest(), "vector": [0.0] * 23 + [1.0]}
    row = {**longer, "model": "double", "text": "A mill."}
    fill(warehouse, entry("e1", ["Towers"], "A light."), entry("e2", ["Towers"], "A mill."))
    warehouse.replace(
        "cluster.embeddings",
        rows_to_arrow("cluster.embeddings", [row]),
        {"text_id": longer["text_id"], "model": "double"},
    )

    with pytest.raises(dg.Failure, match="by double have 2 different lengths, so two models used"):
        entry_vectors(warehouse, "double")
