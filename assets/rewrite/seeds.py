"""Seeds: generated questions about single images, with reference answers (AlignMMBench, 3.2)."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import dagster as dg
from pydantic import Field, field_validator

from assets.common.generation import (
    GenerationRequest,
    GenerationSettings,
    Row,
    ask_and_read,
    write_generated,
)
from assets.common.tables import table_asset
from assets.dialogue import summaries
from assets.rewrite.candidates import candidates
from methods.alignmmbench.candidates import TaskImage, sample_candidates
from methods.alignmmbench.drafting import (
    DEMANDS,
    LANGUAGES,
    SEED_SCHEMA,
    SINGLE_TASKS,
    read_seed,
    seed_id,
)
from methods.validation import require_known, require_once
from resources.images.store import ImageStore
from resources.llm.gateway import Gateway
from resources.settings.prompts import prompt
from resources.warehouse import Warehouse


class SeedsSettings(GenerationSettings):
    """Settings of seeds: number of questions, tasks and language."""

    n_seeds: int = Field(
        4, ge=0, description="Questions asked for; tasks that have pictures take turns."
    )
    tasks: list[str] = Field(
        list(SINGLE_TASKS), min_length=1, description="Tasks that questions are asked for."
    )
    language: Literal["en", "zh"] = Field(
        "en", description="Language of questions and references: en or zh."
    )
    seed: int = Field(0, description="Seed of which pictures are asked about.")

    @field_validator("tasks")
    @classmethod
    def _are_single(cls, tasks: list[str]) -> list[str]:
        require_known("task", tasks, SINGLE_TASKS)
        require_once("task", tasks)
        return tasks


@table_asset(
    "rewrite.seeds",
    side_tables=["rewrite.failed"],
    kinds={"openai", "image"},
    deps=[candidates, summaries],
)
def seeds(
    context: dg.AssetExecutionContext,
    config: SeedsSettings,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
    image_store: dg.ResourceParam[ImageStore],
) -> dg.MaterializeResult:
    """A question with its reference answer for each sampled image and task, drafted by the profile's
    writer.
    """
    asks = draft_requests(warehouse, config.tasks, config.n_seeds, config.seed, config.language)

    def read(subject: Row, reply: str) -> list[Row]:
        seed = read_seed(reply, config.language)
        return [
            {
                **subject,
                "language": config.language,
                "seed_id": seed_id(subject["image_id"], subject["task"], seed),
                **seed._asdict(),
            }
        ]

    written = ask_and_read(
        context,
        llm,
        "rewrite.seeds",
        prompt("alignmmbench/write_seed"),
        asks,
        read,
        lambda _: SEED_SCHEMA,
        draft_seed=config.seed,
    )
    return write_generated(
        warehouse,
        "rewrite.seeds",
        written,
        config.max_failed_share,
        few_images_warning(asks, config.n_seeds),
        image_store,
    )


def draft_requests(
    warehouse: Warehouse,
    tasks: Sequence[str],
    n: int,
    seed: int,
    language: str,
    more: Mapping[str, Any] | None = None,
) -> list[GenerationRequest[Row]]:
    """Make requests for drafts of questions, for sampled images of each task.

    Args:
        warehouse: The tables with the candidates.
        tasks: The tasks.
        n: The number of drafts.
        seed: The seed by which candidates are sampled.
        language: The language of the drafts.
        more: Further values for the prompt.
    """
    rows = warehouse.read("rewrite/candidates").to_pylist()
    candidate_of = {(row["task"], row["image_id"]): row for row in rows}
    pool = [
        TaskImage(row["task"], row["entry_id"], row["image_id"], tuple(row["keywords"]))
        for row in rows
    ]
    return [
        GenerationRequest(
            subject={"task": task, "entry_id": entry_id, "image_id": image_id},
            set_id=image_id,
            name=f"entry {entry_id}, {task}",
            images=[image_id],
            data={
                "task": task,
                "demand": DEMANDS[task],
                "language": LANGUAGES[language],
                "caption": candidate_of[task, image_id]["caption"],
                "notes": candidate_of[task, image_id]["notes"],
                **(more or {}),
            },
        )
        for task, entry_id, image_id, *_ in sample_candidates(pool, tasks, n, seed)
    ]


def few_images_warning(asks: Sequence[GenerationRequest[Row]], n: int) -> dict[str, str]:
    """Warn if there are fewer images with a keyword than drafts are wanted.

    Args:
        asks: The requests.
        n: The number of wanted drafts.

    Returns:
        Metadata with the warning; empty if there are enough images.
    """
    if len(asks) >= n:
        return {}
    return {"warning": f"{len(asks)} of {n} were asked for: no more pictures have a keyword."}
