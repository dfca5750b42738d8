"""Contents of generated items: their keys are those of their kinds."""

import pytest

from methods.review.contents import content_of
from methods.review.kinds import KINDS

MADE = {
    "image_ids": ["picture"],
    "turns": [],
    "original": "What?",
    "rewrite": "Which?",
    "question": "What is it?",
    "hint": None,
    "choices": ["a mill", "a boat"],
    "answer": "B",
    "category": "image_topic",
    "caption": "A mill.",
    **dict.fromkeys(("perception", "reasoning", "creation"), {}),
    "target_language": "zh",
    "target": {"question": "它是什么？", "hint": None, "choices": ["磨坊", "船"]},
}


@pytest.mark.parametrize(
    "kind", ["dialogue", "three_turns", "rewrite", "multiple_choice", "translation"]
)
def test_a_content_has_the_keys_of_its_kind(kind):
    assert tuple(sorted(content_of({**MADE, "kind": kind}))) == tuple(sorted(KINDS[kind].keys))


def test_a_translation_has_each_text_beside_its_source():
    content = content_of({**MADE, "kind": "translation"})
    assert content["source_language"] == "en" and content["target_language"] == "zh"
    assert content["source"] == {"question": "What is it?", "A": "a mill", "B": "a boat"}
    assert content["target"] == {"question": "它是什么？", "A": "磨坊", "B": "船"}
