"""Texts of two writers with and without faults, in two halves, and what the rules find of them.

A line is a dialogue on pictures of which a description and captions are given; `sound` says whether it
has a fault, `kind` which one, or what makes it look like one, and `turn` where. The halves share no
topic, and each has as many topics of one writer as of the other. The rules were tuned on `seen`;
`held_out` was first read when they were done, and no rule was changed for it.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from methods.quality import outcome
from methods.quality.rule_findings import apply_rules
from methods.quality.rules import RuleLimits, by_rules

SEEN = "seen"
FOLDER = Path(__file__).parent / "texts"
CHECKS_OF = {
    "repeat": (outcome.REPEATED, outcome.NEAR_DUPLICATE),
    "missing": (outcome.MATERIAL,),
    "ground": (outcome.UNGROUNDED,),
    "refusal": (outcome.REFUSAL, outcome.LEFTOVER),
    "leftover": (outcome.LEFTOVER, outcome.MATERIAL),
    "cut": (outcome.TRUNCATION,),
    "turns": (outcome.LENGTH, outcome.TRUNCATION),
}
"""By kind of fault: the checks of which one is to find it."""
Text = Mapping[str, Any]


def texts(half: str) -> list[Text]:
    """The texts of a half, in the order of the file."""
    return [json.loads(line) for line in (FOLDER / f"{half}.jsonl").read_text("utf-8").splitlines()]


def named(text: Text) -> Iterator[tuple[int, str]]:
    """Turn and check of what the rules find, as they read an edited or an imported dialogue.

    The length is looked at in texts with a fault alone: a short answer is none.
    """
    pairs = [
        outcome.QuestionAnswerPair("d", str(turn), turn, each["question"], each["answer"])
        for turn, each in enumerate(text["turns"], start=1)
    ]
    dialogue = outcome.DialogueContent("d", pairs, [], len(text["captions"]))
    grounds = [text["description"], *text["captions"]]
    turns = [pair.turn for pair in pairs]
    for finding in apply_rules(dialogue, RuleLimits(alike=0.8), turns, grounds):
        yield finding.turn, finding.reason
    if not text["sound"]:
        evidence = by_rules([dialogue], RuleLimits(fewest_answer_words=1))
        for pair in pairs:
            if evidence["d", pair.question_id][outcome.LENGTH]:
                yield pair.turn, outcome.LENGTH
