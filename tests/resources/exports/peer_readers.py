"""Exports, read by code of the tools that they are for: VLMEvalKit and LLaMA-Factory.

Run by `make test-peers`, with both in a folder of their own (PEERS). Their packages import every model
that they know, so that the modules that read files are imported by themselves.
"""

import csv
import hashlib
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from methods.choice.answer_extraction import compat
from methods.evaluation.items import Item
from resources.exports.folder import write_folder
from resources.exports.formats import FORMS
from resources.images.store import ImageStore
from tests.methods.choice.answer_texts import CHOICES, TABLE
from tests.resources.exports.peer_tasks import PEERS
from tests.resources.exports.replies import HERE, pixels

BARE = """
import importlib, json, sys, types
from pathlib import Path

root = Path(sys.argv[1])
sys.path.append(str(root))


def bare(name):
    package = types.ModuleType(name)
    package.__path__ = [str(root / name.replace(".", "/"))]
    sys.modules[name] = package


"""
VLMEVALKIT = """
for name in ("vlmeval", "vlmeval.dataset", "vlmeval.dataset.utils"):
    bare(name)
# It would import every judge.
judge = types.ModuleType("vlmeval.dataset.utils.judge_util")
judge.build_judge = None
sys.modules[judge.__name__] = judge
from vlmeval.dataset.image_mt import ImageMTDataset
from vlmeval.smp import load


class Exported(ImageMTDataset):
    def load_data(self, dataset):
        return load(sys.argv[2])

    def evaluate(self, *of):
        raise NotImplementedError


read = Exported("exported")
print(json.dumps([read.build_prompt(place) for place in range(len(read))]))
"""
LETTERS = """
for name in ("vlmeval", "vlmeval.dataset", "vlmeval.dataset.utils"):
    bare(name)
import pandas
from vlmeval.dataset.utils.multiple_choice import prefetch_answer

rows = pandas.read_csv(sys.argv[2], sep="\\t").to_dict("records")
print(json.dumps([prefetch_answer({**row, "prediction": str(row["prediction"])}) for row in rows]))
"""
LLAMA_FACTORY = """
for name in ("llamafactory", "llamafactory.data"):
    bare(name)
from datasets import load_dataset
from llamafactory.data.converter import SharegptDatasetConverter
from llamafactory.data.parser import get_dataset_list

folder = sys.argv[2]
(described,) = get_dataset_list(["mmdu"], folder)
rows = load_dataset(
    "json", data_files=str(Path(folder, described.dataset_name)), split="train",
    cache_dir=str(Path(folder).parent / "cache"),
)
convert = SharegptDatasetConverter(described, types.SimpleNamespace(media_dir=folder))
print(json.dumps([convert(row) for row in rows]))
"""


def read_by(script: str, of: Path, tmp_path: Path) -> Any:
    """What a tool's code makes of an export."""
    told = {"LMUData": str(tmp_path / "lmu"), "HF_HUB_OFFLINE": "1", "DISABLE_VERSION_CHECK": "1"}
    done = subprocess.run(
        [sys.executable, "-c", BARE + script, PEERS / "readers", of],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **told},
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_vlmevalkit_reads_dialogues_with_texts_and_pixels(
    released, dialogues: list[Item], hostile: list[Item], store: ImageStore, tmp_path: Path
) -> None:
    # It names files of pictures by the ids.
    named = [*dialogues[:1], *hostile]
    items = [replace(item, item_id=str(number)) for number, item in enumerate(named)]
    write_folder(tmp_path / "out", FORMS["vlmevalkit"], released(items))
    read = read_by(VLMEVALKIT, tmp_path / "out" / "mmdu.tsv", tmp_path)
    for item, messages in zip(items, read, strict=True):
        images = iter(item.image_ids)
        expected = []
        for turn in item.turns:
            first, *others = turn.question.split(HERE)
            parts = [first]
            for other in others:
                parts += [pixels(store.read(next(images))), other]
            expected += [[part for part in parts if part], [turn.references["answer"]]]
        found = [
            [
                pixels(Path(part["value"]).read_bytes())
                if part["type"] == "image"
                else part["value"]
                for part in message["content"]
            ]
            for message in messages
        ]
        assert found == expected


def test_vlmevalkit_reads_the_letters_that_compat_reads(tmp_path: Path) -> None:
    """All but "answer is" before a letter, which its packaged version reads by no rule."""
    asked = [
        (answer, CHOICES[choices])
        for choices, answer, *_ in TABLE
        if answer.strip() and not re.search(r"answer\s+is\s+\**[A-D]", answer, re.IGNORECASE)
    ]
    file = tmp_path / "answers.tsv"
    with file.open("w", newline="") as lines:
        writer = csv.writer(lines, delimiter="\t", lineterminator="\n")
        writer.writerow([*"ABCDEFGH", "prediction"])
        for answer, choices in asked:
            writer.writerow([*choices, *[""] * (8 - len(choices)), answer])
    read = read_by(LETTERS, file, tmp_path)
    ours = [compat(answer, choices) for answer, choices in asked]
    assert len(asked) > 180
    assert [
        (each, theirs, mine)
        for each, theirs, mine in zip(asked, read, ours, strict=True)
        if (theirs or None) != mine
    ] == []


def test_llama_factory_parses_dialogues_and_finds_their_pictures(
    released, dialogues: list[Item], hostile: list[Item], tmp_path: Path
) -> None:
    items = [*dialogues, *hostile]
    write_folder(tmp_path / "out", FORMS["llama-factory"], released(items))
    read = read_by(LLAMA_FACTORY, tmp_path / "out", tmp_path)
    for item, row in zip(items, read, strict=True):
        said = [message["content"] for message in (*row["_prompt"], *row["_response"])]
        assert said == [
            text.replace("<image>", "< image>").replace(HERE, "<image>")
            for turn in item.turns
            for text in (turn.question, turn.references["answer"])
        ]
        paths = [Path(path) for path in row["_images"] or ()]
        assert [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths] == list(
            item.image_ids
        )
