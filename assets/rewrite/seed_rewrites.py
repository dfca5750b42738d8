"""Paraphrases of the seeds' questions, checked by rule and by embeddings (AlignMMBench, 3.2)."""

from collections import Counter

import dagster as dg
from pydantic import Field, model_validator

from assets.common.drops import reasons, require_few_lost
from assets.common.generation import (
    GenerationRequest,
    GenerationResult,
    GenerationSettings,
    Row,
    ask_and_read,
    failed_row,
    write_with_failures,
)
from assets.common.tables import report, table_asset
from assets.rewrite.seeds import seeds
from methods.ids import content_id
from methods.rewriting.checks import SURPLUS, SimilarityBand, choose_by_meaning, read_rewrites
from resources.embedding.embedder import Embedder
from resources.llm.gateway import Gateway
from resources.settings.prompts import prompt
from resources.warehouse import Warehouse

TABLE = "rewrite.seed_rewrites"


class SeedRewritesSettings(GenerationSettings):
    """Number of rewrites, and limits of the cosine similarity of a rewrite and its question. The
    default limits were measured with English texts and the packaged embedding model.
    """

    n_rewrites: int = Field(5, gt=0, description="Rewrites kept of each question.")
    n_spare: int = Field(
        2, ge=0, description="Rewrites asked for beyond these, for those that a check leaves out."
    )
    lowest_similarity: float = Field(
        0.6, ge=-1, le=1, description="A rewrite less like its question has another meaning."
    )
    highest_similarity: float = Field(
        0.99, ge=-1, le=1, description="A rewrite more like its question is hardly changed."
    )
    highest_between: float = Field(
        0.99, ge=-1, le=1, description="Two rewrites more alike than this have the same style."
    )

    @model_validator(mode="after")
    def _is_a_band(self) -> "SeedRewritesSettings":
        if self.lowest_similarity >= self.highest_similarity:
            raise ValueError("lowest_similarity must be less than highest_similarity")
        return self

    @property
    def band(self) -> SimilarityBand:
        """The allowed range of similarities."""
        return SimilarityBand(self.lowest_similarity, self.highest_similarity, self.highest_between)


@table_asset(TABLE, side_tables=["rewrite.failed"], kinds={"openai", "pytorch"}, deps=[seeds])
def seed_rewrites(
    context: dg.AssetExecutionContext,
    config: SeedRewritesSettings,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
    embedder: dg.ResourceParam[Embedder],
) -> dg.MaterializeResult:
    """Rewrites (paraphrases) of each seed's question, five by default: same meaning and language, other
    styles, without hints at the answer. Rewrites that a check rejects are in `rewrite.failed` with the
    reason.
    """
    asks = [
        GenerationRequest(
            subject=seed,
            set_id=seed["set_id"],
            name=f"seed {seed['seed_id']}",
            images=(),
            data={
                "n_rewrites": config.n_rewrites + config.n_spare,
                "prompt": seed["question"],
            },
            language=seed["language"],
        )
        for seed in warehouse.select(
            "rewrite.seeds",
            *("seed_id", "set_id", "language", "question", "reference"),
            order="seed_id",
        ).to_pylist()
    ]

    def read(seed: Row, reply: str) -> list[Row]:
        rewrites = read_rewrites(reply, seed["question"], seed["reference"], config.n_rewrites)
        return [{"seed": seed, "read": rewrites}]

    written = ask_and_read(context, llm, TABLE, prompt("rewriting/rewrite"), asks, read)
    lost = Counter(row["reason"] for row in written.failed)
    require_few_lost(TABLE, "requests", lost, len(asks), config.max_failed_share, written.usage)
    rows, left_out = _checked(written, config, embedder)
    failed = [*written.failed, *(row for row in left_out if row["reason"] != SURPLUS)]
    table = write_with_failures(warehouse, TABLE, rows, failed)
    n_of = Counter(row["seed_id"] for row in rows)
    details = {
        "seeds with fewer than asked for": sum(
            n_of[ask.subject["seed_id"]] < config.n_rewrites for ask in asks
        ),
        **reasons(Counter(row["reason"] for row in [*written.failed, *left_out])),
        "embedding model": embedder.name,
    }
    return report(table, details, usage=written.usage)


def _checked(
    written: GenerationResult, settings: SeedRewritesSettings, embedder: Embedder
) -> tuple[list[Row], list[Row]]:
    """Return the rows of rewrites that are kept, and rows of failures for the others."""
    accepted: list[Row] = []
    lost: list[Row] = []
    for row, matrix in zip(written.rows, _similarities(written.rows, embedder), strict=True):
        seed, draft = row["seed"], row["read"]
        name = f"seed {seed['seed_id']}"
        where = {"set_id": row["set_id"], "call_key": row["call_key"]}
        lost += [
            failed_row(TABLE, where, name, why, f"Left out: {line}") for line, why in draft.lost
        ]
        selected = choose_by_meaning(matrix, settings.band, settings.n_rewrites)
        for place, why in selected.lost.items():
            remark = f"similarity to the question {matrix[0][place + 1]:.3f}"
            detail = f"Left out ({remark}): {draft.rewrites[place]}"
            lost.append(failed_row(TABLE, where, name, why, detail))
        accepted += [
            {
                **row,
                "rewrite_id": content_id("seed rewrite", seed["seed_id"], draft.rewrites[place]),
                "seed_id": seed["seed_id"],
                "ordinal": ordinal,
                "original": seed["question"],
                "rewrite": draft.rewrites[place],
                "similarity": matrix[0][place + 1],
            }
            for ordinal, place in enumerate(selected.places, start=1)
        ]
    return accepted, lost


def _similarities(rows: list[Row], embedder: Embedder) -> list[list[list[float]]]:
    """Return for each seed the cosine similarity matrix of its question (first) and its rewrites."""
    texts = [[row["seed"]["question"], *row["read"].rewrites] for row in rows]
    if not texts:
        return []
    vectors = iter(embedder.encode([text for of_seed in texts for text in of_seed]))
    own = [[next(vectors) for _ in of_seed] for of_seed in texts]
    return [[[float(one @ other) for other in of_seed] for one in of_seed] for of_seed in own]
