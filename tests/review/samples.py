"""An item of each kind that a queue lacks, for tests and the guide's pictures.

The items are shown with any images of the demo, so that their texts say nothing about those images.
"""

from collections.abc import Collection, Sequence
from typing import Any

from methods.ids import content_id
from methods.review.decisions import QueueItem

MARK = "A sample for trying this kind of item: it is no part of any data set."


def samples(image_ids: Sequence[str], present: Collection[str]) -> list[QueueItem]:
    """A sample of each kind that is not `present`; `image_ids` are images to show."""
    first, second = list(image_ids[:1]), list(image_ids[1:3])
    made = [
        _item("three_turns", first, THREE_TURNS),
        _item("multiple_choice", first, MULTIPLE_CHOICE, WHY_FLAGGED),
        _item("reference", first, REFERENCE),
        _item("translation", [], TRANSLATION),
        _item("category", second, CATEGORY),
        _item("extraction", [], EXTRACTION),
        _item("score", second, SCORE),
        _item("pair", first, PAIR),
        _item("flagged_item", first, MULTIPLE_CHOICE, WHY_FLAGGED),
    ]
    return [item for item in made if item["kind"] not in present]


def _item(
    kind: str, image_ids: list[str], content: dict[str, Any], why: Sequence[str] = ()
) -> QueueItem:
    if "image_ids" in content:
        content = {**content, "image_ids": image_ids}
    return QueueItem(
        item_id=content_id("review sample", kind),
        kind=kind,
        content=content,
        content_hash=content_id(content),
        image_ids=image_ids,
        context={"why": [MARK, *why]},
    )


WHY_FLAGGED = ["Three of four models answered rightly without seeing the image."]

THREE_TURNS: dict[str, Any] = {
    "image_ids": [],
    "caption": "A few plain shapes lie near the middle of an even ground.",
    "perception": {
        "question": "Which shapes are in the picture?",
        "category": "Shape Description",
        "reference": "There are a few plain shapes, all of them near the middle.",
    },
    "reasoning": {
        "question": "Why may somebody have put them there?",
        "category": "Composition Reasoning",
        "reference": "Near the middle they are seen first, and the even ground leads to them.",
    },
    "creation": {
        "question": "Invent a game that children can play with them in that arrangement.",
        "category": "Game Design",
        "reference": "Every child names a shape and walks round it before reaching the middle.",
        "focus": "It uses the shapes that were named.\nIt uses that they lie near the middle.",
    },
}
MULTIPLE_CHOICE: dict[str, Any] = {
    "image_ids": [],
    "question": "Which colour takes up most of the picture?",
    "hint": "Look at the ground behind the shapes as well.",
    "choices": {"A": "Green", "B": "Blue", "C": "Orange", "D": "White"},
    "answer": "B",
    "category": "image_style",
}
REFERENCE: dict[str, Any] = {
    "image_ids": [],
    "question": "Describe <image-1> to somebody who cannot see it, in two sentences.",
    "reference": "The picture shows a few plain shapes on an even ground. "
    "They lie near the middle, and none of them touches the edge.",
}
TRANSLATION: dict[str, Any] = {
    "source_language": "en",
    "target_language": "zh",
    "source": {
        "question": "Which of these buildings was finished first?",
        "A": "The one with the round tower",
        "B": "The one with the flat roof",
    },
    "target": {
        "question": "这些建筑中哪一座最先完工？",
        "A": "有圆塔的那座",
        "B": "有平屋顶的那座",
    },
}
CATEGORY: dict[str, Any] = {
    "image_ids": [],
    "text": "Are there more round shapes in <image-1> than in <image-2>?",
    "category": "counting",
    "categories": ["counting", "position", "comparison", "colour", "reading"],
}
EXTRACTION: dict[str, Any] = {
    "question": "What is the largest thing in the picture?",
    "choices": {"A": "A tree", "B": "A house", "C": "A cart", "D": "A dog"},
    "output": "One might think of the tree, but it stands far behind: the house is larger.",
    "choice": None,
}
PAIR: dict[str, Any] = {
    "image_ids": [],
    "question": "Write a short notice for <image-1>.",
    "a": "Please do not move the shapes: somebody has put them near the middle on purpose.",
    "b": "A picture with shapes.",
    "winner": None,
}
SCORE: dict[str, Any] = {
    "image_ids": [],
    "question": "What do <image-1> and <image-2> have in common?",
    "reference": "Both have an even ground and few colours; the shapes lie near the middle.",
    "answer": "Both pictures are bright, and each has one large shape.",
    "dimensions": [
        "Creativity",
        "Richness",
        "Visual Perception",
        "Logical Coherence",
        "Answer Accuracy",
        "Image Relationship Understanding",
    ],
    "lowest": 1,
    "highest": 10,
    "scores": {
        "Creativity": None,
        "Richness": None,
        "Visual Perception": None,
        "Logical Coherence": None,
        "Answer Accuracy": None,
        "Image Relationship Understanding": None,
    },
}
