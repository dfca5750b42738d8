"""Answers to the questions of dialogues, generated from the images alone (MMDU, 2.2, B.2)."""

import dagster as dg
from pydantic import Field

from assets.common.generation import (
    GenerationRequest,
    GenerationSettings,
    ask_and_read,
    write_generated,
)
from assets.common.tables import table_asset
from assets.dialogue.questions import questions
from assets.dialogue.set_rows import Row, by_set, images_of_sets, questions_of_sets, request_name
from methods.mmdu.reading import read_answer
from resources.llm.gateway import Gateway
from resources.settings.prompts import prompt
from resources.warehouse import Warehouse

FEWEST_SHARE = 10
"""Answers shorter than a tenth of the requested words are requested again; chosen by hand."""


class DialogueAnswersSettings(GenerationSettings):
    """Settings of answers; MMDU requests about 500 words for each answer (Figure 8)."""

    n_words: int = Field(500, gt=0, description="Words asked for in an answer.")


@table_asset(
    "dialogue.answers",
    side_tables=["dialogue.failed"],
    kinds={"openai"},
    deps=[questions],
)
def answers(
    context: dg.AssetExecutionContext,
    config: DialogueAnswersSettings,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
) -> dg.MaterializeResult:
    """Answers from the images alone: without captions and page texts, so that they are based on pixels.

    Each question is a separate request, so that its answer has the requested length.
    """
    images_of = dict(by_set(images_of_sets(warehouse)))
    rows = questions_of_sets(warehouse)
    text_of = {row["question_id"]: row["question"] for row in rows}
    asks = []
    for question in rows:
        images = images_of.get(question["set_id"], [])
        positions = question["positions"]
        asks.append(
            GenerationRequest(
                subject=question,
                set_id=question["set_id"],
                name=f"{request_name(question['set_id'], positions, len(images))}, "
                f"question {question['ordinal']}",
                images=[image["image_id"] for image in images if image["position"] in positions],
                data={
                    "n_words": config.n_words,
                    "question": question["question"],
                    "earlier": text_of.get(question["follows"]),
                },
                n_words=config.n_words,
                language=images[0]["language"],
            )
        )

    def read(question: Row, reply: str) -> list[Row]:
        fewest_words = config.n_words // FEWEST_SHARE
        answer = read_answer(reply, len(question["positions"]), fewest_words)
        return [{"question_id": question["question_id"], "answer": answer}]

    generated = ask_and_read(context, llm, "dialogue.answers", prompt("mmdu/answers"), asks, read)
    return write_generated(warehouse, "dialogue.answers", generated, config.max_failed_share)
