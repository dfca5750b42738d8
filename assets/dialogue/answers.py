"""Answers to the questions, from the images alone (MMDU, 2.2, B.2).

What belongs here: which images an answer may rest on. The prompt is `methods/mmdu/prompts/answers.md`.
"""

from itertools import groupby

import dagster as dg
from pydantic import Field

from assets.common.automation import WHEN_READY
from assets.common.generation import Ask, GenerationSettings, ask_and_read, write_generated
from assets.common.tables import table_asset
from assets.dialogue.questions import questions
from assets.dialogue.set_rows import Row, by_set, images_of_sets, questions_of_sets
from methods.mmdu.reading import read_answers
from methods.prompts.parsing import numbered_schema
from resources.llm.gateway import Gateway
from resources.prompts import prompt
from resources.warehouse import Warehouse


class AnswersSettings(GenerationSettings):
    """MMDU asks for about 500 words an answer (Figure 8)."""

    n_words: int = Field(500, gt=0, description="Words asked for in an answer.")


@table_asset(
    "dialogue.answers",
    settings=AnswersSettings,
    side_tables=["dialogue.failed"],
    kinds={"openai"},
    deps=[questions],
    automation_condition=WHEN_READY,
)
def answers(
    context: dg.AssetExecutionContext,
    settings: AnswersSettings,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
) -> dg.MaterializeResult:
    """Answers from the images alone: no caption and no page text, so that they rest on pixels."""
    images_of = dict(by_set(images_of_sets(warehouse)))
    asks = []
    for (set_id, position), group in groupby(
        questions_of_sets(warehouse), key=lambda row: (row["set_id"], row["position"])
    ):
        asked = list(group)
        shown = [
            image
            for image in images_of.get(set_id, [])
            if position is None or image["position"] == position
        ]
        asks.append(
            Ask(
                subject=(asked, len(shown)),
                set_id=set_id,
                name=set_id if position is None else f"{set_id} image {position}",
                images=[image["image_id"] for image in shown],
                data={
                    "n_words": settings.n_words,
                    "questions": [question["question"] for question in asked],
                },
            )
        )

    def read(subject: tuple[list[Row], int], reply: str) -> list[Row]:
        asked, n_shown = subject
        texts = read_answers(reply, len(asked), n_shown)
        return [
            {"question_id": question["question_id"], "answer": text}
            for question, text in zip(asked, texts, strict=True)
        ]

    generated = ask_and_read(
        context,
        llm,
        "dialogue.answers",
        prompt("mmdu/answers"),
        asks,
        read,
        lambda subject: numbered_schema("A", len(subject[0])),
    )
    return write_generated(warehouse, "dialogue.answers", generated, settings.max_failed_share)
