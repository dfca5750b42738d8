"""An item of every kind whose texts are as hostile as texts get, and an edit of each."""

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from methods.ids import content_id
from methods.review import KINDS, QueueItem
from tests.resources.review.review_queue import item_with

_FILE: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text())
HOSTILE: list[str] = _FILE["hostile"]
"""Formulas, numbers, dates, quotes, line breaks, markup, templates, addresses, odd characters."""
EDITS: dict[str, tuple[dict[str, str], dict[str, Any]]] = _FILE["edits"]
"""Of each kind the texts that a person changes, by name, and what that makes of the content."""
EDITS["flagged_item"] = EDITS["multiple_choice"]

MARK = "A sample for trying this kind of item: it is no part of any data set."
TEXT = "A few plain shapes lie near the middle of an even ground."


def item_of(kind: str, text: str = "A tower.", image_ids: tuple[str, ...] = ()) -> QueueItem:
    """An item of `kind` that says `text` wherever it can."""
    known = _FILE["contents"]["multiple_choice" if kind == "flagged_item" else kind]
    content = json.loads(json.dumps(known).replace("{text}", json.dumps(text)[1:-1]))
    if "image_ids" in content:
        content["image_ids"] = list(image_ids)
    return item_with(content, kind, content_id("item", kind, text))


def samples(image_ids: Sequence[str], present: Collection[str]) -> list[QueueItem]:
    """A sample of each kind that is not `present`, for tests and the guide's pictures.

    The texts say nothing about the images, as any images of the demo are shown.
    """
    made = [item_of(kind, TEXT, tuple(image_ids[:2])) for kind in KINDS if kind not in present]
    for item in made:
        item["context"] = {"why": [MARK]}
    return made
