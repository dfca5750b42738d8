"""Instructions about images, the first step of three-turn conversations (ConvBench, 3, i)."""

import dagster as dg
from pydantic import Field

from assets.cluster.duplicates import duplicates
from assets.cluster.splits import NO_BENCHMARK_ENTRIES, left_out_of_benchmarks, splits
from assets.common.generation import (
    GenerationRequest,
    GenerationSettings,
    Row,
    ask_and_read,
    write_generated,
)
from assets.common.tables import table_asset
from assets.dialogue.entry_texts import texts_of
from assets.dialogue.summaries import summaries
from assets.ingest import entries
from methods.convbench.drafting import (
    INSTRUCTION_SCHEMA,
    EntryImage,
    read_instruction,
    sample_entries,
)
from methods.ids import content_id
from resources.images.store import ImageStore
from resources.llm.gateway import Gateway
from resources.settings.prompts import prompt
from resources.warehouse import Warehouse

TABLE = "dialogue.instructions"


class InstructionsSettings(GenerationSettings):
    """Settings of the sample of images for three-turn conversations."""

    n_instructions: int = Field(
        6, ge=0, description="Pictures that an instruction is asked for; no two look alike."
    )
    seed: int = Field(0, description="Seed of which pictures they are.")


@table_asset(
    TABLE,
    side_tables=["dialogue.failed"],
    kinds={"openai", "image"},
    deps=[entries, duplicates, splits, summaries],
)
def instructions(
    context: dg.AssetExecutionContext,
    config: InstructionsSettings,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
    image_store: dg.ResourceParam[ImageStore],
) -> dg.MaterializeResult:
    """An instruction for each sampled image: what a user may want to create from it."""
    pictured = [EntryImage(**row) for row in warehouse.read("dialogue/pictures").to_pylist()]
    if not pictured:
        raise dg.Failure(NO_BENCHMARK_ENTRIES, allow_retries=False)
    of_group = {entry.group_id for entry in pictured}
    sampled = sample_entries(pictured, config.n_instructions, config.seed)
    texts = texts_of(warehouse, (entry.entry_id for entry in sampled))
    asks = [
        GenerationRequest(
            subject={"entry_id": entry.entry_id, "image_id": entry.image_id},
            set_id=entry.image_id,
            name=f"entry {entry.entry_id}",
            images=[entry.image_id],
            data=texts[entry.entry_id],
        )
        for entry in sampled
    ]

    def read(subject: Row, reply: str) -> list[Row]:
        instruction = read_instruction(reply)
        return [
            {
                **subject,
                "instruction_id": content_id("instruction", subject["image_id"], instruction),
                "instruction": instruction,
            }
        ]

    written = ask_and_read(
        context,
        llm,
        TABLE,
        prompt("convbench/write_instruction"),
        asks,
        read,
        lambda _: INSTRUCTION_SCHEMA,
        draft_seed=config.seed,
    )
    details: dict[str, object] = {
        "entries": len(pictured),
        "pictures that do not look alike": len(of_group),
        **left_out_of_benchmarks(warehouse),
    }
    if len(sampled) < config.n_instructions:
        details["warning"] = (
            f"{len(sampled)} of {config.n_instructions} were asked for: there are no more pictures."
        )
    return write_generated(warehouse, TABLE, written, config.max_failed_share, details, image_store)
