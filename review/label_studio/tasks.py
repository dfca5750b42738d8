"""An item as a Label Studio task: the data that a kind's labelling config shows.

Pictures travel inside the task, as data URLs of a bounded size. A team's Label Studio stands anywhere
and its annotators' browsers elsewhere: an address would have to be open to both, and the review app
shows its pictures only to who is signed in.
"""

from typing import Any

from methods.review import QueueItem
from methods.review.kinds import NONE_FITS
from resources.images.store import ImageStore
from review.fields import Field, fields_of, help_of
from review.label_studio.config import CHOOSES

PICTURE_SIDE = 768
"""Pixels: enough to judge a picture by; twenty of them make a task of some 2 MB."""


def task_of(item: QueueItem, round: int, images: ImageStore) -> dict[str, Any]:
    """The task of an item, as Label Studio imports it. Raises ImageNotStored.

    `item_id`, `content_hash` and `round` come back with the annotations and say what was decided on.
    """
    kind, content = item["kind"], item["content"]
    fields = fields_of(kind, content)
    data: dict[str, Any] = {
        "item_id": item["item_id"],
        "content_hash": item["content_hash"],
        "kind": kind,
        "round": round,
        "title": f"{kind.replace('_', ' ')} {item['item_id'][:12]}, round {round}",
        "pictures": [
            {"label": f"Image {number}", "url": images.jpeg_base64(image_id, PICTURE_SIDE)}
            for number, image_id in enumerate(item["image_ids"], start=1)
        ],
        "help": [{"label": label, "text": text} for label, text in help_of(item)],
        "read": [
            _shown(field, item) for field in fields if not field.editable or chosen(field, kind)
        ],
        "write": [_shown(field, item) for field in written(fields, kind)],
    }
    if kind in CHOOSES:
        data["options"] = [{"value": label} for label in _labels(kind, content)]
    return {"data": data}


def written(fields: list[Field], kind: str) -> list[Field]:
    """The fields that annotators write, in the order of the form's boxes."""
    return [field for field in fields if field.editable and not chosen(field, kind)]


def chosen(field: Field, kind: str) -> bool:
    """Whether the field is set by choosing one of a few labels."""
    return field.name == CHOOSES.get(kind)


def _shown(field: Field, item: QueueItem) -> dict[str, str]:
    label = field.name.replace(".", " ")
    if item["kind"] == "score" and field.editable:
        label += f" ({item['content']['lowest']} to {item['content']['highest']})"
    return {"name": field.name, "label": label, "text": field.text}


def _labels(kind: str, content: dict[str, Any]) -> list[str]:
    if kind == "category":
        return list(content["categories"])
    return [*content["choices"], *([NONE_FITS] if kind == "extraction" else [])]
