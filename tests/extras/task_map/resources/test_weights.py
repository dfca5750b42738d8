"""Adapters and whole weights as task vectors, and accuracies: by hand, and each fault by name."""

import json
import os
import re
import tracemalloc
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extras.task_map.methods.clustering import Floats
from extras.task_map.resources.accuracy_file import AccuracyFileError, read_accuracies
from extras.task_map.resources.adapters import Adapter, compile_pattern, products_of_adapters
from extras.task_map.resources.products import products_of_weights, read_products
from extras.task_map.resources.tensor_files import TaskVectorError, TensorFiles
from tests.extras.task_map.resources.weights import (
    MODULE,
    Factors,
    change,
    factors,
    save,
    save_adapter,
    weights,
)

TASKS = ("count", "order", "spot")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for seed, task in enumerate(TASKS):
        save_adapter(tmp_path / task, factors(seed))
    return tmp_path


def full(of: Factors, scale: float) -> Floats:
    return np.concatenate([(scale * up @ down).ravel() for up, down in of.values()])


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


_PARTS = st.lists(st.sampled_from(["a", "b", "_", ".", r"\.", ".*"]), min_size=1, max_size=6)
_ENDS = st.tuples(st.sampled_from(["", "^"]), _PARTS.map("".join), st.sampled_from(["", "$"]))


@given(st.lists(_ENDS.map("".join), min_size=1, max_size=3), st.text("ab_.", max_size=8))
def test_patterns_match_the_names_that_peft_matches(patterns: list[str], name: str) -> None:
    pattern = "|".join(patterns)
    expected = re.match(rf"(.*\.)?({pattern})$", name)
    assert bool(compile_pattern(pattern).match(name)) == bool(expected)


def test_a_pattern_of_many_gaps_is_matched_at_once() -> None:
    assert not compile_pattern(".*a" * 30 + "c").match("a" * 1000)


@pytest.mark.parametrize(("n_out", "n_in"), [(3, 4), (4, 3)])
def test_a_rank_may_be_larger_than_the_sides(tmp_path: Path, n_out: int, n_in: int) -> None:
    made = [factors(seed, rank=7, n_out=n_out, n_in=n_in) for seed in range(3)]
    for task, of in zip(TASKS, made, strict=True):
        save_adapter(tmp_path / task, of, r=7)
    vectors = np.array([full(of, 4 / 7) for of in made])
    assert read_products(tmp_path).products == pytest.approx(vectors @ vectors.T)


def test_a_rank_takes_memory_in_proportion_to_the_files(tmp_path: Path) -> None:
    for task in TASKS:
        save_adapter(tmp_path / task, {"x": (np.ones((1, 2000)), np.ones((2000, 1)))}, r=2000)
    with ExitStack() as stack:
        opened = [stack.enter_context(TensorFiles(tmp_path / task)) for task in TASKS]
        adapters = [Adapter(*pair) for pair in zip(TASKS, opened, strict=True)]
        tracemalloc.start()
        products = products_of_adapters(adapters)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    # B A is 2000, and the scale 4 / 2000.
    assert products == pytest.approx(np.full((3, 3), 16))
    assert peak < 10_000_000


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
        ({"lora_alpha": 1e308}, "has no positive r and lora_alpha up to 1,000,000"),
        (
            {"rank_pattern": {"(a+)+c": 2}},
            r"spot has \{'\(a\+\)\+c': 2\} as rank_pattern in adapter_",
        ),
        ({"rank_pattern": {"(": 2}}, r"has \{'\(': 2\} as rank_pattern"),
        ({"rank_pattern": {"q_proj": "x"}}, r"has \{'q_proj': 'x'\} as rank_pattern"),
        ({"alpha_pattern": {"q_proj": [1]}}, r"has \{'q_proj': \[1\]\} as alpha_pattern"),
        (
            {"alpha_pattern": [1]},
            "has alpha_pattern in adapter_config.json, which is not an object",
        ),
        ({"rank_pattern": {"a" * 50_001: 2}}, "patterns or 50,000 characters"),
        ({"rank_pattern": {f"a{n}": 2 for n in range(1_001)}}, "more than 1,000 patterns or"),
        ({"alpha_pattern": {"a|" * 1_000 + "a": 2}}, "more than 1,000 patterns or"),
        ({"peft_type": "IA3"}, "is of kind IA3: only LORA"),
        ({"use_dora": True}, "is of DoRA"),
        ({"init_lora_weights": "pissa"}, "began with init_lora_weights='pissa'"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_named(folder, config, why) -> None:
    save_adapter(folder / "spot", factors(2), **config)
    with pytest.raises(TaskVectorError, match=why):
        read_products(folder)


def test_names_of_modules_that_take_long_to_compare_with_the_patterns_are_refused(folder) -> None:
    patterns = {f"a{n}": 2 for n in range(1_000)}
    save_adapter(
        folder / "spot", {"x" * 60_000: factors(2)[MODULE.format(1)]}, rank_pattern=patterns
    )
    with pytest.raises(TaskVectorError, match="too long or too many for the patterns"):
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
        (changed(up=np.array(1.0), down=np.array(1.0)), r"B of shape \(\) and A of shape \(\)"),
        (
            changed(up=np.ones((5, 0)), down=np.ones((0, 4))),
            r"lora_[AB].* of shape .*, which is empty",
        ),
        (changed(down=np.full((2, 4), np.inf)), r"layers\.1\.q_proj\.lora_A.*spot has numbers"),
    ],
)
def test_a_module_that_does_not_fit_or_is_not_finite_is_named(folder, made, why) -> None:
    save_adapter(folder / "spot", made)
    with pytest.raises(TaskVectorError, match=why):
        read_products(folder)


