"""Three-turn conversations: perception, reasoning, creation (ConvBench, 3, i, ii and v)."""

import dagster as dg

from assets.common.generation import (
    GenerationRequest,
    GenerationSettings,
    Row,
    ask_and_read,
    write_generated,
)
from assets.common.tables import table_asset
from assets.dialogue.entry_texts import texts_of
from assets.dialogue.instructions import instructions
from methods.convbench.drafting import (
    MOST_CATEGORY_WORDS,
    MOST_POINTS,
    TURNS_SCHEMA,
    item_id,
    read_turns,
)
from resources.images.store import ImageStore
from resources.llm.gateway import Gateway
from resources.settings.prompts import prompt
from resources.warehouse import Warehouse

TABLE = "dialogue.three_turns"


class ThreeTurnsSettings(GenerationSettings):
    """Settings of conversations: an instruction without three valid turns counts as failed."""


@table_asset(TABLE, side_tables=["dialogue.failed"], kinds={"openai", "image"}, deps=[instructions])
def three_turns(
    context: dg.AssetExecutionContext,
    config: ThreeTurnsSettings,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
    image_store: dg.ResourceParam[ImageStore],
) -> dg.MaterializeResult:
    """Three-turn conversations: three questions that build on each other for each instruction, with
    task names and focus points.
    """
    rows = warehouse.select(
        "dialogue.instructions",
        "set_id",
        "instruction_id",
        "entry_id",
        "image_id",
        "instruction",
        order="instruction_id",
    ).to_pylist()
    texts = texts_of(warehouse, (row["entry_id"] for row in rows))
    asks = [
        GenerationRequest(
            subject=row,
            set_id=row["set_id"],
            name=f"instruction {row['instruction_id']}",
            images=[row["image_id"]],
            data={
                "instruction": row["instruction"],
                "n_words": MOST_CATEGORY_WORDS,
                "n_points": MOST_POINTS,
                **texts[row["entry_id"]],
            },
        )
        for row in rows
    ]

    def read(instruction: Row, reply: str) -> list[Row]:
        draft = read_turns(reply)
        id_columns = ("instruction_id", "entry_id", "image_id")
        return [
            {
                **{key: instruction[key] for key in id_columns},
                "item_id": item_id(instruction["image_id"], instruction["instruction"], draft),
                "turns": [turn._asdict() for turn in draft.turns],
                "focus": list(draft.focus),
            }
        ]

    written = ask_and_read(
        context,
        llm,
        TABLE,
        prompt("convbench/write_turns"),
        asks,
        read,
        lambda _: TURNS_SCHEMA,
        draft_seed=0,
    )
    return write_generated(
        warehouse, TABLE, written, config.max_failed_share, image_store=image_store
    )
