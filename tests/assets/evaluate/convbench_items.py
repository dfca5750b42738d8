"""ConvBench items with references: pictures, three instructions each, and a table of references.

References and captions are by the rules of the careful mock model, from what is measured in the
pixels, so that the mock judge can tell good answers from bad.
"""

import csv
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from resources.mock_server.careful_answers import careful_answer
from resources.mock_server.image_facts import Facts

COLUMNS = ("ID", "image_id", *(f"The_{of}_turn_instruction" for of in ("first", "second", "third")))
INSTRUCTIONS = (
    "What does the picture show?",
    "What follows from its light and its colours about where it was taken?",
    "Write a short text for a postcard with this picture.",
)
TASKS = (
    ("OCR", "Scene Recognition"),
    ("Meme Reasoning", "Chart Reasoning"),
    ("Blog Writing", "Story"),
)


def items_on(pictures: Sequence[str]) -> list[Mapping[str, str]]:
    """An item on each picture."""
    return [
        dict(zip(COLUMNS, (str(number), name, *INSTRUCTIONS), strict=True))
        for number, name in enumerate(pictures, start=1)
    ]


def write_items(
    folder: Path, items: Sequence[Mapping[str, str]], images: Path, facts: Mapping[str, Facts]
) -> Path:
    """Folder with the table of instructions, one of references and captions, and the pictures."""
    folder.mkdir(parents=True)
    _write(folder / "convbench.csv", items)
    references = []
    for number, item in enumerate(items):
        seen = {1: facts[item["image_id"]]}
        shutil.copyfile(images / item["image_id"], folder / item["image_id"])
        # As the model gets it: the first text stands below the picture.
        asked = [f"\n{item[COLUMNS[2]]}", *(item[name] for name in COLUMNS[3:])]
        answers = [careful_answer(text, seen, "careful") for text in asked]
        references.append(
            {
                "ID": item["ID"],
                **{
                    name.replace("instruction", "reference"): answer
                    for name, answer in zip(COLUMNS[2:], answers, strict=True)
                },
                "caption": careful_answer("What is shown?", seen, "expert"),
                "focus points": "It names the colours and the light.",
                **{
                    f"{name} category": of[number % len(of)]
                    for name, of in zip(("perception", "reasoning", "creation"), TASKS, strict=True)
                },
            }
        )
    _write(folder / "references.csv", references)
    return folder


def _write(file: Path, rows: Sequence[Mapping[str, str]]) -> None:
    with file.open("w", newline="") as lines:
        writer = csv.DictWriter(lines, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
