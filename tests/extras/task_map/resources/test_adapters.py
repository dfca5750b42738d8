"""Adapters of LoRA: the scale by hand, the products against full changes, and faults by name."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extras.task_map.methods.clustering import Floats
from extras.task_map.resources.products import read_products
from extras.task_map.resources.tensor_files import TaskVectorError
from tests.extras.task_map.resources.weights import MODULE, Factors, factors, save, save_adapter

TASKS = ("count", "order", "spot")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for seed, task in enumerate(TASKS):
        save_adapter(tmp_path / task, factors(seed))
    return tmp_path


def full(of: Factors, scale: float) -> Floats:
    return np.concatenate([(scale * up @ down).ravel() for up, down in of.values()])


def test_one_module_by_hand(tmp_path: Path) -> None:
    # B A of one number each: 2 x 3 = 6 times alpha / r = 4 / 1, and so on.
    for task, up, down in (("a", 2.0, 3.0), ("b", 1.0, 1.0), ("c", -1.0, 2.0)):
        one = {MODULE.format(0): (np.array([[up]]), np.array([[down]]))}
        save_adapter(tmp_path / task, one, r=1)
    read = read_products(tmp_path)
    assert read.tasks == ("a", "b", "c") and read.kind == "LoRA adapters of tiny"
    changes = np.array([24.0, 4.0, -8.0])
    assert read.products == pytest.approx(np.outer(changes, changes))


def test_ranks_and_scales_may_differ_by_task_and_by_module(tmp_path: Path) -> None:
    save_adapter(tmp_path / "plain", factors(0))
    save_adapter(tmp_path / "root", factors(1, rank=4), r=4, use_rslora=True)
    mixed = {**factors(2), MODULE.format(1): factors(2, rank=3)[MODULE.format(1)]}
    patterns = {"rank_pattern": {r"layers\.1\.q_proj": 3}, "alpha_pattern": {"1.q_proj": 9}}
    save_adapter(tmp_path / "varied", mixed, **patterns)
    scaled = {
        name: (up * (9 / 3 if "1" in name else 4 / 2), down) for name, (up, down) in mixed.items()
    }
    vectors = np.array(
        [full(factors(0), 2), full(factors(1, rank=4), 4 / np.sqrt(4)), full(scaled, 1)]
    )
    assert read_products(tmp_path).products == pytest.approx(vectors @ vectors.T)


def test_convolutions_and_embeddings_count_like_other_modules(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    vectors = []
    for task in TASKS:
        save_adapter(tmp_path / task, {})
        down, up = generator.standard_normal((2, 3, 2, 2)), generator.standard_normal((4, 2, 1, 1))
        rows, columns = generator.standard_normal((2, 9)), generator.standard_normal((5, 2))
        save(
            tmp_path / task / "adapter_model.safetensors",
            {
                "base_model.model.patch.lora_A.weight": down,
                "base_model.model.patch.lora_B.weight": up,
                "base_model.model.embed.lora_embedding_A": rows,
                "base_model.model.embed.lora_embedding_B": columns,
            },
        )
        conv = up.reshape(4, 2) @ down.reshape(2, 12)
        vectors.append(np.concatenate([conv.ravel(), (columns @ rows).T.ravel()]) * 2)
    expected = np.array(vectors) @ np.array(vectors).T
    assert read_products(tmp_path).products == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"base_model_name_or_path": "other"}, "on the base tiny and spot on other"),
        ({"r": 3}, r"q_proj of rank 2, and its adapter_config.json says 3"),
        ({"lora_alpha": 0}, "has no positive r and lora_alpha"),
        ({"peft_type": "IA3"}, "is of kind IA3: only LORA"),
        ({"use_dora": True}, "is of DoRA"),
        ({"init_lora_weights": "pissa"}, "began with init_lora_weights='pissa'"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_named(
    folder: Path, config: dict[str, Any], why: str
) -> None:
    save_adapter(folder / "spot", factors(2), **config)
    with pytest.raises(TaskVectorError, match=why):
        read_products(folder)


def changed(**factor: Floats) -> Factors:
    """The factors of spot, with another B or A of its second module."""
    up, down = factors(2)[MODULE.format(1)]
    return {**factors(2), MODULE.format(1): (factor.get("up", up), factor.get("down", down))}


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (factors(2, n_modules=1), r"spot has no LoRA of layers\.1\.q_proj"),
        (factors(2, n_in=6), r"q_proj of spot is 5 x 6, that of count 5 x 4"),
        (changed(up=np.ones((5, 1))), "B of shape 5 x 1 and A of shape 2 x 4"),
        (changed(down=np.full((2, 4), np.inf)), r"layers\.1\.q_proj\.lora_A.*spot has numbers"),
    ],
)
def test_a_module_that_does_not_fit_or_is_not_finite_is_named(
    folder: Path, made: Factors, why: str
) -> None:
    save_adapter(folder / "spot", made)
    with pytest.raises(TaskVectorError, match=why):
        read_products(folder)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("base_model.model.x.lora_magnitude_vector", "which is not a LoRA of a module"),
        ("base_model.model.x.lora_A.weight", "has lora_A of x alone"),
    ],
)
def test_a_tensor_that_is_no_pair_is_named(folder: Path, name: str, why: str) -> None:
    save(folder / "spot" / "more.safetensors", {name: np.ones((2, 2))})
    with pytest.raises(TaskVectorError, match=why):
        read_products(folder)


def test_adapters_need_no_base(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(TaskVectorError, match="leave out --base "):
        read_products(folder, tmp_path)
