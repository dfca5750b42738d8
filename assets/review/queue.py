"""What is put before people: what generation made, and answers that a judge has graded.

What belongs here: which items wait, what each holds, and that the review store is offered all of them.
Two assets own rows of one table (docs/decisions/0005), and the store is offered the whole of it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg
from pydantic import Field

from assets.common.partitions import bucket_key
from assets.common.tables import WHEN_READY, report, rows_to_arrow, table_asset
from assets.dialogue import dialogues
from assets.rewrite import prompts
from methods.evaluation.benchmark import Benchmark
from methods.ids import canonical_json, content_id
from methods.review import QueueItem, queue_item
from resources.images.store import ImageStore
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse

Row = dict[str, Any]
MADE = ("dialogue", "rewrite")
"""Kinds that generation makes and releases are made of."""
SCORE = "score"


class ScoreQueueConfig(dg.Config):
    """How many answers of each model people give scores to, and the seed they are drawn by."""

    n_answers: int = Field(5, ge=0)
    seed: int = 0


@table_asset(
    "review.queue", kinds={"image"}, deps=[dialogues, prompts], automation_condition=WHEN_READY
)
def queue(
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
    review_store: dg.ResourceParam[ReviewStore],
) -> dg.MaterializeResult:
    """Dialogues and rewrites that wait for people, each with the hash of exactly what it says."""
    rows = []
    for made in warehouse.read("review/reviewable").to_pylist():
        if made["kind"] == "dialogue":
            content = {"image_ids": made["image_ids"], "turns": made["turns"]}
        else:
            content = {"original": made["original"], "rewrite": made["rewrite"]}
        context = {key: made[key] for key in ("page_urls", "captions") if made[key]}
        rows.append(_row(made, content, canonical_json(context) if context else None))
    table = rows_to_arrow("review.queue", rows)
    warehouse.replace("review.queue", table, {"kind": MADE})
    details = Counter(row["kind"] for row in rows)
    return report(table, {**details, **_offer(warehouse, review_store)}, images=image_store)


def score_queue_asset(
    judged: Mapping[str, Benchmark], judgments: Sequence[dg.AssetsDefinition]
) -> dg.AssetsDefinition:
    """Asset `review/score_queue` over what `judgments` hold of the benchmarks `judged`, by name."""

    @table_asset(
        "review.queue",
        slice_of=SCORE,
        kinds={"image"},
        deps=list(judgments),
        automation_condition=WHEN_READY,
    )
    def score_queue(
        config: ScoreQueueConfig,
        warehouse: dg.ResourceParam[Warehouse],
        image_store: dg.ResourceParam[ImageStore],
        review_store: dg.ResourceParam[ReviewStore],
    ) -> dg.MaterializeResult:
        """Judged answers for people to give scores to, a few of each model: what a judge is held to.

        An item says neither which model answered nor what the judge gave.
        """
        drawn = warehouse.read(
            "review/judged", {"n_answers": config.n_answers, "n_seed": config.seed}
        ).to_pylist()
        # Two models may have said the same: it is one thing to give scores to.
        rows = {row["item_id"]: row for row in (_score_row(answer, judged) for answer in drawn)}
        table = rows_to_arrow("review.queue", list(rows.values()))
        warehouse.replace("review.queue", table, {"kind": SCORE})
        return report(table, _offer(warehouse, review_store), images=image_store)

    return score_queue


def queued(warehouse: Warehouse) -> list[QueueItem]:
    """The whole queue, as review works with it."""
    return [queue_item(row) for row in warehouse.read("review/queue").to_pylist()]


def _offer(warehouse: Warehouse, review_store: ReviewStore) -> dict[str, int]:
    """Put the whole queue before people; says what that changed."""
    return review_store.offer(queued(warehouse))._asdict()


def _score_row(answer: Row, judged: Mapping[str, Benchmark]) -> Row:
    benchmark = judged[answer["benchmark"]]
    lowest, highest = benchmark.score_range
    content = {
        **{key: answer[key] for key in ("image_ids", "question", "reference", "answer")},
        "dimensions": list(benchmark.dimensions),
        "lowest": lowest,
        "highest": highest,
        "scores": dict.fromkeys(benchmark.dimensions),
    }
    # Not of the model's name: whoever knew the models could tell it from the id.
    made = {**answer, "item_id": content_id(SCORE, answer["set_id"], content), "kind": SCORE}
    return _row(made, content, None)


def _row(made: Row, content: Row, context: str | None) -> Row:
    return {
        **{key: made[key] for key in ("item_id", "kind", "set_id", "image_ids")},
        "bucket": bucket_key(made["set_id"]),
        "content": canonical_json(content),
        "content_hash": content_id(content),
        "context": context,
    }
