"""Rewriting: paraphrases of the first question of each dialogue (AlignMMBench, 3.2)."""

import dagster as dg
from pydantic import Field

from assets.common.generation import (
    GenerationRequest,
    GenerationSettings,
    ask_and_read,
    write_generated,
)
from assets.common.tables import table_asset
from assets.dialogue import dialogues
from assets.dialogue.set_rows import Row
from methods.ids import content_id
from methods.rewriting import parse_rewrites
from resources.llm.gateway import Gateway
from resources.settings.prompts import prompt
from resources.warehouse import Warehouse


class RewritesSettings(GenerationSettings):
    """Settings of rewrites; AlignMMBench has five of each question."""

    n_rewrites: int = Field(5, gt=0, description="Rewrites asked for of each question.")


@table_asset("rewrite.rewrites", side_tables=["rewrite.failed"], kinds={"openai"}, deps=[dialogues])
def rewrites(
    context: dg.AssetExecutionContext,
    config: RewritesSettings,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
) -> dg.MaterializeResult:
    """Rewrites of the first question of each dialogue, five by default: same meaning, other style."""
    seeds = warehouse.read("rewrite/first_questions").to_pylist()
    if not seeds:
        raise dg.Failure("There are no dialogues: run the job dialogue first.", allow_retries=False)
    asks = [
        GenerationRequest(
            subject=seed,
            set_id=seed["set_id"],
            name=seed["dialogue_id"],
            images=(),
            data={"n_rewrites": config.n_rewrites, "prompt": seed["question"]},
            language=seed["language"],
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
    return write_generated(warehouse, "rewrite.rewrites", written, config.max_failed_share)
