"""Forms that other tools evaluate models on: VLMEvalKit's TSV, tasks of lmms-eval and inspect_ai.

What belongs here: writing them. What comes back is read by `resources/reports/prediction_file.py`. The
scripts in `templates/` stand in the folders as they are.
"""

import csv
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from methods.choice.lettered import LETTERS
from methods.choice.published import are_indexes
from methods.evaluation.published_tables import encoded
from methods.exports.rows import Exported, asked
from methods.prompts.messages import IMAGE_HERE
from resources.exports import huggingface
from resources.exports.records import IMAGES, Pictures, write_page
from resources.exports.source import CannotHoldError, Source

TEMPLATES = Path(__file__).parent / "templates"
_FUNCTIONS = ("doc_to_messages", "doc_to_visual", "doc_to_text", "doc_to_target", "process_results")
"""What a task of lmms-eval takes from its `utils.py`."""
_COLUMNS = frozenset(("index", "item_id", "question", "answer", "image", *LETTERS))


def write_vlmevalkit(source: Source, folder: Path) -> None:
    """Write one TSV with the pictures inside, cells exactly as they are.

    Questions of one turn have a number as their index (the id where all are numbers, else the
    place), and their choices in columns; dialogues are as VLMEvalKit has MMDU's: lists of
    questions, of answers and of pictures.
    """
    labels: set[str] = set()
    n_choices = n_turns = 0
    numbered = True
    for item in _items(source):
        numbered = numbered and are_indexes([item.item_id])
        labels |= (item.labels or {}).keys()
        n_choices = max(n_choices, len(item.choices))
        n_turns = max(n_turns, len(item.turns))
    named = {label: f"label_{label}" if label in _COLUMNS else label for label in sorted(labels)}
    letters = LETTERS[:n_choices]
    file = f"{source.card['name']}.tsv"
    with (folder / file).open("w", newline="", encoding="utf-8") as lines:
        writer = csv.writer(lines, delimiter="\t", quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerow(
            ["index", "item_id", *named.values(), "question", *letters, "answer", "image"]
        )
        for number, item in enumerate(_items(source), start=1):
            images = [encoded(source.read(picture.image_id)) for picture in item.pictures]
            said = [(item.labels or {}).get(label, "") for label in named]
            if n_turns > 1:
                cells = [repr([turn.question for turn in item.turns])]
                answers = [_target(item, place) for place in range(len(item.turns))]
                cells += [*[""] * n_choices, repr(answers), repr(images)]
                writer.writerow([item.item_id, item.item_id, *said, *cells])
            else:
                choices = [*item.choices, *[""] * (n_choices - len(item.choices))]
                question = item.turns[0].question.replace(IMAGE_HERE, "<image>")
                shown = images[0] if len(images) == 1 else repr(images)
                cells = [question, *choices, _target(item, 0), shown]
                index = item.item_id if numbered else number
                writer.writerow([index, item.item_id, *said, *cells])
    write_page(source, folder, {file: "the items as VLMEvalKit reads them, pictures inside"})


def write_lmms_eval(source: Source, folder: Path, shard_bytes: int) -> None:
    """Write the rows as a dataset, and a task of lmms-eval on it."""
    name = source.card["name"].replace("-", "_").replace(".", "_")
    source.require = _of_one_turn("lmms-eval")
    files = {
        f"{name}.yaml": f"the task: lmms-eval --include_path . --log_samples --tasks {name}",
        "utils.py": "what the task asks, and how it reads an answer",
    }
    huggingface.write(source, folder, shard_bytes, files, "lmms-eval")
    shutil.copyfile(TEMPLATES / "lmms_eval_utils.py", folder / "utils.py")
    # Files that it finds beside the task are named one by one.
    shards = sorted(path.relative_to(folder).as_posix() for path in folder.glob("data/*/*.parquet"))
    task = yaml.safe_dump(
        {
            "task": name,
            "dataset_path": "parquet",
            "dataset_kwargs": {"data_files": {source.split: shards}},
            "test_split": source.split,
            "output_type": "generate_until",
            "generation_kwargs": {"max_new_tokens": 1024, "temperature": 0, "do_sample": False},
            "metadata": [{"version": 1.0}],
        },
        sort_keys=False,
    )
    task += "".join(f"{function}: !function utils.{function}\n" for function in _FUNCTIONS)
    task += "metric_list:\n- metric: vlm_loom\n  aggregation: !function utils.mean\n"
    task += "  higher_is_better: true\n"
    (folder / f"{name}.yaml").write_text(task)


def write_inspect(source: Source, folder: Path) -> None:
    """Write the items and their pictures, and a task of inspect_ai that asks them."""
    source.require = _of_one_turn("inspect-ai")
    pictures = Pictures(source, folder)
    with (folder / "data.jsonl").open("w", encoding="utf-8", newline="\n") as lines:
        for item in _items(source):
            lines.write(json.dumps(_sample(item, pictures)) + "\n")
    shutil.copyfile(TEMPLATES / "inspect_task.py", folder / "task.py")
    files = {
        "task.py": "the task: inspect eval task.py --model PROVIDER/MODEL",
        "data.jsonl": "the items",
        f"{IMAGES}/": "their pictures",
    }
    write_page(source, folder, files)


def _items(source: Source) -> Iterator[Exported]:
    return (item for batch in source.batches() for item in batch)


def _of_one_turn(form: str) -> Callable[[Exported], None]:
    def require(item: Exported) -> None:
        if len(item.turns) != 1:
            raise CannotHoldError(
                f"{form} asks one question an item, and {item.item_id} has {len(item.turns)} turns: "
                "export it as vlmevalkit or huggingface."
            )

    return require


def _target(item: Exported, place: int) -> str:
    references = item.turns[place].references
    return references.get("key") or references.get("answer") or ""


def _sample(item: Exported, pictures: Pictures) -> dict[str, Any]:
    paths: Sequence[str] = [pictures.copied(picture.image_id) for picture in item.pictures]
    (turn,) = item.turns
    return {
        "id": item.item_id,
        "content": [
            {"text": part} if isinstance(part, str) else {"image": paths[part]}
            for part in asked(item, turn).parts
        ],
        "target": _target(item, 0),
        "labels": dict(item.labels or {}),
        "letters": bool(item.choices),
    }
