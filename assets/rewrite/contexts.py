"""Dialogues whose last question depends on earlier turns or on an error in them (AlignMMBench, 3.2)."""

from typing import Literal

import dagster as dg
from pydantic import Field

from assets.common.generation import GenerationSettings, Row, ask_and_read, write_generated
from assets.common.tables import table_asset
from assets.dialogue import summaries
from assets.rewrite.candidates import candidates
from assets.rewrite.seeds import draft_requests, few_images_warning
from methods.alignmmbench.drafting import (
    DIALOGUE_SCHEMA,
    DIALOGUE_TASKS,
    FEWEST_EARLIER,
    MOST_EARLIER,
    dialogue_id,
    read_dialogue,
)
from resources.images.store import ImageStore
from resources.llm.gateway import Gateway
from resources.settings.prompts import prompt
from resources.warehouse import Warehouse


class ContextsSettings(GenerationSettings):
    """Settings of these dialogues: number and language."""

    n_dialogues: int = Field(
        2, ge=0, description="Dialogues asked for; Coherence and Incoherence take turns."
    )
    language: Literal["en", "zh"] = Field("en", description="Language of all turns: en or zh.")
    seed: int = Field(0, description="Seed of which pictures they are about.")


@table_asset(
    "rewrite.contexts",
    side_tables=["rewrite.failed"],
    kinds={"openai", "image"},
    deps=[candidates, summaries],
)
def contexts(
    context: dg.AssetExecutionContext,
    config: ContextsSettings,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
    image_store: dg.ResourceParam[ImageStore],
) -> dg.MaterializeResult:
    """Dialogues about images, drafted by the profile's writer: coherent dialogues, and dialogues with a
    deliberate error of the assistant.
    """
    more = {"fewest": FEWEST_EARLIER, "most": MOST_EARLIER}
    asks = draft_requests(
        warehouse, DIALOGUE_TASKS, config.n_dialogues, config.seed, config.language, more
    )

    def read(subject: Row, reply: str) -> list[Row]:
        dialogue = read_dialogue(reply, subject["task"], config.language)
        return [
            {
                **subject,
                "language": config.language,
                "dialogue_id": dialogue_id(subject["image_id"], subject["task"], dialogue),
                "turns": [
                    {"question": question, "answer": answer}
                    for question, answer in (*dialogue.history, dialogue.last)
                ],
                "error": dialogue.error,
            }
        ]

    written = ask_and_read(
        context,
        llm,
        "rewrite.contexts",
        prompt("alignmmbench/write_dialogue"),
        asks,
        read,
        lambda _: DIALOGUE_SCHEMA,
        draft_seed=config.seed,
    )
    return write_generated(
        warehouse,
        "rewrite.contexts",
        written,
        config.max_failed_share,
        few_images_warning(asks, config.n_dialogues),
        image_store,
    )
