"""A benchmark of its own: choices, circular passes, a letter read by rule or by a model."""

import re
from collections.abc import Generator

from methods.evaluation.asking import (
    AnswerRequest,
    Asking,
    AskingLimits,
    ExtractionRequest,
    Transcript,
)
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.items import Item
from methods.evaluation.judging import Judging, Observation, unjudged_observations
from methods.evaluation.metrics.all_right import AllRight
from methods.evaluation.metrics.group_spread import GroupSpread
from methods.evaluation.metrics.mean import Mean
from methods.prompts.messages import Message, interleave
from methods.prompts.parsing import ParseError

RIGHT = "right"
LETTERS = "ABCD"
FIRST = {"observation": RIGHT, "trial": "shift-0", "lowest": 0.0, "highest": 100.0, "scale": 100.0}
PROMPT = """---
task: extract
---
Say which choice the answer names: its letter alone, or Z where it names none.
=== user ===
<choices>{{ choices | data }}</choices>
<answer>{{ answer | data }}</answer>
"""


class Toy(Benchmark):
    """Up to four choices; an item is right if it is right however its choices are turned."""

    name = "toy"
    answer_version = "circular@1"
    extractor_prompts = ("toy/extract",)
    judge_version = "right@1"
    dimensions = (RIGHT,)
    abilities = ("colour",)
    metrics = (
        AllRight(name="Circular", observation=RIGHT, trials="shift-", n_passes="n_choices"),
        Mean(name="Vanilla", **FIRST),
        Mean(name="Vanilla", aggregation="macro by colour", **FIRST),
        GroupSpread(name="Alignment", observation=RIGHT, trial="shift-0", lowest=0.5),
    )

    def ask(self, item: Item, limits: AskingLimits) -> Generator[Asking, object, None]:
        """Every pass until the first one that is not right."""
        letters = LETTERS[: len(item.choices)]
        right = item.choices[letters.index(item.turns[0].references["key"])]
        for shift in range(len(item.choices)):
            turned = [*item.choices[shift:], *item.choices[:shift]]
            choices = "\n".join(
                f"{letter}. {text}" for letter, text in zip(letters, turned, strict=True)
            )
            text = f"{item.turns[0].question}\n{choices}"
            message = Message("user", interleave(text, list(item.image_ids)))
            answer = yield AnswerRequest(f"shift-{shift}", 1, (message,))
            if answer.text is None:
                return
            said = re.search(rf"(?:^|\bis )([{letters}])\b", answer.text)
            data = {"choices": choices, "answer": answer.text}
            letter = yield ExtractionRequest(
                f"shift-{shift}", 1, said[1] if said else None, "toy/extract", data, read_letter
            )
            if letter != letters[turned.index(right)]:
                return

    def judge(self, item: Item, transcript: Transcript) -> Judging:
        """1 for a pass whose letter is that of the right choice, by rule."""
        key, found = LETTERS.index(item.turns[0].references["key"]), []
        for (trial, turn), answer in transcript.answers.items():
            letter = transcript.readings.get((trial, turn))
            right = LETTERS[(key - int(trial.removeprefix("shift-"))) % len(item.choices)]
            if answer.text is None:
                found += unjudged_observations([RIGHT], trial, turn, answer)
            elif letter is None:
                found.append(Observation(RIGHT, trial, turn, "not_judged"))
            else:
                found.append(Observation(RIGHT, trial, turn, "judged", float(letter == right)))
        return found
        yield ()


def read_letter(reply: str) -> str:
    """The letter of an extractor's reply; Z is none of them. Raises ParseError."""
    if reply.strip() not in ("Z", *LETTERS):
        raise ParseError("no_letter", "The reply is not a letter of a choice, nor Z.")
    return reply.strip()
