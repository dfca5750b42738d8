"""Fine-tune a vision-language model on each task of a release: an adapter and an accuracy for each.

    python docs/guides/task_map/fine_tune.py --model FOLDER --release data/releases/ID --out vectors

The method of MMIU, C.1: the model learns the multiple-choice items of one task at a time by LoRA, from
the same weights each time; of all epochs the one with the smallest loss is kept. `--out` gets a folder
with the adapter of each task, for `vlm-loom result task-map`, and `accuracy.csv`, for `vlm-loom
result difficulty`:
accuracy on the items that were learned, as in the paper (4.3.3), and on those that were held out.
docs/guides/task-map.md says what it was run on.
"""

import argparse
import csv
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from lora import LowRank, add_lora, begin, numbers, save_adapter
from PIL import Image as Picture
from torch import Tensor
from transformers import AutoModelForImageTextToText, AutoProcessor

from methods.choice.lettered import LETTERS, key_of, original_order, question_message
from methods.evaluation.items import Item
from methods.mmiu.published import CONTEXT
from methods.prompts.messages import Image, Text
from methods.release_items import items_of_release
from resources.settings.prompts import prompt

QUESTION = prompt("mmiu/question")


class Example(NamedTuple):
    """An item as the model gets it; `letters` are the tokens of the letters of its choices."""

    inputs: dict[str, Tensor]
    letters: list[int]
    right: int


def main(argv: Sequence[str] | None = None) -> int:
    """Fine-tune on every task; 0 when it was done."""
    chosen = _parser().parse_args(argv)
    tasks = by_task(chosen.release, chosen.label)
    if not tasks:
        print(f"{chosen.release} has no items with {chosen.label!r} and a key.", file=sys.stderr)
        return 2
    processor = AutoProcessor.from_pretrained(chosen.model)
    model = AutoModelForImageTextToText.from_pretrained(chosen.model, dtype="auto")
    model = model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
    layers = add_lora(model, chosen.targets.split(","), chosen.rank, chosen.alpha)
    lines = []
    for task, items in sorted(tasks.items()):
        order = random.Random(f"{chosen.seed} {task}").sample(items, len(items))
        learned = max(1, round(chosen.share * len(order)))
        examples = [example(processor, item, chosen.release, model.device) for item in order]
        begin(layers, chosen.seed)
        tensors, losses = fine_tune(model, layers, examples[:learned], chosen)
        save_adapter(
            chosen.out / task.replace("/", "_"),
            tensors,
            chosen.base or str(chosen.model),
            chosen.targets.split(","),
            chosen.rank,
            chosen.alpha,
        )
        after, unseen = (accuracy(model, of) for of in (examples[:learned], examples[learned:]))
        lines.append((task, after, unseen, learned, len(order) - learned, min(losses)))
        print(
            f"{task}: loss {losses[0]:.3f} to {min(losses):.3f}, accuracy {after} on {learned} "
            f"learned, {'–' if unseen is None else unseen} on {len(order) - learned} held out",
            flush=True,
        )
    with (chosen.out / "accuracy.csv").open("w", newline="") as file:
        written = csv.writer(file)
        written.writerow(["task", "accuracy", "held_out", "n_learned", "n_held_out", "loss"])
        written.writerows(lines)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="folder of weights and processor")
    parser.add_argument("--base", default="", help="name of the model in adapters; the folder's")
    parser.add_argument("--release", type=Path, required=True, help="a release's folder")
    parser.add_argument("--out", type=Path, required=True, help="where a folder for each task goes")
    parser.add_argument("--label", default="task", help="label whose values are the tasks")
    parser.add_argument("--share", type=float, default=1.0, help="share of a task's items to learn")
    parser.add_argument("--epochs", type=int, default=20, help="the paper's number")
    parser.add_argument("--rank", type=int, default=8)
    parser.add_argument("--alpha", type=float, default=16)
    parser.add_argument("--targets", default="q_proj,v_proj", help="names of linear layers")
    parser.add_argument("--learning-rate", type=float, default=1e-4)
    parser.add_argument("--seed", type=int, default=0)
    return parser


