"""What Label Studio's annotations say, as records that a round takes in.

What belongs here: reading tasks with their annotations, as the server's API gives them. Nothing in
them is trusted: texts are looked up by the names the task was made with, and checked like anyone's.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from methods.review import KINDS
from review.label_studio.config import CHOOSES, NOTE, OPTION, REASON, SCORE, TEXT, VERDICT
from review.rounds import Record

_VALUES = {"textarea": "text", "choices": "choices", "number": "number"}
"""Under which key each type of control keeps what was filled in."""


def records_of(tasks: Iterable[Mapping[str, Any]]) -> Iterator[Record]:
    """A record for each annotation; a task that was skipped and annotated later counts as the latter.

    A task that this project did not make is a fault.
    """
    for task in tasks:
        annotations = task["annotations"]
        done = [each for each in annotations if not each.get("was_cancelled")]
        for annotation in done or annotations:
            place = f"task {task['id']}, annotation {annotation['id']}"
            try:
                yield Record(place, _said(task["data"], annotation))
            except (KeyError, TypeError, AttributeError, IndexError):
                yield Record(place, fault="not a task that was exported for review.")
            except ValueError as error:
                yield Record(place, fault=str(error))


def _said(data: Mapping[str, Any], annotation: Mapping[str, Any]) -> dict[str, Any]:
    said = {
        "item_id": data["item_id"],
        "content_hash": data["content_hash"],
        "round": data["round"],
        "shown": {each["name"]: each["text"] for each in (*data["read"], *data["write"])},
        "seconds": annotation.get("lead_time"),
        "decided_at": annotation["updated_at"],
    }
    if annotation.get("was_cancelled"):
        return said | {"verdict": "skip"}
    filled = _filled(annotation["result"])
    return said | {
        **{key: filled.get(key) for key in (VERDICT, REASON, NOTE)},
        "changes": _changes(data, filled),
    }


def _filled(results: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """What stands in each part of the form that is not empty."""
    filled = {}
    for result in results:
        value = result["value"][_VALUES[result["type"]]]
        if isinstance(value, list):
            if len(value) > 1:
                raise ValueError(f"{result['from_name']} was filled in {len(value)} times.")
            value = value[0] if value else ""
        # The form's number 7 comes back as 7 or 7.0.
        filled[result["from_name"]] = value if isinstance(value, str) else f"{value:g}"
    return filled


def _changes(data: Mapping[str, Any], filled: Mapping[str, str]) -> dict[str, str]:
    """The texts as they stand in the form, by their names."""
    kind = data["kind"]
    if kind not in KINDS:
        raise KeyError(kind)
    box = SCORE if kind == "score" else TEXT
    boxes = {f"{box}_{place}": each["name"] for place, each in enumerate(data["write"])}
    changes = {boxes[name]: text for name, text in filled.items() if name in boxes}
    if box == TEXT and changes and filled.get(VERDICT) == "edit":
        # The form sends every text, and nothing for one that was emptied.
        changes = dict.fromkeys(boxes.values(), "") | changes
    if OPTION in filled:
        changes[CHOOSES[kind]] = filled[OPTION]
    return changes
