"""Published Chinese questions and answers pass the rules; what they drop is named here."""

import json
from pathlib import Path

import pytest

from methods.quality.outcome import DialogueContent, QuestionAnswerPair
from methods.quality.rules import RuleLimits, by_rules
from methods.quality.truncation import truncation_in

SHARED = Path(__file__).parents[4] / "shared" / "data"
MOST_DROPPED = 0.01
DROPPED = {"00070002-0": {"length": "question: 2 words, at least 3"}}
"""What is dropped of the slice: "求解" ("solve it") is shorter than a writer's questions may be."""

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared folder")


@needs_shared
def test_at_most_one_in_a_hundred_published_pairs_is_dropped() -> None:
    lines = (SHARED / "alignmmbench_slice" / "metadata.jsonl").read_text("utf-8").splitlines()
    dropped = {}
    for row in map(json.loads, lines):
        name = row["question_id"]
        pair = QuestionAnswerPair(name, name, 1, row["prompt"], row["ref_answer"])
        (found,) = by_rules(
            [DialogueContent(name, [pair], [], 1)], RuleLimits(language="zh")
        ).values()
        if evidence := {rule: text for rule, text in found.items() if text is not None}:
            dropped[name] = evidence
    assert dropped == DROPPED
    assert len(dropped) <= MOST_DROPPED * len(lines)


@needs_shared
def test_no_published_question_without_a_mark_is_cut_off() -> None:
    """40 of 785 published questions were called cut off."""
    file = SHARED / "fidelity" / "zh_questions_called_cut_off.json"
    questions = json.loads(file.read_text("utf-8"))
    assert len(questions) == 40
    assert [text for text in questions if truncation_in(text, "zh", asks=True)] == []


@pytest.mark.parametrize(
    "question", ["请给图中的产品写一句广告词，因为", "请介绍图中的建筑，", "图中有哪些动物，例如"]
)
def test_a_chinese_question_that_stops_in_the_middle_is_cut_off(question: str) -> None:
    assert truncation_in(question, "zh", asks=True) is not None
