"""An item of every kind whose texts are as hostile as texts get, and an edit of each."""

from typing import Any

from methods.ids import content_id
from methods.review import QueueItem
from tests.resources.review.review_queue import item_with

HOSTILE = [
    '=HYPERLINK("http://example.org/?"&A1,"click")',
    "+1+1|calc",
    "-2+3",
    "@SUM(A1:A9)",
    "\t=1+1",
    "\r=1+1",
    " =1+1",
    "＝1+1",
    "'=1+1",
    "''it is quoted",
    "'tis the season",
    "007",
    "3/4",
    "1e5",
    "May 5",
    "true",
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
            "perception": {"question": text, "category": text, "reference": text},
            "reasoning": {"question": "Why?", "category": text, "reference": "For ships."},
            "creation": {
                **{"question": "Draw it.", "category": text, "reference": "A plan."},
                "focus": text,
            },
        },
        "multiple_choice": pictured
        | {
            "question": text,
            "hint": None,
            "choices": {"A": text, "B": "A mill.", "C": "3"},
            "answer": "A",
            "category": "landmarks",
        },
        "rewrite": {"original": text, "rewrite": text},
        "reference": pictured | {"question": text, "reference": text},
        "translation": {
            "source_language": "en",
            "target_language": "zh",
            "source": {"question": text, "hint": ""},
            "target": {"question": text, "hint": ""},
        },
        "category": pictured | {"text": text, "category": "old", "categories": ["old", "new"]},
        "extraction": {
            "question": text,
            "choices": {"A": text, "B": "A mill."},
            "output": text,
            "choice": "A",
        },
        "pair": pictured | {"question": text, "a": text, "b": "A mill.", "winner": None},
        "score": pictured
        | {
            "question": text,
            "reference": text,
            "answer": text,
            "dimensions": ["Creativity", "Richness"],
            "lowest": 1,
            "highest": 10,
            "scores": {"Creativity": None, "Richness": None},
        },
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
    {
        "caption": "A mill.",
        "reasoning": {
            "question": "Why?",
            "category": "Mill Reasoning",
            "reference": "For ships.",
        },
    },
)
EDITS["flagged_item"] = EDITS["multiple_choice"]
EDITS["multiple_choice"][1]["choices"] = {"A": "A tower.", "B": "A mill.", "C": "4"}