def test_a_tensor_that_is_no_pair_and_a_base_that_is_not_needed_are_named(folder: Path) -> None:
    with pytest.raises(TaskVectorError, match="leave out --base "):
        read_products(folder, folder.parent)
    for name, why in (
        ("base_model.model.x.lora_magnitude_vector", "which is not a LoRA of a module"),
        ("base_model.model.x.lora_A.weight", "has lora_A of x alone"),
    ):
        save(folder / "spot" / "more.safetensors", {name: np.ones((2, 2))})
        with pytest.raises(TaskVectorError, match=why):
            read_products(folder)
    (folder / "spot").rename(folder / "\x1b[31mspot")
    with pytest.raises(TaskVectorError, match="spot has a character that cannot be shown: rename"):
        read_products(folder)


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


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"layer.weight": None}, r"spot has no tensor layer\.weight, which .*base has"),
        ({"more": np.ones(2)}, r"base has no tensor more, which .*spot has"),
        (
            {"embed.weight": np.ones((12, 4))},
            r"embed\.weight of spot is 12 x 4, that of the base 11",
        ),
        ({"norm.weight": np.full(7, np.nan)}, r"norm\.weight in .*spot has numbers that are not"),
    ],
)
def test_a_tensor_that_does_not_fit_is_named(models, changed, why) -> None:
    of = {name: tensor for name, tensor in {**weights(3), **changed}.items() if tensor is not None}
    write(models / "tasks" / "spot", of)
    with pytest.raises(TaskVectorError, match=why):
        read(models)


@pytest.mark.parametrize(
    ("tensor", "dtype", "why"),
    [
        (np.ones((10**6, 0)), "float32", "has q of shape 1000000 x 0, which is empty"),
        (np.ones(2), "uint8", "q in .* is U8, which is not a form of plain"),
    ],
)
def test_an_empty_tensor_and_quantised_weights_are_named(models: Path, tensor, dtype, why) -> None:
    for folder in ("base", *(f"tasks/{task}" for task in TASKS)):
        save(models / folder / "more.safetensors", {"q": tensor}, dtype)
    with pytest.raises(TaskVectorError, match=why):
        read(models)


def test_a_number_whose_square_would_overflow_is_named(models: Path) -> None:
    write(models / "tasks" / "spot", weights(3) | {"scale": np.array(-1e200)}, dtype="float64")
    with pytest.raises(TaskVectorError, match=r"scale in .*spot has numbers .* or beyond 1e\+40"):
        read(models)


def test_a_file_that_is_cut_off_or_a_pipe_is_named(models: Path) -> None:
    path = models / "tasks" / "spot" / "model.safetensors"
    whole = path.read_bytes()
    for n_bytes in (0, 4, 60, len(whole) - 1):
        path.write_bytes(whole[:n_bytes])
        with pytest.raises(TaskVectorError, match=r"spot/model\.safetensors cannot be read"):
            read(models)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(TaskVectorError, match="the file is a pipe or a device"):
        read(models)


def test_pickles_are_refused(models: Path) -> None:
    (models / "tasks" / "spot" / "model.safetensors").unlink()
    for name in ("pytorch_model.bin", "model.pt", "adapter_model.pkl"):
        pickled = models / "tasks" / "spot" / name
        pickled.write_bytes(b"\x80\x04.")
        with pytest.raises(TaskVectorError, match=f"{name} is a pickle, which can run any code"):
            read(models)
        pickled.unlink()


def test_whole_weights_need_a_base_and_do_not_mix_with_adapters(models: Path) -> None:
    with pytest.raises(TaskVectorError, match=r"those before the fine-tuning, too \(--base\)"):
        read_products(models / "tasks")
    with pytest.raises(TaskVectorError, match="nowhere is not a folder"):
        read_products(models / "tasks", models / "nowhere")
    save_adapter(models / "tasks" / "tuned", factors(1))
    with pytest.raises(TaskVectorError, match=r"tuned is an adapter and .*count is not"):
        read(models)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "has no column task"),
        ("task,accuracy\n", "has no line below its first one"),
        ("task,accuracy\na,1\n,2\n", "Line 3 of .* has no task name"),
        ("task,accuracy\na,1\na,2\n", "Line 3 of .* repeats the task a"),
        ("task,accuracy\na,high\n", "Line 2 of .* has the accuracy 'high', which is not a number"),
        ("task,accuracy\na,nan\n", "has the accuracy 'nan', which is not a number"),
        ('task,accuracy\n"a,1\nb,2\n', "the quote that opens on line 2 .* --quoting none"),
        (b"\xff\xfe\x00", "cannot be read as CSV"),
    ],
)
def test_a_fault_is_named(tmp_path: Path, text: str | bytes, why: str) -> None:
    (tmp_path / "accuracy.csv").write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(AccuracyFileError, match=why):
        read_accuracies(tmp_path / "accuracy.csv")
