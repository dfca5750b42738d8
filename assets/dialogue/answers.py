"""Answers to the questions, from the images alone (MMDU, 2.2, B.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import dagster as dg
from pydantic import Field

from assets.common.automation import WHEN_READY
from assets.common.generation import (
    CONSTRUCTION_PARAMS,
    GenerationRequest,
    GenerationSettings,
    ask_and_read,
    model_of_stage,
    write_generated,
)
from assets.common.tables import table_asset
from assets.dialogue.questions import questions
from assets.dialogue.set_rows import Row, by_set, images_of_sets, questions_of_sets, request_name
from methods.mmdu.reading import even_parts, halves, n_that_fit, read_answers
from methods.prompts.parsing import numbered_schema
from resources.llm.estimate import tokens_of_words
from resources.llm.gateway import Gateway
from resources.settings.prompts import prompt
from resources.warehouse import Warehouse


class DialogueAnswersSettings(GenerationSettings):
    """MMDU asks for about 500 words an answer (Figure 8)."""

    n_words: int = Field(500, gt=0, description="Words asked for in an answer.")


@dataclass(frozen=True)
class QuestionBatch:
    """Questions that are asked in one call, and the images that it shows."""

    name: str
    questions: Sequence[Row]
    shown: Sequence[Row]
    n_words: int

    def ask(self, questions: Sequence[Row]) -> GenerationRequest["QuestionBatch"]:
        """The request for answers to some of these questions, or to all."""
        places = "" if len(questions) == len(self.questions) else f", {_places(questions)}"
        part = QuestionBatch(f"{self.name}{places}", questions, self.shown, self.n_words)
        return GenerationRequest(
            subject=part,
            set_id=questions[0]["set_id"],
            name=part.name,
            images=[image["image_id"] for image in self.shown],
            data={
                "n_words": self.n_words,
                "questions": [question["question"] for question in questions],
            },
            n_words=self.n_words * len(questions),
            language=self.shown[0]["language"],
        )


@table_asset(
    "dialogue.answers",
    side_tables=["dialogue.failed"],
    kinds={"openai"},
    deps=[questions],
    automation_condition=WHEN_READY,
)
def answers(
    context: dg.AssetExecutionContext,
    config: DialogueAnswersSettings,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
) -> dg.MaterializeResult:
    """Answers from the images alone: no caption and no page text, so that they rest on pixels.

    A call has as many questions as answers of the length asked for fit into its token limit; where a
    reply is cut off all the same, each half of its questions is asked by itself.
    """
    images_of = dict(by_set(images_of_sets(warehouse)))
    limit = model_of_stage(llm, "dialogue.answers").longest_answer(CONSTRUCTION_PARAMS)
    most = n_that_fit(tokens_of_words(config.n_words), limit)
    asks = []
    for (set_id, position, until), group in groupby(
        questions_of_sets(warehouse),
        key=lambda row: (row["set_id"], row["position"], row["until_position"]),
    ):
        shown = [
            image
            for image in images_of.get(set_id, [])
            if image["position"] == position
            or (position is None and (until is None or image["position"] <= until))
        ]
        name = request_name(set_id, position, until)
        together = QuestionBatch(name, list(group), shown, config.n_words)
        asks += [together.ask(asked) for asked in even_parts(together.questions, most)]

    def read(part: QuestionBatch, reply: str) -> list[Row]:
        texts = read_answers(reply, len(part.questions), len(part.shown))
        return [
            {"question_id": question["question_id"], "answer": text}
            for question, text in zip(part.questions, texts, strict=True)
        ]

    generated = ask_and_read(
        context,
        llm,
        "dialogue.answers",
        prompt("mmdu/answers"),
        asks,
        read,
        lambda part: numbered_schema("A", len(part.questions)),
        lambda part: [part.ask(half) for half in halves(part.questions)],
    )
    return write_generated(warehouse, "dialogue.answers", generated, config.max_failed_share)


def _places(questions: Sequence[Row]) -> str:
    first, last = questions[0]["ordinal"], questions[-1]["ordinal"]
    return f"question {first}" if first == last else f"questions {first} to {last}"
