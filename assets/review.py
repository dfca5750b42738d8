"""Review: the queue, what people decided, and what is thereby approved.

What belongs here: what is put before people and what their decisions let through. How decisions
resolve is `methods/review.py`; people decide outside Dagster, through `review/`.
"""

import json
from collections import Counter

import dagster as dg

from assets.dialogue import dialogues
from assets.rewrite import prompts
from assets.tables import WHEN_READY, report, rows_to_arrow, table_asset, table_spec
from methods.ids import canonical_json, content_id
from methods.review import POLICIES, QueueItem, by_item, resolve
from resources.image_store import ImageStore
from resources.review_store import ReviewStore
from resources.warehouse import Warehouse, Write


class ReviewConfig(dg.Config):
    """What a round without a person's decision means: `accept` lets it through and says so
    (`policy:accept`), `require` waits for a person."""

    policy: str = POLICIES[0]


@table_asset(
    "review.queue", kinds={"image"}, deps=[dialogues, prompts], automation_condition=WHEN_READY
)
def queue(
    warehouse: dg.ResourceParam[Warehouse], image_store: dg.ResourceParam[ImageStore]
) -> dg.MaterializeResult:
    """Dialogues and rewrites that wait for people, each with the hash of exactly what it says."""
    rows = []
    for made in warehouse.read("review/reviewable").to_pylist():
        if made["kind"] == "dialogue":
            content = {"image_ids": made["image_ids"], "turns": made["turns"]}
        else:
            content = {"original": made["original"], "rewrite": made["rewrite"]}
        rows.append(
            {
                **{key: made[key] for key in ("item_id", "kind", "set_id", "image_ids")},
                "content": canonical_json(content),
                "content_hash": content_id(content),
            }
        )
    table = rows_to_arrow("review.queue", rows)
    warehouse.replace("review.queue", table)
    return report(table, Counter(row["kind"] for row in rows), images=image_store)


decisions = table_spec(
    "review.decisions",
    kinds={"sqlite"},
    deps=[queue],
    description="What people decided, made outside Dagster in the review store; a sensor reports "
    "new decisions. The table is the store as `review/approved` last read it.",
)


@table_asset(
    "review.approved",
    kinds={"image"},
    deps=[queue, decisions.key],
    automation_condition=WHEN_READY,
)
def approved(
    config: ReviewConfig,
    warehouse: dg.ResourceParam[Warehouse],
    review_store: dg.ResourceParam[ReviewStore],
) -> dg.MaterializeResult:
    """Each queued item's standing after two rounds, with who stands behind it: people or a policy."""
    if config.policy not in POLICIES:
        raise dg.Failure(
            f"There is no review policy '{config.policy}'; it is one of {', '.join(POLICIES)}."
        )
    queued = warehouse.read("review/queue").to_pylist()
    events = review_store.decisions([row["item_id"] for row in queued])
    decided = by_item(events)
    rows = []
    for row in queued:
        item = QueueItem(
            item_id=row["item_id"],
            kind=row["kind"],
            content=json.loads(row["content"]),
            content_hash=row["content_hash"],
            image_ids=row["image_ids"],
        )
        resolution = resolve(item, decided[row["item_id"]], config.policy)  # type: ignore[arg-type]
        rows.append(
            {
                **vars(resolution),
                "kind": row["kind"],
                "set_id": row["set_id"],
                "content": canonical_json(resolution.content),
                "reviewers": list(resolution.reviewers),
                "policy": config.policy,
            }
        )
    table = rows_to_arrow("review.approved", rows)
    warehouse.replace_all(
        [
            Write("review.approved", table, {}),
            Write(
                "review.decisions",
                rows_to_arrow("review.decisions", [vars(event) for event in events]),
                {},
            ),
        ]
    )
    return report(
        table,
        {
            "policy": config.policy,
            "decisions": len(events),
            **Counter(row["status"] for row in rows),
            "by people": sum(not _by_policy_alone(row["reviewers"]) for row in rows),
        },
    )


def _by_policy_alone(reviewers: list[str]) -> bool:
    return all(reviewer.startswith("policy:") for reviewer in reviewers)


ASSETS: list[dg.AssetsDefinition | dg.AssetSpec] = [queue, decisions, approved]
