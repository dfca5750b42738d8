"""Converts Label Studio's annotations to records to import.

Annotations are not trusted: texts are looked up by the names that the task has, and are checked like
any others.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from extras.label_studio.config import CHOOSES, NOTE, OPTION, REASON, SCORE, TEXT, VERDICT
from methods.review import KINDS
from review.import_export import Record

MOST_SHOWN = 40
"""The most characters of an id in messages."""
_VALUES = {"textarea": "text", "choices": "choices", "number": "number"}
"""The key of the value in the result of each type of control."""


def records_of(tasks: Iterable[Mapping[str, Any]]) -> Iterator[Record]:
    """Yield a record for each annotation; a skip is ignored if the task was annotated as well.

    A task that was not exported for review gives a record with a fault.
    """
    for task in tasks:
        task_place = f"task {_shown_id(task)}"
        annotations = task.get("annotations")
        if not isinstance(annotations, list):
            yield Record(task_place, fault="annotations is not a list: export it as 'JSON'.")
            continue
        objects = [each for each in annotations if isinstance(each, dict)]
        for _ in range(len(annotations) - len(objects)):
            yield Record(task_place, fault="an annotation is not an object: export it as 'JSON'.")
        done = [annotation for annotation in objects if not annotation.get("was_cancelled")]
        for annotation in done or objects:
            place = f"{task_place}, annotation {_shown_id(annotation)}"
            try:
                yield Record(place, _values(task["data"], annotation))
            except (KeyError, TypeError, AttributeError, IndexError):
                yield Record(place, fault="not a task that was exported for review.")
            except ValueError as error:
                yield Record(place, fault=str(error))


def _shown_id(entry: Mapping[str, Any]) -> str:
    """The beginning of the id of a task or annotation, which the place of each record repeats."""
    return str(entry.get("id"))[:MOST_SHOWN]


def _values(data: Mapping[str, Any], annotation: Mapping[str, Any]) -> dict[str, Any]:
    values = {
        "item_id": data["item_id"],
        "content_hash": data["content_hash"],
        "round": data["round"],
        "shown": {field["name"]: field["text"] for field in (*data["read"], *data["write"])},
        "seconds": annotation.get("lead_time"),
        "decided_at": annotation["updated_at"],
    }
    if annotation.get("was_cancelled"):
        return values | {"verdict": "skip"}
    filled = _filled(annotation["result"])
    return values | {
        **{key: filled.get(key) for key in (VERDICT, REASON, NOTE)},
        "changes": _changes(data, filled),
    }


def _filled(results: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The value of each control that was filled in, by its name."""
    filled = {}
    for result in results:
        value = result["value"][_VALUES[result["type"]]]
        if isinstance(value, list):
            if len(value) > 1:
                raise ValueError(f"{result['from_name']} was filled in {len(value)} times.")
            value = value[0] if value else ""
        if result["type"] == "number":
            # A Number control gives 7 as 7 or 7.0.
            value = str(value).removesuffix(".0")
        elif not isinstance(value, str):
            raise TypeError
        filled[result["from_name"]] = value
    return filled


def _changes(data: Mapping[str, Any], filled: Mapping[str, str]) -> dict[str, str]:
    """The texts that the annotation contains, by name."""
    kind = data["kind"]
    if kind not in KINDS:
        raise KeyError(kind)
    box = SCORE if kind == "score" else TEXT
    boxes = {f"{box}_{index}": field["name"] for index, field in enumerate(data["write"])}
    changes = {boxes[name]: text for name, text in filled.items() if name in boxes}
    if box == TEXT and changes and filled.get(VERDICT) == "edit":
        # An annotation omits the texts that were emptied.
        changes = dict.fromkeys(boxes.values(), "") | changes
    if OPTION in filled:
        changes[CHOOSES[kind]] = filled[OPTION]
    return changes
