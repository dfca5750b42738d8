"""Multiple-choice items, generated from entries by a model (MMBench, 3.2)."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import dagster as dg
from pydantic import Field, field_validator

from assets.cluster import left_out_of_benchmarks, require_whole_sets, splits
from assets.cluster.splits import NO_BENCHMARK_SETS
from assets.common.drops import FAILED_CALLS, in_words, is_retry_worthwhile
from assets.common.generation import (
    GenerationRequest,
    GenerationSettings,
    Row,
    ask_and_read,
    write_generated,
)
from assets.common.tables import table_asset
from assets.dialogue import summaries
from methods.choice.lettered import assign_letters
from methods.mmbench.taxonomy import DESCRIPTIONS, ENCYCLOPEDIC
from methods.mmbench.writing import SCHEMA, assign_abilities, item_id, read_item
from methods.validation import require_known, require_once
from resources.images.store import ImageStore
from resources.llm.gateway import Gateway
from resources.settings.prompts import prompt
from resources.warehouse import Warehouse


class ItemsSettings(GenerationSettings):
    """The number of items and their abilities. The default is `ENCYCLOPEDIC`, the abilities that
    nearly every image of an encyclopaedia supports; all 20 leaves of the taxonomy are allowed.
    """

    n_items: int = Field(
        12, gt=0, description="Items asked for: as many as there are pairs of entry and ability."
    )
    abilities: list[str] = Field(
        list(ENCYCLOPEDIC),
        min_length=1,
        description="Abilities (leaves of MMBench's taxonomy) that are asked for, equally often.",
    )
    seed: int = Field(
        0, description="Seed of which ability is asked of which entry, and of the order of choices."
    )

    @field_validator("abilities")
    @classmethod
    def _are_leaves(cls, abilities: list[str]) -> list[str]:
        require_known("ability", abilities, DESCRIPTIONS)
        require_once("ability", abilities)
        return abilities


class ItemWritingTask(NamedTuple):
    """The input of one item: an entry with its image, and the ability."""

    entry: Row
    ability: str


@table_asset(
    "choice.items",
    side_tables=["choice.failed"],
    kinds={"openai", "image"},
    deps=[summaries, splits],
)
def items(
    context: dg.AssetExecutionContext,
    config: ItemsSettings,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
    image_store: dg.ResourceParam[ImageStore],
) -> dg.MaterializeResult:
    """Multiple-choice items about one image each: question, hint, choices and key.

    Letters of right choices are balanced over the items; the model does not choose them.
    """
    require_whole_sets(warehouse)
    # By image, not by entry: of entries that share an image, only one gets items.
    entries = {row["image_id"]: row for row in warehouse.read("choice/entries").to_pylist()}
    if not entries:
        raise dg.Failure(NO_BENCHMARK_SETS, allow_retries=False)
    pairs = assign_abilities(list(entries), config.abilities, config.n_items, config.seed)
    asks = []
    for image_id, ability in pairs:
        entry = entries[image_id]
        asks.append(
            GenerationRequest(
                subject=ItemWritingTask(entry, ability),
                set_id=entry["set_id"],
                name=f"entry {entry['entry_id']}, {ability}",
                images=[image_id],
                data={
                    "ability": ability,
                    "description": DESCRIPTIONS[ability],
                    "caption": entry["caption"],
                    # A missing summary is replaced by an empty text.
                    "summary": entry["summary"] or "",
                },
                language=entry["language"],
            )
        )

    def read(subject: ItemWritingTask, reply: str) -> list[Row]:
        return [
            {
                "entry_id": subject.entry["entry_id"],
                "image_id": subject.entry["image_id"],
                "ability": subject.ability,
                "written": read_item(reply),
            }
        ]

    generated = ask_and_read(
        context,
        llm,
        "choice.items",
        prompt("mmbench/write_item"),
        asks,
        read,
        lambda _: SCHEMA,
        draft_seed=config.seed,
    )
    if not generated.rows:
        lost = Counter(row["reason"] for row in generated.failed)
        raise dg.Failure(
            f"choice.items keeps its earlier rows: no item could be written ({in_words(lost)}). "
            f"{generated.usage.advice or FAILED_CALLS}",
            allow_retries=is_retry_worthwhile(lost, len(asks), config.max_failed_share),
        )
    generated.rows = _in_order(generated.rows, config.seed)
    counts = Counter(row["answer"] for row in generated.rows)
    return write_generated(
        warehouse,
        "choice.items",
        generated,
        config.max_failed_share,
        {
            **{f"right choice {letter}": counts[letter] for letter in sorted(counts)},
            **left_out_of_benchmarks(warehouse),
        },
        image_store,
    )


def _in_order(rows: Sequence[Row], seed: int) -> list[Row]:
    """Return the rows with their choices in the order of letters, and with item ids."""
    written_items = [row["written"] for row in rows]
    orders = assign_letters(written_items, seed)
    return [
        {
            **row,
            "item_id": item_id(
                row["entry_id"], row["ability"], written.question, written.hint, order.choices
            ),
            "question": written.question,
            "hint": written.hint,
            "choices": list(order.choices),
            "answer": order.key,
        }
        for row, written, order in zip(rows, written_items, orders, strict=True)
    ]
