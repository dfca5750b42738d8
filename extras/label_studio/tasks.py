"""An item as a Label Studio task: the data that a kind's labelling config shows.

Images are inside the task, as data URLs of a bounded size. With addresses instead, the server and the
annotators' browsers would have to reach the review app, which shows images only to its accounts.
"""

from typing import Any

from extras.label_studio.config import CHOOSES
from methods.review import QueueItem
from methods.review.kinds import NONE_FITS, WINNERS
from resources.images.store import ImageStore
from review.item_texts import ItemText, context_texts, item_texts

PICTURE_SIDE = 768
"""Largest width and height in pixels: enough to judge; a task with twenty images has some 2 MB."""


def task_of(item: QueueItem, round: int, images: ImageStore) -> dict[str, Any]:
    """Make the Label Studio task of an item.

    `item_id`, `content_hash` and `round` come back with the annotations, to identify the content.

    Args:
        item: The item.
        round: The round.
        images: The images.

    Returns:
        The task.

    Raises:
        ImageNotStored: An image is missing.
    """
    kind, content = item["kind"], item["content"]
    texts = item_texts(kind, content)
    # In the order of the config's text areas.
    to_write = [text for text in texts if text.editable and text.name != CHOOSES.get(kind)]
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
        "help": [{"label": label, "text": text} for label, text in context_texts(item)],
        "read": [_shown(text, item) for text in texts if text not in to_write],
        "write": [_shown(text, item) for text in to_write],
    }
    if kind in CHOOSES:
        data["options"] = [{"value": label} for label in _labels(kind, content)]
    return {"data": data}


def _shown(text: ItemText, item: QueueItem) -> dict[str, str]:
    label = text.name.replace(".", " ")
    if item["kind"] == "score" and text.editable:
        label += f" ({item['content']['lowest']} to {item['content']['highest']})"
    return {"name": text.name, "label": label, "text": text.text}


def _labels(kind: str, content: dict[str, Any]) -> list[str]:
    if kind == "category":
        return list(content["categories"])
    if kind == "pair":
        return list(WINNERS)
    return [*content["choices"], *([NONE_FITS] if kind == "extraction" else [])]
