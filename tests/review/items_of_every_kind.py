"""An item of every kind whose texts are as hostile as texts get, and an edit of each."""

from collections.abc import Collection, Sequence
from typing import Any

from methods.ids import content_id
from methods.review import KINDS, QueueItem
from tests.resources.review.review_queue import item_with

HOSTILE = [
    '=HYPERLINK("http://example.org/?"&A1,"click")',
    "+1+1|calc",
    "-2+3",
    "@SUM(A1:A9)",
    "\t=1+1",
    "\r=1+1",
    "＝1+1",
    "'=1+1",
    "''it is quoted",
    "'tis the season",
    "007",
    "one\r\ntwo\nthree\rfour",
    'he said "no", then; left\ttabs',
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "$title {{idx}} {{ 7*7 }} ${7*7}",
    "s3://bucket/secret.jpg",
    "http://169.254.169.254/latest",
    "\u202egnirts desrever\u202c \u0000 \ufeff é 漢字 🏰",
    "',DROP TABLE events;--",
    "(to read)",
    "line ends in a space ",
]
"""Formulas, numbers, dates, quotes, line breaks, markup, templates, addresses, odd characters."""


def turn_with(question: str, category: str, reference: str) -> dict[str, str]:
    return {"question": question, "category": category, "reference": reference}


def item_of(kind: str, text: str = "A tower.", image_ids: tuple[str, ...] = ()) -> QueueItem:
    """An item of `kind` that says `text` wherever it can."""
    pictured: dict[str, Any] = {"image_ids": list(image_ids)}
    content: dict[str, Any] = {
        "dialogue": pictured
        | {
            "turns": [
                {"question": f"{text}?", "answer": text, "topic": "kept"},
                {"question": "And then?", "answer": f"Nothing, {text}"},
            ]
        },
        "three_turns": pictured
        | {
            "caption": text,
            "perception": turn_with(text, text, text),
            "reasoning": turn_with("Why?", text, "For ships."),
            "creation": turn_with("Draw it.", text, "A plan.") | {"focus": text},
        },
        "multiple_choice": pictured
        | {"question": text, "hint": None, "answer": "A", "category": "landmarks"}
        | {"choices": {"A": text, "B": "A mill.", "C": "3"}},
        "rewrite": {"original": text, "rewrite": text},
        "reference": pictured | {"question": text, "reference": text},
        "translation": {
            **{"source_language": "en", "target_language": "zh"},
            **{side: {"question": text, "hint": ""} for side in ("source", "target")},
        },
        "category": pictured | {"text": text, "category": "old", "categories": ["old", "new"]},
        "extraction": {
            **{"question": text, "choices": {"A": text, "B": "A mill."}},
            **{"output": text, "choice": "A"},
        },
        "pair": pictured | {"question": text, "a": text, "b": "A mill.", "winner": None},
        "score": pictured
        | dict.fromkeys(("question", "reference", "answer"), text)
        | {"dimensions": ["Creativity", "Richness"], "lowest": 1, "highest": 10}
        | {"scores": {"Creativity": None, "Richness": None}},
    }[kind if kind != "flagged_item" else "multiple_choice"]
    return item_with(content, kind, content_id("item", kind, text))


EDITS: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "dialogue": ({"turns.2.answer": "A mill."}, {}),
    "multiple_choice": ({"answer": "B", "choices.C": "4"}, {"answer": "B"}),
    "rewrite": ({"rewrite": "What is it?"}, {"rewrite": "What is it?"}),
    "reference": ({"reference": "A mill."}, {"reference": "A mill."}),
    "translation": ({"target.question": "塔。"}, {"target": {"question": "塔。", "hint": ""}}),
    "category": ({"category": "new"}, {"category": "new"}),
    "extraction": ({"choice": "Z"}, {"choice": "Z"}),
    "pair": ({"winner": "tie"}, {"winner": "tie"}),
    "score": (
        {"scores.Creativity": "7", "scores.Richness": "10"},
        {"scores": {"Creativity": 7, "Richness": 10}},
    ),
}
"""Of each kind the texts that a person changes, by name, and what that makes of the content."""
EDITS["dialogue"][1]["turns"] = [
    item_of("dialogue")["content"]["turns"][0],
    {"question": "And then?", "answer": "A mill."},
]
EDITS["three_turns"] = (
    {"caption": "A mill.", "reasoning.category": "Mill Reasoning"},
    {"caption": "A mill.", "reasoning": turn_with("Why?", "Mill Reasoning", "For ships.")},
)
EDITS["flagged_item"] = EDITS["multiple_choice"]
EDITS["multiple_choice"][1]["choices"] = {"A": "A tower.", "B": "A mill.", "C": "4"}

MARK = "A sample for trying this kind of item: it is no part of any data set."
TEXT = "A few plain shapes lie near the middle of an even ground."


def samples(image_ids: Sequence[str], present: Collection[str]) -> list[QueueItem]:
    """A sample of each kind that is not `present`, for tests and the guide's pictures.

    The texts say nothing about the images, as any images of the demo are shown.
    """
    made = [item_of(kind, TEXT, tuple(image_ids[:2])) for kind in KINDS if kind not in present]
    for item in made:
        item["context"] = {"why": [MARK]}
    return made
