"""Annotations as Label Studio's page sends them: every text, the choices, nothing empty."""

from typing import Any

from extras.label_studio.config import CHOOSES
from extras.label_studio.tasks import task_of

NOON = "2026-07-01T12:00:00.000001Z"


def filled_in(data: dict[str, Any], filled: dict[str, str]) -> list[dict[str, Any]]:
    """The results of a task's form where `filled` stands: by part (`turns.1.answer`) or verdict,
    reason, note."""
    kind, results = data["kind"], []
    chosen = {name: filled[name] for name in ("verdict", "reason") if name in filled}
    if CHOOSES.get(kind) in filled:
        chosen["option"] = filled[CHOOSES[kind]]
    results = [_result(name, "choices", [value]) for name, value in chosen.items()]
    for place, part in enumerate(data["write"]):
        text = filled.get(part["name"], part["text"])
        if text and kind == "score":
            results.append(_result(f"score_{place}", "number", int(text)))
        elif text:
            results.append(_result(f"text_{place}", "textarea", [text]))
    if filled.get("note"):
        results.append(_result("note", "textarea", [filled["note"]]))
    return results


def _result(name: str, type_: str, value: Any) -> dict[str, Any]:
    key = {"choices": "choices", "textarea": "text", "number": "number"}[type_]
    return {
        "id": name,
        "from_name": name,
        "to_name": "item",
        "type": type_,
        "value": {key: value},
        "origin": "manual",
    }


def annotated(item, images, *filled, round=1):
    """A task of the item as the server gives it back, with an annotation for each of `filled`."""
    task = task_of(item, round, images)
    annotations = [
        {
            "id": 70 + number,
            "updated_at": NOON,
            "lead_time": 3.25,
            "was_cancelled": form is None,
            "result": filled_in(task["data"], form or {}),
        }
        for number, form in enumerate(filled)
    ]
    return task | {"id": 7, "annotations": annotations}
