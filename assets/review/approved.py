"""What people decided, and what is thereby approved.

What belongs here: what decisions let through into a release. How they resolve is `methods/review/`;
people decide outside Dagster, through `review/`.
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
    """Of which items people's decisions are demanded before they are released.

    `none` lets through what nobody decided and says so (`policy:none`); `sample` demands people for
    `sample_share` of the items, chosen by a hash of the item, and lets the rest through
    (`policy:sample`); `all` waits for people. What people decided counts in any case.
    """

    require: str = "none"
    sample_share: float = Field(0.1, ge=0, le=1)


decisions = table_spec(
    "review.decisions",
    kinds={"sqlite"},
    deps=[queue],
    partitions_def=buckets,
    description="What people decided, made outside Dagster in the review store. A sensor reports a "
    "bucket when none of its items awaits anybody. The table is the store as `review/approved` last "
    "read it.",
)

WHEN_DECIDED = WHEN_READY.replace(
    "any_deps_updated",
    dg.AutomationCondition.any_deps_updated().allow(dg.AssetSelection.assets(decisions.key)),
)
"""Follow people, not the queue: what was just generated has yet to be looked at."""


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
    """Each item's standing after two rounds, with who stands behind it: people or a policy."""
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
