"""Summaries of the pages behind the images of a set (MMDU, 2.2, B.2)."""

import dagster as dg
from pydantic import Field

from assets.cluster import image_sets
from assets.common.automation import WHEN_READY
from assets.common.generation import (
    GenerationRequest,
    GenerationSettings,
    ask_and_read,
    write_generated,
)
from assets.common.tables import table_asset
from assets.dialogue.set_rows import Row, images_of_sets
from resources.llm.gateway import Gateway
from resources.settings.prompts import prompt
from resources.warehouse import Warehouse


class SummariesSettings(GenerationSettings):
    """How long a page's summary may be."""

    max_words: int = Field(120, gt=0, description="Most words of a page's summary.")


@table_asset(
    "dialogue.summaries",
    side_tables=["dialogue.failed"],
    kinds={"openai"},
    deps=[image_sets],
    automation_condition=WHEN_READY,
)
def summaries(
    context: dg.AssetExecutionContext,
    config: SummariesSettings,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
) -> dg.MaterializeResult:
    """Summaries of page texts: the facts on which questions about an image may be based."""
    asks = [
        GenerationRequest(
            subject=image,
            set_id=image["set_id"],
            name=image["entry_id"],
            images=(),
            data={
                "max_words": config.max_words,
                **{key: image[key] for key in ("title", "categories", "caption", "page_text")},
            },
            n_words=config.max_words,
            language=image["language"],
        )
        for image in images_of_sets(warehouse)
    ]

    def read(image: Row, reply: str) -> list[Row]:
        return [{"entry_id": image["entry_id"], "summary": reply.strip()}]

    generated = ask_and_read(context, llm, "dialogue.summaries", prompt("mmdu/summary"), asks, read)
    return write_generated(warehouse, "dialogue.summaries", generated, config.max_failed_share)
