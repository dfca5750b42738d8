"""Asset checks of review: every approval follows from the decisions that it needs.

What belongs here: checks of `review.approved` against the queue, the decisions and the rules. Schema
checks are made in `checks.py`.
"""

import dagster as dg

from assets.review import queued
from dagster_project.check_results import N_SHOWN, asset_check, result
from methods.naming import listed, number_of
from methods.review import by_item
from methods.review.process import item_status
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse

APPROVED = dg.AssetKey(["review", "approved"])


def review_checks() -> list[dg.AssetChecksDefinition]:
    """All checks of the stage except the schema checks."""
    return [decided_by_people, on_this_content]


@asset_check(
    asset=APPROVED,
    name="decided_by_people",
    blocking=True,
    description="Every approval that people are demanded for has the decisions that the rules ask for.",
)
def decided_by_people(
    warehouse: dg.ResourceParam[Warehouse], review_store: dg.ResourceParam[ReviewStore]
) -> dg.AssetCheckResult:
    """Blocking: every approval that people are demanded for has the decisions that review.yaml asks."""
    approved = warehouse.select("review.approved", "item_id", status="approved", demanded=True)
    demanded = set(approved["item_id"].to_pylist())
    items = [item for item in queued(warehouse) if item["item_id"] in demanded]
    known = {item["item_id"] for item in items}
    mirrored = set(warehouse.select("review.decisions", "event_id")["event_id"].to_pylist())
    # Leave out decisions that were made after the table: the next run will read them.
    events = [event for event in review_store.decisions(demanded) if event.event_id in mirrored]
    decided, rules = by_item(events), review_store.rules()
    incomplete = {
        item["item_id"]: status.name
        for item in items
        if (status := item_status(item, decided[item["item_id"]], rules.of(item["kind"]))).name
        != "approved"
    }
    lacking = [f"{item}: {name}" for item, name in incomplete.items()]
    lacking += [f"{item}: not in review.queue" for item in sorted(demanded - {*known})]
    wrong = (
        f"review.approved has {number_of(len(lacking), 'item')} without the decisions that review.yaml "
        "demands "
        f"({listed(lacking)}): materialize review/queue and review/approved again."
    )
    return result(
        wrong if lacking else None,
        {
            "demanded and approved": len(demanded),
            "without the decisions": len(lacking),
            "first of them": lacking[:N_SHOWN],
        },
    )


@asset_check(
    asset=APPROVED,
    name="on_this_content",
    blocking=True,
    description="Every approval follows from decisions on exactly its content, by people or a policy.",
)
def on_this_content(warehouse: dg.ResourceParam[Warehouse]) -> dg.AssetCheckResult:
    """Blocking: contents, names and policies in `review.approved` are those of the stored decisions."""
    wrong = warehouse.read("review/misapproved").to_pylist()
    first = [f"{row['item_id']}: {row['why']}" for row in wrong]
    told = (
        f"review.approved has {number_of(len(wrong), 'row')} that no stored decisions lead to "
        f"({listed(first)}): "
        "materialize review/approved again."
    )
    return result(told if wrong else None, {"wrong": len(wrong), "first of them": first[:N_SHOWN]})
