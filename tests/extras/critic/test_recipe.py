"""The guide's recipe for a critic, on a model of few random weights: it learns the replies."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from huggingface_hub import constants

from extras.critic.methods.export import card, chat_lines
from resources.files.home import REPO_ROOT

pytestmark = pytest.mark.slow

RECIPE = REPO_ROOT / "docs" / "guides" / "critic"
QUICK = {
    "max_steps": 30,
    "learning_rate": 0.01,
    "global_batch_size": 8,
    "per_device_train_batch_size": 8,
    "logging_steps": 1,
    "disable_tqdm": "true",
}
FALLEN = 0.6
"""At most this share of the first loss is left."""


@pytest.fixture
def recipe(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    import torch

    torch.set_num_threads(1)
    # The recipe sets it, so that nothing is reported; a thread would be left that does it.
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_TELEMETRY", False)
    # Under names of their own: another recipe has a `tiny_model`, too.
    loaded = {}
    for name in ("tiny_model", "train"):
        spec = importlib.util.spec_from_file_location(f"critic_{name}", RECIPE / f"{name}.py")
        assert spec is not None and spec.loader is not None
        loaded[name] = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, f"critic_{name}", loaded[name])
        spec.loader.exec_module(loaded[name])
    return loaded


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """Forty short pairs, four of them to test on, as `vlm-loom result export-critic` writes them."""
    pairs = [
        {"pair_id": f"{n}", "split": "test" if n % 10 == 0 else "train", "category": "none"}
        | {"system": "Rate.", "prompt": f"<answer>{n} cats</answer>", "block": f"{n}"}
        | {"reply": json.dumps({"Reason": ("No.", "It is right.")[n % 2], "Rating": n % 10 + 1})}
        | {"benchmark": "b", "judge_version": "v", "prompt_version": "p", "seed": 0, "score": 1}
        for n in range(40)
    ]
    files = {
        f"{split}.jsonl": chat_lines([pair for pair in pairs if pair["split"] == split])
        for split in ("train", "test")
    }
    folder = tmp_path / "exported"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "card.json").write_text(json.dumps(card("r", pairs, [], files)))
    return folder


def train(recipe: dict[str, ModuleType], exported: Path, config: str, **changed: object) -> Path:
    """The folder of what was trained on a new tiny model, by a config of the guide."""
    root = exported.parent
    made = ["--data_folder", str(exported), "--out", str(root / "tiny")]
    assert recipe["tiny_model"].main(made) == 0
    given = {"data_folder": exported, "model_name_or_path": root / "tiny", **QUICK, **changed}
    given["output_dir"] = root / "trained"
    arguments = [text for name, value in given.items() for text in (f"--{name}", str(value))]
    assert recipe["train"].main(["--config", str(RECIPE / config), *arguments]) == 0
    return root / "trained"


def losses(folder: Path) -> list[float]:
    found: list[float] = json.loads((folder / "losses.json").read_text())["train"]
    return found


def test_lora_learns_the_reply_alone_and_its_adapter_is_loaded_again(recipe, exported, monkeypatch):
    import torch
    from peft import AutoPeftModelForCausalLM
    from transformers import AutoModelForCausalLM, AutoTokenizer

    made = []

    class Kept(recipe["train"].SFTTrainer):
        def train(self) -> None:
            made.append(self)
            super().train()

    monkeypatch.setattr(recipe["train"], "SFTTrainer", Kept)
    folder = train(recipe, exported, "lora.yaml")
    found = losses(folder)
    assert len(found) == QUICK["max_steps"] and found[-1] < FALLEN * found[0]
    assert (folder / "card.json").read_bytes() == (exported / "card.json").read_bytes()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokens = tokenizer("It is right.", return_tensors="pt")
    adapted = AutoPeftModelForCausalLM.from_pretrained(folder).eval()
    base = AutoModelForCausalLM.from_pretrained(exported.parent / "tiny").eval()
    with torch.no_grad():
        difference = adapted(**tokens).logits.float() - base(**tokens).logits
    assert difference.abs().max() > 0.1, "the adapter changes what the model says"

    (trainer,) = made
    batch = trainer.data_collator([trainer.train_dataset[0]])
    learned = batch["labels"][0] != -100
    whole, reply = (
        trainer.processing_class.decode(batch["input_ids"][0][which])
        for which in (torch.ones_like(learned), learned)
    )
    assert "cats" in whole and whole.endswith(reply)
    assert reply.startswith('{"Reason"') and reply.endswith("}</s>")


def test_files_that_are_not_those_of_the_card_are_refused(recipe, exported, capsys) -> None:
    (exported / "train.jsonl").write_text((exported / "test.jsonl").read_text())
    arguments = ["--data_folder", str(exported), "--model_name_or_path", "none"]
    assert recipe["train"].main(["--config", str(RECIPE / "config.yaml"), *arguments]) == 2
    assert "does not have train.jsonl as its card.json says" in capsys.readouterr().err


def test_the_config_has_what_the_paper_says() -> None:
    said = yaml.safe_load((RECIPE / "config.yaml").read_text())
    assert said["learning_rate"] == 1e-5 and said["weight_decay"] == 0.05
    assert (said["warmup_steps"], said["max_steps"], said["global_batch_size"]) == (0.01, 1000, 128)
    assert (said["max_prompt_tokens"], said["max_reply_tokens"]) == (4096, 1024)
    lora = yaml.safe_load((RECIPE / "lora.yaml").read_text())
    assert lora["use_peft"] is True
    differs = {name for name in said if lora[name] != said[name]}
    assert differs == {"learning_rate", "dtype"}
