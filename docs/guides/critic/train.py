"""Fine-tune a language model on a critic's training pairs, whole or by LoRA (AlignMMBench, 4.2).

    python docs/guides/critic/train.py --config docs/guides/critic/config.yaml \
        --data_folder data/critic/RELEASE --model_name_or_path MODEL --output_dir FOLDER

`--data_folder` is what `vlm-loom result export-critic` wrote. The config has any setting of TRL's
SFTConfig and
ModelConfig and those below; what stands on the command line comes first. The loss is of the reply
alone. `--output_dir` gets the model, or the adapter, with `card.json`, and `losses.json`.
docs/guides/critic.md says how to serve it.
"""

import hashlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from huggingface_hub import constants
from transformers import AutoTokenizer, PreTrainedTokenizerBase
from trl import ModelConfig, SFTConfig, SFTTrainer, TrlParser, get_peft_config


@dataclass
class CriticConfig:
    """What the recipe needs beside TRL's settings."""

    data_folder: str = field(
        metadata={"help": "Folder with train.jsonl, test.jsonl and card.json."}
    )
    global_batch_size: int = field(
        default=128, metadata={"help": "Pairs a step, over all devices."}
    )
    max_prompt_tokens: int = field(
        default=4096, metadata={"help": "Pairs with a longer prompt are left out, and counted."}
    )
    max_reply_tokens: int = field(
        default=1024, metadata={"help": "Pairs with a longer reply are left out, and counted."}
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Train and save; 0 when it was done, 2 when the data cannot be trained on."""
    parser = TrlParser((CriticConfig, SFTConfig, ModelConfig))
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not torch.cuda.is_available():
        # TRL's default is mixed precision, which a GPU alone does quickly.
        arguments += ["--use_cpu", "true", "--bf16", "false"]
    critic, training, model = parser.parse_args_and_config(arguments)
    folder = Path(critic.data_folder)
    if not model.model_name_or_path:
        print("Say which model to begin with: model_name_or_path.", file=sys.stderr)
        return 2
    if wrong := changed_files(folder):
        print(
            f"{folder} does not have {', '.join(wrong)} as its card.json says: write it again with "
            "make export-critic.",
            file=sys.stderr,
        )
        return 2
    tokenizer = AutoTokenizer.from_pretrained(model.model_name_or_path)
    splits = {
        split: rows_of(folder / f"{split}.jsonl", tokenizer, critic) for split in ("train", "test")
    }
    if not splits["train"]:
        print(f"{folder} has no pair that is short enough to train on.", file=sys.stderr)
        return 2
    devices = int(os.environ.get("WORLD_SIZE", "1"))
    at_once = training.per_device_train_batch_size * devices
    training.gradient_accumulation_steps = max(1, critic.global_batch_size // at_once)
    training.max_length = None  # A reply that is cut off would be learned as one that ends there.
    training.completion_only_loss = True
    training.model_init_kwargs = {"dtype": model.dtype}
    # TRL reports each training to its makers otherwise.
    constants.HF_HUB_DISABLE_TELEMETRY = True
    trainer = SFTTrainer(
        model=model.model_name_or_path,
        args=training,
        train_dataset=Dataset.from_list(splits["train"]),
        eval_dataset=Dataset.from_list(splits["test"]) if splits["test"] else None,
        processing_class=tokenizer,
        peft_config=get_peft_config(model),
    )
    trainer.train()
    after = trainer.evaluate() if splits["test"] else {}
    trainer.save_model()
    if trainer.is_world_process_zero():
        losses = [each["loss"] for each in trainer.state.log_history if "loss" in each]
        out = Path(training.output_dir)
        (out / "card.json").write_bytes((folder / "card.json").read_bytes())
        results = {"train": losses, "test": after.get("eval_loss")}
        (out / "losses.json").write_text(json.dumps(results, indent=2) + "\n")
        print(
            f"Loss {losses[0]:.3f} to {losses[-1]:.3f}, of the test split {results['test']}, in {out}"
        )
    return 0


def changed_files(folder: Path) -> list[str]:
    """The files that are missing or are not those that the card names by their hashes."""
    if not (folder / "card.json").is_file():
        return ["card.json"]
    expected = json.loads((folder / "card.json").read_text())["sha256"]
    return [
        name
        for name, sha256 in expected.items()
        if not (folder / name).is_file()
        or hashlib.sha256((folder / name).read_bytes()).hexdigest() != sha256
    ]


def rows_of(
    file: Path, tokenizer: PreTrainedTokenizerBase, critic: CriticConfig
) -> list[dict[str, Any]]:
    """The pairs as prompt and completion, so that the loss is of the latter with any chat template."""
    rows, n_long = [], 0
    for line in file.read_text().splitlines():
        messages = json.loads(line)["messages"]
        prompt, reply = messages[:-1], messages[-1:]
        n_prompt = len(tokenizer.apply_chat_template(prompt, return_dict=True)["input_ids"])
        n_reply = len(tokenizer(reply[0]["content"])["input_ids"])
        if n_prompt > critic.max_prompt_tokens or n_reply > critic.max_reply_tokens:
            n_long += 1
        else:
            rows.append({"prompt": prompt, "completion": reply})
    if n_long:
        print(f"{n_long} pairs of {file.name} are too long and are left out.", flush=True)
    return rows


if __name__ == "__main__":
    sys.exit(main())
