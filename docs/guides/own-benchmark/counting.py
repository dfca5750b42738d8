"""How many? A number is asked for, and is right or wrong. A template: copy the folder and change it."""

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any

from methods.evaluation.answer_values import is_near, last_number
from methods.evaluation.asking import PLAIN, Asking, AskingLimits, Transcript
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.dialogue import ask_dialogue
from methods.evaluation.items import Item, Turn
from methods.evaluation.judging import Judging, Observation, unjudged_observations
from methods.evaluation.metrics import Metric
from methods.evaluation.metrics.mean import Mean
from methods.evaluation.published import PublishedError, PublishedItem
from methods.json_text import from_json
from methods.prompts.messages import IMAGE_HERE

RIGHT = "right"


class QuestionFile:
    """The form that the questions are published in."""

    PUBLISHED_FILES = {"counting.jsonl": "the questions, one a line"}

    def read_published(self, name: str, lines: Iterable[str]) -> Iterator[PublishedItem]:
        """Items of a file of JSON lines: id, question, answer, images (paths), kind."""
        for number, line in enumerate(lines, start=1):
            try:
                row = from_json(line)
                text = IMAGE_HERE * len(row["images"]) + row["question"]
                places = tuple(range(1, len(row["images"]) + 1))
                turn = Turn(1, text, places, {"answer": str(row["answer"])})
                yield PublishedItem(
                    row["id"], (turn,), tuple(row["images"]), labels={"kind": row["kind"]}
                )
            except (ValueError, KeyError, TypeError) as error:
                raise PublishedError(f"line {number} is no question ({error!r})") from None

    def write_published(
        self, items: Sequence[PublishedItem], picture: Callable[[str], bytes]
    ) -> Mapping[str, Iterable[str]]:
        """The same form, for the folder of the release."""
        return {"counting.jsonl": (json.dumps(_row(item)) + "\n" for item in items)}


def _row(item: PublishedItem) -> dict[str, Any]:
    (turn,) = item.turns
    question = turn.question.replace(IMAGE_HERE, "")
    row = {"id": item.item_id, "question": question, "answer": turn.reference}
    return {**row, "images": list(item.images), **item.labels}


class CountingBenchmark(Benchmark):
    """One question an item; the last number of the answer counts."""

    name = "counting"
    answer_version = "once@1"  # Change it when `ask` changes: answers are asked for again.
    judge_version = "number@2"  # Change it when `judge` changes: scores are other scores.
    dimensions: Sequence[str] = (RIGHT,)
    metrics: Sequence[Metric] = (
        Mean(name="Accuracy", observation=RIGHT, scale=100.0, lowest=0.0, highest=100.0),
    )
    published = QuestionFile()

    def ask(self, item: Item, limits: AskingLimits) -> Generator[Asking, Any, None]:
        """The question with its pictures."""
        yield from ask_dialogue(item, limits)

    def judge(self, item: Item, transcript: Transcript) -> Judging:
        """1 where the number is that of the reference, else 0; no model is asked."""
        yield from ()
        answer = transcript.answer(PLAIN, 1)
        if answer.text is None:
            return unjudged_observations(self.dimensions, PLAIN, 1, answer)
        right = is_near(last_number(answer.text), float(item.turns[0].references["answer"]))
        return [Observation(RIGHT, PLAIN, 1, "judged", right)]


benchmark = CountingBenchmark()
