"""Parser of MMIU's metadata files, from which multiple-choice questions are made (3.2, Table A.4).

A file is one object or a list of objects with `Task Info` (`TaskName`, `TaskDescription`, `Input
Format`, `Output Format`) and `Samples`, each with `Source`, `Input` (`Input Image`, `Input Context`,
`Question`, `Visual Component`) and `Output`; a line of JSON Lines is one such object. A sample has
optional fields that Table A.4 lacks: `Wrong Outputs`; `Also Right`, outputs that must not be wrong
choices; and `Key Word` with `Other Word`: replacing one by the other makes the question unanswerable.
"""

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from methods.json_text import from_json, is_unicode
from methods.mmiu.taxonomy import task_of
from methods.prompts.messages import IMAGE_HERE

MOST_SHOWN = 10
"""The most faults that the error message of a file lists; further faults are only counted."""


@dataclass(frozen=True)
class TaskInfo:
    """The common data of a task's samples. `name` is one of the 52 tasks of `taxonomy.py`."""

    name: str
    description: str
    output_format: str


@dataclass(frozen=True)
class Sample:
    """One sample. `images`, and the outputs if they are images, are paths or ids of images.

    If `key_word` is given, it occurs in the question or its context. If it is replaced by `other_word`,
    no choice is right.
    """

    task: TaskInfo
    source: str
    images: tuple[str, ...]
    context: str
    question: str
    output: str
    wrong: tuple[str, ...] = ()
    also_right: tuple[str, ...] = ()
    key_word: str = ""
    other_word: str = ""

    @property
    def of_images(self) -> bool:
        """Whether the output is an image."""
        return self.task.output_format.startswith("image")


class MetadataFault(ValueError):
    """A metadata file that cannot be used; the message names its faults."""


def read_metadata(name: str, text: str) -> list[Sample]:
    """Read the samples of a metadata file.

    Args:
        name: The name of the file: a `.json` or a `.jsonl`.
        text: Its content.

    Raises:
        MetadataFault: The file is faulty; the message lists the faults.
    """
    faults: list[str] = []
    samples = list(_samples(name, text, faults))
    if not samples and not faults:
        faults.append("it has no sample")
    if faults:
        more = len(faults) - MOST_SHOWN
        shown = "; ".join(faults[:MOST_SHOWN])
        raise MetadataFault(f"{shown}; and {more} more faults" if more > 0 else shown)
    return samples


def _samples(name: str, text: str, faults: list[str]) -> Iterator[Sample]:
    for where, value in _objects(name, text, faults):
        if not isinstance(value, dict):
            faults.append(f"{where} is not a mapping")
            continue
        task = _task(where, value.get("Task Info"), faults)
        samples = value.get("Samples")
        if not isinstance(samples, list) or not samples:
            faults.append(f"{where} has no list of Samples")
            continue
        for number, sample in enumerate(samples, start=1):
            parsed = _sample(f"{where}, sample {number}", sample, task, faults)
            if parsed:
                yield parsed


def _objects(name: str, text: str, faults: list[str]) -> Iterator[tuple[str, Any]]:
    if name.lower().endswith(".jsonl"):
        for number, line in enumerate(io.StringIO(text, newline=None), start=1):
            if line.strip():
                yield from _parsed(f"line {number}", line, faults)
        return
    for _, value in _parsed("it", text, faults):
        entries = value if isinstance(value, list) else [value]
        yield from ((f"task {number}", entry) for number, entry in enumerate(entries, start=1))


def _parsed(where: str, text: str, faults: list[str]) -> Iterator[tuple[str, Any]]:
    try:
        yield where, from_json(text, most=None)
    except ValueError as error:
        faults.append(f"{where} is not JSON ({error})")


def _task(where: str, value: object, faults: list[str]) -> TaskInfo | None:
    if not isinstance(value, dict):
        faults.append(f"{where} has no Task Info")
        return None
    named = ("TaskName", "TaskDescription", "Input Format", "Output Format")
    texts = [_text(f"{where}, Task Info", value, key, faults, needed=True) for key in named]
    task = task_of(texts[0])
    if texts[0] and task is None:
        faults.append(f"{where}: {texts[0][:60]!r} is none of MMIU's 52 tasks")
    if task is None or not all(texts):
        return None
    return TaskInfo(task.name, texts[1], texts[3].casefold())


def _sample(where: str, value: object, task: TaskInfo | None, faults: list[str]) -> Sample | None:
    if not isinstance(value, dict) or not isinstance(value.get("Input"), dict):
        faults.append(f"{where} has no Input")
        return None
    n_before = len(faults)
    input_fields = value["Input"]
    fields: dict[str, Any] = {
        "source": _text(where, value, "Source", faults, needed=True),
        "images": _texts(where, input_fields, "Input Image", faults),
        "context": _text(where, input_fields, "Input Context", faults),
        "question": _text(where, input_fields, "Question", faults, needed=True),
        "output": _text(where, value, "Output", faults, needed=True),
        "wrong": _texts(where, value, "Wrong Outputs", faults),
        "also_right": _texts(where, value, "Also Right", faults),
        "key_word": _text(where, value, "Key Word", faults),
        "other_word": _text(where, value, "Other Word", faults),
    }
    if len(faults) == n_before:
        faults += [f"{where}: {fault}" for fault in _contradictions(fields, task)]
    if task is None or len(faults) > n_before:
        return None
    return Sample(task=task, **fields)


def _contradictions(fields: Mapping[str, Any], task: TaskInfo | None) -> Iterator[str]:
    if not fields["images"] and not (task and task.output_format.startswith("image")):
        yield "it has no Input Image"
    if IMAGE_HERE in f"{fields['context']}{fields['question']}":
        yield f"its texts have {IMAGE_HERE}; images are shown before the question"
    if fields["output"] and fields["output"] in fields["wrong"]:
        yield "its Output is among its Wrong Outputs"
    if bool(fields["key_word"]) != bool(fields["other_word"]):
        yield "it has only one of Key Word and Other Word"
    elif fields["key_word"] not in f"{fields['context']}\n{fields['question']}":
        yield f"its Key Word {fields['key_word'][:60]!r} is not in its Question"


def _text(
    where: str, fields: Mapping[str, Any], key: str, faults: list[str], *, needed: bool = False
) -> str:
    value = fields.get(key)
    # Files often have JSON numbers and booleans instead of texts.
    if isinstance(value, bool):
        value = "yes" if value else "no"
    if isinstance(value, int | float):
        value = str(value)
    if value is None:
        value = ""
    if not isinstance(value, str) or not is_unicode(value):
        faults.append(f"{where}: its {key} is not a text")
    elif needed and not value.strip():
        faults.append(f"{where} has no {key}")
    else:
        return value.strip()
    return ""


def _texts(where: str, fields: Mapping[str, Any], key: str, faults: list[str]) -> tuple[str, ...]:
    value = fields.get(key) or []
    listed: Sequence[object] = value if isinstance(value, list) else [value]
    if not all(isinstance(text, str) and text.strip() and is_unicode(text) for text in listed):
        faults.append(f"{where}: its {key} is not a list of texts")
        return ()
    texts = tuple(str(text).strip() for text in listed)
    if len(set(texts)) < len(texts) and key != "Input Image":
        faults.append(f"{where}: its {key} has one twice")
    return texts
