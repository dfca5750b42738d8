"""The guide's recipe, on a model of few random weights: its adapters are task vectors that are read."""

import importlib
import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

from extras.task_map.methods.vectors import cosine_distances
from extras.task_map.resources.accuracy_file import read_accuracies
from extras.task_map.resources.products import read_products
from resources.files.home import REPO_ROOT

pytestmark = pytest.mark.slow

TASKS = ("first", "second", "third")
COLOURS = ("red", "green", "blue")
N_ITEMS = 4


@pytest.fixture
def recipe(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    monkeypatch.syspath_prepend(REPO_ROOT / "docs" / "guides" / "task_map")
    import torch

    torch.set_num_threads(1)
    return {name: importlib.import_module(name) for name in ("lora", "tiny_model", "fine_tune")}


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """Four items of each of three tasks on two pictures, and one without a key."""
    (tmp_path / "release" / "images").mkdir(parents=True)
    for colour in COLOURS:
        Image.new("RGB", (32, 32), colour).save(tmp_path / "release" / "images" / f"{colour}.png")
    tables: dict[str, list[dict[str, object]]] = {
        name: [] for name in ("items", "turns", "choices", "references", "images")
    }
    for place, task in enumerate([*TASKS * N_ITEMS, "held out"]):
        item = {"item_id": f"i{place}"}
        tables["items"].append({**item, "group_id": None, "labels": {"task": task}})
        question = f"Image1: <ImageHere>, Image2: <ImageHere>\nWhich colour is the {task}?"
        turn = {**item, "turn": 1, "question": question, "image_positions": [1, 2], "given": None}
        tables["turns"].append(turn)
        tables["choices"] += [{**item, "choice": colour} for colour in COLOURS]
        tables["images"] += [{**item, "image_id": COLOURS[n]} for n in (0, place % 3)]
        if task != "held out":
            key = {"turn": 1, "kind": "key", "reference": "ABC"[place % 3]}
            tables["references"].append({**item, **key})
    (tmp_path / "release" / "tables.json").write_text(json.dumps(tables))
    return tmp_path / "release"


def test_the_recipe_makes_adapters_that_the_map_reads(recipe, release, tmp_path, capsys) -> None:
    model, vectors = tmp_path / "tiny", tmp_path / "vectors"
    assert recipe["tiny_model"].main(["--release", str(release), "--out", str(model)]) == 0
    arguments = {"model": model, "release": release, "out": vectors, "epochs": 3, "share": 0.75}
    given = [text for name, value in arguments.items() for text in (f"--{name}", str(value))]
    assert recipe["fine_tune"].main([*given, "--learning-rate", "0.01"]) == 0
    assert "1 items without 'task', without a key" in capsys.readouterr().out
    read = read_products(vectors)
    assert read.tasks == TASKS and read.kind == f"LoRA adapters of {model}"
    distances = cosine_distances(read.products, read.tasks)
    assert (distances[~np.eye(3, dtype=bool)] > 0).all()
    accuracies = read_accuracies(vectors / "accuracy.csv")
    assert tuple(sorted(accuracies)) == TASKS and all(
        0 <= each <= 1 for each in accuracies.values()
    )


def test_a_change_is_scale_times_b_a_and_the_base_stays(recipe: dict[str, ModuleType]) -> None:
    import torch

    lora = recipe["lora"]
    torch.manual_seed(0)
    model = torch.nn.ModuleDict({"q_proj": torch.nn.Linear(4, 3), "other": torch.nn.Linear(4, 3)})
    x = torch.randn(2, 4)
    before = model["q_proj"](x)
    (layer,) = lora.add_lora(model, ["q_proj"], rank=2, alpha=6).values()
    lora.begin({"q_proj": layer}, seed=1)
    assert torch.equal(model["q_proj"](x), before)
    torch.nn.init.normal_(layer.up)
    change = 3 * layer.up @ layer.down
    assert torch.allclose(model["q_proj"](x), before + x @ change.T, atol=1e-6)
    learned = {name for name, each in model.named_parameters() if each.requires_grad}
    assert learned == {"q_proj.down", "q_proj.up"}
    with pytest.raises(ValueError, match="no linear layer named k_proj"):
        lora.add_lora(model, ["k_proj"], rank=2, alpha=6)
