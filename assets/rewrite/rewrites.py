"""Rewriting: the first question of each dialogue in other words (AlignMMBench, 3.2).

What belongs here: which prompts are rewritten. Reading the rewrites is `methods/rewriting`.
"""

import dagster as dg
from pydantic import Field

from assets.common.generation import Ask, ask_and_read, write_buckets
from assets.common.partitions import buckets
from assets.common.tables import WHEN_READY, table_asset
from assets.dialogue import dialogues
from assets.dialogue.set_rows import Row
from methods.ids import content_id
from methods.rewriting import parse_rewrites
from resources.llm.gateway import Gateway
from resources.prompts import prompt
from resources.warehouse import Warehouse


class RewriteConfig(dg.Config):
    """AlignMMBench has five rewrites of each seed prompt."""

    n_rewrites: int = Field(5, gt=0)


@table_asset(
    "rewrite.rewrites",
    side_tables=["rewrite.failed"],
    kinds={"openai"},
    deps=[dialogues],
    partitions_def=buckets,
    automation_condition=WHEN_READY,
)
def rewrites(
    context: dg.AssetExecutionContext,
    config: RewriteConfig,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
) -> dg.MaterializeResult:
    """Five rewrites of the first question of each set: same meaning, other style."""
    seeds = warehouse.read(
        "rewrite/first_questions_of_buckets", {"buckets": list(context.partition_keys)}
    ).to_pylist()
    asks = [
        Ask(
            subject=seed,
            bucket=seed["bucket"],
            set_id=seed["set_id"],
            name=seed["dialogue_id"],
            images=(),
            data={"n_rewrites": config.n_rewrites, "prompt": seed["question"]},
        )
        for seed in seeds
    ]

    def read(seed: Row, reply: str) -> list[Row]:
        texts = parse_rewrites(reply, seed["question"], config.n_rewrites)
        return [
            {
                "rewrite_id": content_id("rewrite", seed["dialogue_id"], ordinal, text),
                "dialogue_id": seed["dialogue_id"],
                "ordinal": ordinal,
                "original": seed["question"],
                "rewrite": text,
            }
            for ordinal, text in enumerate(texts, start=1)
        ]

    written = ask_and_read(
        context, llm, "rewrite.rewrites", prompt("rewriting/rewrite"), asks, read
    )
    return write_buckets(context, warehouse, "rewrite.rewrites", written)