def by_task(release: Path, label: str) -> dict[str, list[Item]]:
    """The items of one turn with a key, by their value of the label; says how many others there are."""
    items: dict[str, list[Item]] = {}
    n_others = 0
    for item in items_of_release(json.loads((release / "tables.json").read_text())):
        if label in item.labels and len(item.turns) == 1 and key_of(item) is not None:
            items.setdefault(item.labels[label], []).append(item)
        else:
            n_others += 1
    if n_others:
        print(
            f"{n_others} items without {label!r}, without a key, or of several turns are left out."
        )
    return items


def example(processor: Any, item: Item, release: Path, device: torch.device) -> Example:
    """Pictures, question and lettered choices, by the processor of the model."""
    parts: list[dict[str, Any]] = []
    pictures = []
    for part in question_message(item, QUESTION, CONTEXT, original_order(len(item.choices))).parts:
        if isinstance(part, Image):
            (path,) = (release / "images").glob(f"{part.image_id}.*")
            pictures.append(Picture.open(path).convert("RGB"))
            parts.append({"type": "image"})
        elif isinstance(part, Text):
            parts.append({"type": "text", "text": part.text})
    text = processor.apply_chat_template(
        [{"role": "user", "content": parts}], add_generation_prompt=True
    )
    inputs = processor(text=[text], images=pictures or None, return_tensors="pt").to(device)
    letters = [
        processor.tokenizer.encode(letter, add_special_tokens=False)[-1]
        for letter in LETTERS[: len(item.choices)]
    ]
    return Example(dict(inputs), letters, LETTERS.index(key_of(item) or "A"))


def fine_tune(
    model: Any, layers: dict[str, LowRank], examples: Sequence[Example], chosen: argparse.Namespace
) -> tuple[dict[str, Tensor], list[float]]:
    """The tensors of the epoch with the smallest loss, which the model has then, and all losses.

    An epoch's loss is that of all examples by the weights that it ends with.
    """
    weights = [tensor for layer in layers.values() for tensor in (layer.down, layer.up)]
    steps = torch.optim.AdamW(weights, lr=chosen.learning_rate, weight_decay=0.0)
    draw = random.Random(chosen.seed)
    losses: list[float] = []
    best = numbers(layers)
    for _ in range(chosen.epochs):
        for example in draw.sample(examples, len(examples)):
            steps.zero_grad()
            _loss(model, example).backward()
            steps.step()
        with torch.no_grad():
            losses.append(sum(float(_loss(model, of)) for of in examples) / len(examples))
        if losses[-1] == min(losses):
            best = numbers(layers)
    with torch.no_grad():
        for name, layer in layers.items():
            layer.down.copy_(best[f"base_model.model.{name}.lora_A.weight"])
            layer.up.copy_(best[f"base_model.model.{name}.lora_B.weight"])
    return best, losses


def accuracy(model: Any, examples: Sequence[Example]) -> float | None:
    """The share of items whose right letter is the likeliest of its letters; None of none."""
    with torch.no_grad():
        right = [int(_next(model, of)[of.letters].argmax()) == of.right for of in examples]
    return round(sum(right) / len(right), 4) if right else None


def _loss(model: Any, example: Example) -> Tensor:
    """The negative log-likelihood of the right letter after the question."""
    target = torch.tensor([example.letters[example.right]], device=model.device)
    return torch.nn.functional.cross_entropy(_next(model, example)[None], target)


def _next(model: Any, example: Example) -> Tensor:
    """How likely each token is to be the first of the answer, as logits."""
    logits: Tensor = model(**example.inputs, logits_to_keep=1).logits[0, -1].float()
    return logits


if __name__ == "__main__":
    sys.exit(main())
