"""Approved items: the outcome of each item's review by people or by a policy."""

from collections import Counter
from typing import Literal

import dagster as dg
from pydantic import Field

from assets.common.automation import DECISIONS, when_changed
from assets.common.settings import AssetConfig
from assets.common.tables import report, table_asset, write_rows
from assets.review.decisions import decisions
from assets.review.queue import queue, queued_items
from methods.ids import canonical_json, content_id
from methods.review import POLICY_PREFIX, Decision, ResolutionPolicy, by_item, resolve
from methods.review.flagged_items import FLAGGED, apply_flag_decision
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse


class ReviewSettings(AssetConfig):
    """Review policy: the items that need people's decisions before they are released.

    `none`: no items; the policy accepts all undecided items, as the reviewer `policy:none`. `sample`: a
    share of `sample_share`, chosen by a hash of the item; the policy accepts other undecided items, as
    `policy:sample`. `all`: every item. Decisions of people always count.
    """

    require: Literal["none", "sample", "all"] = Field(
        "none", description="Which items people must decide on."
    )
    sample_share: float = Field(
        0.1, ge=0, le=1, description="The share of items that `sample` takes."
    )
    accept_lost_decisions: bool = Field(
        False,
        description="Whether to go on if the review store lacks decisions that the table has. The "
        "policy then decides on their items.",
    )


WHEN_DECIDED = when_changed(DECISIONS)
"""Runs after new decisions, and not after new items, which nobody has reviewed yet."""


@table_asset(
    "review.approved",
    version="2",
    kinds={"image"},
    deps=[queue, decisions.key],
    automation_condition=WHEN_DECIDED,
)
def approved(
    context: dg.AssetExecutionContext,
    config: ReviewSettings,
    warehouse: dg.ResourceParam[Warehouse],
    review_store: dg.ResourceParam[ReviewStore],
) -> dg.MaterializeResult:
    """The outcome of each item's review, with the reviewers that decided it: people or a policy.

    For multiple-choice items, decisions on flags after release (`evaluate/item_queue`) count, too. An
    item is pending if its edits made a content that is not valid; the metadata name it.
    """
    policy = ResolutionPolicy(config.require, config.sample_share)
    items = queued_items(warehouse)
    if not config.accept_lost_decisions:
        _require_kept_decisions(warehouse, review_store)
    decided = by_item(review_store.decisions())
    rules = review_store.rules()
    rows, events, faults = [], [], []
    for item in items:
        resolution = resolve(item, decided[item["item_id"]], policy, rules.rules_for(item["kind"]))
        events += decided[item["item_id"]]
        if item["kind"] == "multiple_choice":
            resolution, again = apply_flag_decision(resolution, decided, rules.rules_for(FLAGGED))
            events += again
        if resolution.fault:
            faults.append(
                f"{item['kind']} {item['item_id']}: an edit does not count: "
                f"{resolution.fault.rstrip('.')}. Open the item again in the review app."
            )
        rows.append(
            {
                **{name: value for name, value in vars(resolution).items() if name != "fault"},
                "kind": item["kind"],
                "set_id": item["set_id"],
                "content": canonical_json(resolution.content),
                "reviewers": list(resolution.reviewers),
                "policy": policy.require,
                "policy_share": policy.share,
            }
        )
    mirror = [_event_row(event) for event in events]
    table = write_rows(warehouse, {"review.approved": rows, "review.decisions": mirror})
    for fault in faults:
        context.log.warning(fault)
    return report(
        table,
        {
            **({"warning": " ".join(faults)} if faults else {}),
            "require": policy.require,
            "share demanded": policy.share,
            "decisions": len(events),
            **Counter(row["status"] for row in rows),
            "by people": sum(_has_people(row["reviewers"]) for row in rows),
        },
    )


def _require_kept_decisions(warehouse: Warehouse, store: ReviewStore) -> None:
    """Fail the step if the review store lacks decisions that the last run of the step read.

    Otherwise a policy would approve items that people have rejected. Decisions are recognized by their
    time: a person may be renamed, and a decision on a flagged item counts as one on the item.
    """
    times = {decision.decided_at for decision in store.decisions(revoked=True)}
    mirrored = warehouse.select("review.decisions", "decided_at")["decided_at"].to_pylist()
    n_lost = sum(time not in times for time in mirrored)
    if n_lost:
        raise dg.Failure(
            f"review.approved keeps its earlier rows: the review store lacks {n_lost} of the "
            f"{len(mirrored)} decisions of people in review.decisions. Restore a backup that has the "
            "store (vlm-loom workspace restore). To go on without these decisions, set "
            "accept_lost_decisions of review/approved for one run.",
            metadata={"lost decisions": n_lost, "of": len(mirrored)},
            allow_retries=False,
        )


def _event_row(event: Decision) -> dict[str, object]:
    return {
        **vars(event),
        "edits_hash": None if event.edits is None else content_id(event.edits),
    }


def _has_people(reviewers: list[str]) -> bool:
    return any(not reviewer.startswith(POLICY_PREFIX) for reviewer in reviewers)
