"""Questions on images and sets, from images, captions and summaries (MMDU, 2.2, B.2).

What belongs here: which questions are asked for. The prompt is `methods/mmdu/prompts/questions.md`.
"""

import dagster as dg
from pydantic import Field

from assets.common.automation import WHEN_READY
from assets.common.generation import Ask, GenerationSettings, ask_and_read, write_generated
from assets.common.tables import table_asset
from assets.dialogue.set_rows import Row, by_set, images_of_sets
from assets.dialogue.summaries import summaries
from methods.ids import content_id
from methods.mmdu.reading import read_questions
from methods.prompts.parsing import numbered_schema
from resources.llm.gateway import Gateway
from resources.prompts import prompt
from resources.warehouse import Warehouse


class QuestionsSettings(GenerationSettings):
    """How many questions are asked about each image and about each set."""

    per_image: int = Field(1, gt=0, description="Questions about each image.")
    per_set: int = Field(3, gt=0, description="Questions about each set.")


@table_asset(
    "dialogue.questions",
    settings=QuestionsSettings,
    side_tables=["dialogue.failed"],
    kinds={"openai"},
    deps=[summaries],
    automation_condition=WHEN_READY,
)
def questions(
    context: dg.AssetExecutionContext,
    settings: QuestionsSettings,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
) -> dg.MaterializeResult:
    """Questions on each image and on each set, from images, captions and summaries."""
    asks = []
    for set_id, images in by_set(images_of_sets(warehouse)):
        # Where a summary is missing, questions are asked without it.
        parts = [([image], image["position"], settings.per_image) for image in images]
        for shown, position, n_questions in [*parts, (images, None, settings.per_set)]:
            asks.append(
                Ask(
                    subject=(set_id, position, n_questions, len(shown)),
                    set_id=set_id,
                    name=set_id if position is None else f"{set_id} image {position}",
                    images=[image["image_id"] for image in shown],
                    data={
                        "n_questions": n_questions,
                        "entries": [
                            {"caption": image["caption"], "summary": image["summary"] or ""}
                            for image in shown
                        ],
                    },
                )
            )

    def read(subject: tuple[str, int | None, int, int], reply: str) -> list[Row]:
        set_id, position, n_questions, n_shown = subject
        found = read_questions(reply, n_questions, n_shown)
        return [
            {
                "question_id": content_id("question", set_id, position, ordinal, question),
                "scope": "multi" if position is None else "single",
                "position": position,
                "ordinal": ordinal,
                "question": question,
            }
            for ordinal, question in enumerate(found, start=1)
        ]

    generated = ask_and_read(
        context,
        llm,
        "dialogue.questions",
        prompt("mmdu/questions"),
        asks,
        read,
        lambda subject: numbered_schema("Q", subject[2]),
    )
    return write_generated(warehouse, "dialogue.questions", generated, settings.max_failed_share)
