"""The decisions of people, and the items that are approved for a release.

What belongs here: the two tables. What decisions mean for an item is `methods/review/`; people decide
outside Dagster, in `review/`.
"""

from collections import Counter
from typing import Literal

import dagster as dg
from pydantic import Field

from assets.common.partitions import buckets
from assets.common.tables import WHEN_READY, report, rows_to_arrow, table_asset, table_spec
from assets.review.queue import queue, queued
from methods.ids import canonical_json, content_id
from methods.review import POLICY_PREFIX, REQUIRES, Decision, Policy, by_item, resolve
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse, Write


class ReviewConfig(dg.Config):
    """Which items need people's decisions before they are released.

    `none`: no item does; the policy accepts what nobody decided, under the name `policy:none`.
    `sample`: `sample_share` of the items do, chosen by a hash of the item; the policy accepts the
    others (`policy:sample`). `all`: every item does. Decisions of people count in any case.
    """

    require: str = "none"
    sample_share: float = Field(0.1, ge=0, le=1)


decisions = table_spec(
    "review.decisions",
    kinds={"sqlite"},
    deps=[queue],
    partitions_def=buckets,
    description="Decisions of people, made outside Dagster in the review store. A sensor reports a "
    "bucket when none of its items needs a decision. The table has the decisions that "
    "`review/approved` last read.",
)

WHEN_DECIDED = WHEN_READY.replace(
    "any_deps_updated",
    dg.AutomationCondition.any_deps_updated().allow(dg.AssetSelection.assets(decisions.key)),
)
"""Wait for new decisions, not for new items, which nobody has reviewed yet."""


@table_asset(
    "review.approved",
    kinds={"image"},
    deps=[queue, decisions.key],
    automation_condition=WHEN_DECIDED,
)
def approved(
    config: ReviewConfig,
    warehouse: dg.ResourceParam[Warehouse],
    review_store: dg.ResourceParam[ReviewStore],
) -> dg.MaterializeResult:
    """The outcome of each item's review, with the reviewers that decided it: people or a policy."""
    if config.require not in REQUIRES:
        raise dg.Failure(
            f"A release cannot require '{config.require}' of review; it is one of "
            f"{', '.join(REQUIRES)}."
        )
    require: Literal["none", "sample", "all"] = config.require  # type: ignore[assignment]
    policy = Policy(require, config.sample_share)
    items = queued(warehouse)
    events = review_store.decisions([item["item_id"] for item in items])
    decided = by_item(events)
    rules = review_store.rules()
    rows = []
    for item in items:
        resolution = resolve(item, decided[item["item_id"]], policy, rules.of(item["kind"]))
        rows.append(
            {
                **vars(resolution),
                "kind": item["kind"],
                "set_id": item["set_id"],
                "content": canonical_json(resolution.content),
                "reviewers": list(resolution.reviewers),
                "policy": policy.require,
                "policy_share": policy.share,
            }
        )
    table = rows_to_arrow("review.approved", rows)
    mirror = rows_to_arrow("review.decisions", [_event_row(event) for event in events])
    warehouse.replace_all(
        [Write("review.approved", table, {}), Write("review.decisions", mirror, {})]
    )
    return report(
        table,
        {
            "require": policy.require,
            "share demanded": policy.share,
            "decisions": len(events),
            **Counter(row["status"] for row in rows),
            "by people": sum(_has_people(row["reviewers"]) for row in rows),
        },
    )


def _event_row(event: Decision) -> dict[str, object]:
    return {
        **vars(event),
        "edits_hash": None if event.edits is None else content_id(event.edits),
    }


def _has_people(reviewers: list[str]) -> bool:
    return any(not reviewer.startswith(POLICY_PREFIX) for reviewer in reviewers)
