"""Whole weights: products against vectors made at once, shards against one file, faults by name."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extras.task_map.methods.clustering import Floats
from extras.task_map.resources.products import products_of_weights, read_products
from extras.task_map.resources.tensor_files import TaskVectorError, TensorFiles
from tests.extras.task_map.resources.weights import change, factors, save, save_adapter, weights

TASKS = ("count", "order", "spot")
Weights = Mapping[str, Floats]


def write(folder: Path, of: Weights, n_shards: int = 1, dtype: str = "float32") -> None:
    """One file, or shards with their index, as transformers writes them."""
    if n_shards == 1:
        save(folder / "model.safetensors", of, dtype)
        return
    files = {
        name: f"model-{1 + place % n_shards:05}-of-{n_shards:05}.safetensors"
        for place, name in enumerate(sorted(of))
    }
    for file in set(files.values()):
        save(folder / file, {name: of[name] for name in of if files[name] == file}, dtype)
    index = {"metadata": {}, "weight_map": files}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


@pytest.fixture
def models(tmp_path: Path) -> Path:
    write(tmp_path / "base", weights(0))
    for seed, task in enumerate(TASKS, start=1):
        write(tmp_path / "tasks" / task, weights(seed))
    return tmp_path


def read(models: Path) -> Floats:
    return read_products(models / "tasks", models / "base").products


def expected() -> Floats:
    vectors = np.array([change(weights(0), weights(seed)) for seed in (1, 2, 3)])
    return vectors @ vectors.T


def test_two_numbers_by_hand(tmp_path: Path) -> None:
    write(tmp_path / "base", {"w": np.array([1.0, 1.0])})
    for task, after in (("a", [2.0, 1.0]), ("b", [1.0, 3.0]), ("c", [0.0, 0.0])):
        write(tmp_path / "tasks" / task, {"w": np.array(after)})
    found = read_products(tmp_path / "tasks", tmp_path / "base")
    assert found.products.tolist() == [[1, 0, -1], [0, 4, -2], [-1, -2, 2]]
    assert (found.tasks, found.kind) == (("a", "b", "c"), "whole weights less those of base")


def test_shards_are_read_like_one_file(models: Path) -> None:
    whole = read(models)
    (models / "tasks" / "order" / "model.safetensors").unlink()
    write(models / "tasks" / "order", weights(2), n_shards=3)
    (models / "base" / "model.safetensors").unlink()
    write(models / "base", weights(0), n_shards=2)
    assert np.array_equal(read(models), whole)


@pytest.mark.parametrize("most_numbers", [1, 13, 1000])
def test_parts_of_any_size_give_the_same_products(models: Path, most_numbers: int) -> None:
    with (
        TensorFiles(models / "base") as base,
        TensorFiles(models / "tasks" / "count") as count,
        TensorFiles(models / "tasks" / "order") as order,
    ):
        both = {"count": count, "order": order}
        found = products_of_weights(both, base, most_numbers=most_numbers)
    assert found == pytest.approx(expected()[:2, :2])


@pytest.mark.parametrize("dtype", ["bfloat16", "float64"])
def test_weights_of_any_width_are_read(tmp_path: Path, dtype: str) -> None:
    import torch

    for place, folder in enumerate(("base", *(f"tasks/{task}" for task in TASKS))):
        write(tmp_path / folder, weights(place), dtype=dtype)
    rounded = [
        {
            n: torch.as_tensor(w).to(getattr(torch, dtype)).double().numpy()
            for n, w in weights(place).items()
        }
        for place in range(4)
    ]
    vectors = np.array([change(rounded[0], each) for each in rounded[1:]])
    assert read(tmp_path) == pytest.approx(vectors @ vectors.T)


def test_buffers_that_are_no_weights_do_not_count_and_must_be_equal(models: Path) -> None:
    for folder in ("base", *(f"tasks/{task}" for task in TASKS)):
        save(models / folder / "more.safetensors", {"ids": np.arange(3)}, "int64")
    assert read(models) == pytest.approx(expected())
    save(models / "tasks" / "spot" / "more.safetensors", {"ids": np.arange(1, 4)}, "int64")
    with pytest.raises(TaskVectorError, match="ids, which is not a weight, differs between spot"):
        read(models)


def faulty(models: Path, **changed: Any) -> None:
    """The task spot with some tensors otherwise; None takes one away."""
    of = {**weights(3), **{name.replace("__", "."): tensor for name, tensor in changed.items()}}
    write(models / "tasks" / "spot", {name: of[name] for name in of if of[name] is not None})


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"layer__weight": None}, r"spot has no tensor layer\.weight, which .*base has"),
        ({"more": np.ones(2)}, r"base has no tensor more, which .*spot has"),
        (
            {"embed__weight": np.ones((12, 4))},
            r"embed\.weight of spot is 12 x 4, that of the base 11",
        ),
        (
            {"norm__weight": np.array([1, 2, np.nan, 4, 5, 6, 7.0])},
            r"norm\.weight in .*spot has numbers that are not",
        ),
    ],
)
def test_a_tensor_that_does_not_fit_is_named(
    models: Path, changed: dict[str, Any], why: str
) -> None:
    faulty(models, **changed)
    with pytest.raises(TaskVectorError, match=why):
        read(models)


def test_quantised_weights_are_refused(models: Path) -> None:
    for folder in ("base", *(f"tasks/{task}" for task in TASKS)):
        save(models / folder / "more.safetensors", {"q": np.ones(2)}, "uint8")
    with pytest.raises(TaskVectorError, match="q in .* is U8, which is not a form of plain"):
        read(models)


def test_a_file_that_is_cut_off_is_named(models: Path) -> None:
    path = models / "tasks" / "spot" / "model.safetensors"
    whole = path.read_bytes()
    for n_bytes in (0, 4, 60, len(whole) - 1):
        path.write_bytes(whole[:n_bytes])
        with pytest.raises(TaskVectorError, match=r"spot/model\.safetensors cannot be read"):
            read(models)


def test_a_missing_shard_is_named(models: Path) -> None:
    (models / "tasks" / "spot" / "model.safetensors").unlink()
    write(models / "tasks" / "spot", weights(3), n_shards=2)
    (models / "tasks" / "spot" / "model-00002-of-00002.safetensors").unlink()
    with pytest.raises(
        TaskVectorError, match=r"spot lacks layer\.weight, which model\.safe.*00002"
    ):
        read(models)


def test_pickles_are_refused(models: Path) -> None:
    (models / "tasks" / "spot" / "model.safetensors").unlink()
    for name in ("pytorch_model.bin", "model.pt", "adapter_model.pkl"):
        pickled = models / "tasks" / "spot" / name
        pickled.write_bytes(b"\x80\x04.")
        with pytest.raises(TaskVectorError, match=f"{name} is a pickle, which can run any code"):
            read(models)
        pickled.unlink()


def test_whole_weights_need_a_base(models: Path) -> None:
    with pytest.raises(TaskVectorError, match=r"those before the fine-tuning, too \(--base\)"):
        read_products(models / "tasks")
    with pytest.raises(TaskVectorError, match="nowhere is not a folder"):
        read_products(models / "tasks", models / "nowhere")


def test_adapters_and_whole_weights_do_not_mix(models: Path) -> None:
    save_adapter(models / "tasks" / "tuned", factors(1))
    with pytest.raises(TaskVectorError, match=r"tuned is an adapter and .*count is not"):
        read(models)
