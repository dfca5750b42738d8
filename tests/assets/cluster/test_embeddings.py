"""Embeddings: a text is embedded only once, what was written stays, and entries find their vectors."""

import hashlib
import importlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import dagster as dg
import numpy as np
import pytest

from assets.cluster.embeddings import entry_vectors
from assets.common.tables import rows_to_arrow
from resources.embedding import embedder as embedder_module
from resources.embedding.embedder import Embedder
from resources.warehouse import Warehouse
from tests.assets.cluster.embedding import Double, embed, entry, fill, vector_of

pytestmark = pytest.mark.slow

module = importlib.import_module("assets.cluster.embeddings")


def kept(warehouse: Warehouse) -> dict[tuple[str, str], list[float]]:
    """(model, text) -> vector, each once."""
    rows = warehouse.sql("SELECT model, text, vector FROM cluster.embeddings").to_pylist()
    found = {(row["model"], row["text"]): row["vector"] for row in rows}
    assert len(found) == len(rows)
    return found


# What is embedded
def test_a_page_is_told_by_its_categories_or_else_by_its_title(warehouse: Warehouse) -> None:
    fill(
        warehouse,
        entry("e1", ["Lighthouses", "Towers"], "A light."),
        entry("e2", [], "A mill.", title="Mill"),
        entry("e2", [], "A mill.", title="Mill", wit_shard="b"),
    )

    texts = warehouse.sql("SELECT * FROM cluster.entry_texts ORDER BY entry_id, space").to_pylist()

    assert [(row["entry_id"], row["space"], row["text"]) for row in texts] == [
        ("e1", "caption", "A light."),
        ("e1", "category", "Lighthouses; Towers"),
        ("e2", "caption", "A mill."),
        ("e2", "category", "Mill"),
    ]
    assert {row["text_id"] for row in texts} == {
        hashlib.sha256(row["text"].encode()).hexdigest() for row in texts
    }


def test_a_text_is_embedded_once_whoever_has_it_and_whenever_it_comes_again(warehouse):
    fill(warehouse, entry("e1", ["Towers"], "A light."), entry("e2", ["Towers"], "Towers"))
    first = Double()
    shown = embed(warehouse, first)
    assert sorted(sum(first.given, [])) == ["A light.", "Towers"]
    assert (shown["known texts"], shown["new texts"], shown["dagster/row_count"]) == (0, 2, 2)

    # e1 goes, e3 comes with one new text.
    fill(warehouse, entry("e3", ["Towers"], "A mill."))
    second = Double()
    shown = embed(warehouse, second)
    assert second.given == [["A mill."]]
    assert (shown["known texts"], shown["new texts"], shown["dagster/row_count"]) == (1, 1, 3)

    # e1 is back.
    fill(warehouse, entry("e1", ["Towers"], "A light."), entry("e3", ["Towers"], "A mill."))
    third = Double()
    shown = embed(warehouse, third)
    assert third.given == []
    assert (shown["known texts"], shown["new texts"]) == (3, 0)
    assert "texts per second" not in shown
    assert "A light." in shown["preview"]
    assert set(kept(warehouse)) == {("double", text) for text in ("A light.", "A mill.", "Towers")}


def test_what_is_odd_in_a_text_is_kept_as_it_is(warehouse: Warehouse, embedder: Embedder) -> None:
    odd = ["", "a\0b", "où 字 🗼", "lighthouse " * 300]
    fill(warehouse, *(entry(f"e{n}", [], text) for n, text in enumerate(odd)))

    shown = embed(warehouse, embedder)

    assert {text for _, text in kept(warehouse)} == {"Title", *odd}
    # 300 words, and the model reads 254 and two marks.
    assert shown["truncated texts"] == 1
    assert (shown["model"], shown["backend"], shown["device"]) == (
        "all-MiniLM-L6-v2",
        "torch",
        embedder.device,
    )
    assert shown["texts per second"] > 0


# In portions
def numbered(n: int) -> list[dict[str, Any]]:
    """Entries whose captions are x, xx, xxx, …; they share one category of one letter."""
    return [entry(f"e{number:02}", ["y"], "x" * number) for number in range(2, n + 1)]


def killed(path: Path) -> None:
    """A run that ends in the third portion, as if the machine had."""
    module.PORTION = embedder_module.STEP = 2

    def die_late(texts: Sequence[str]) -> None:
        if "xxx" in texts:
            os.kill(os.getpid(), signal.SIGKILL)

    embed(Warehouse(path), Double(before=die_late))


def test_a_killed_run_loses_at_most_one_portion(warehouse: Warehouse) -> None:
    fill(warehouse, *numbered(7))

    process = multiprocessing.get_context("spawn").Process(target=killed, args=[warehouse.path])
    process.start()
    process.join()

    assert process.exitcode == -signal.SIGKILL
    # Portions: 7 6, 5 4, then 3 2 in which it ends.
    assert {len(text) for _, text in kept(warehouse)} == {7, 6, 5, 4}
    again = Double()
    embed(warehouse, again)
    assert [len(text) for text in sum(again.given, [])] == [3, 2, 1]


def test_two_runs_at_once_both_succeed_and_leave_each_text_once(warehouse, monkeypatch):
    monkeypatch.setattr(module, "PORTION", 4)
    monkeypatch.setattr(embedder_module, "STEP", 2)
    fill(warehouse, *numbered(6))
    # Neither writes before both have read what is new.
    both_have_read = threading.Barrier(2)

    def run(_number: int) -> dict[str, Any]:
        double = Double(before=lambda texts: double.given or both_have_read.wait(60))
        return embed(Warehouse(warehouse.path), double)

    with ThreadPoolExecutor(2) as pool:
        shown = list(pool.map(run, range(2)))

    assert [each["new texts"] for each in shown] == [6, 6]
    assert set(kept(warehouse)) == {("double", "x" * n) for n in range(2, 7)} | {("double", "y")}


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

    assert entry_vectors(warehouse, "other").entry_ids == ["e1", "e2", "e3"]
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
