"""Asset checks of review: what is approved rests on the people it should rest on.

What belongs here: what must hold of approvals, looked for in the tables and not in how they were
made. Schema checks are made in `checks.py`.
"""

import dagster as dg

from assets.review import queued
from methods.review import by_item
from methods.review.process import stage_of
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse

APPROVED = dg.AssetKey(["review", "approved"])
N_SHOWN = 20


def review_checks() -> list[dg.AssetChecksDefinition]:
    """All checks of the stage but those on schemas."""
    return [decided_by_people, on_this_content]


@dg.asset_check(
    asset=APPROVED,
    name="decided_by_people",
    blocking=True,
    description="Where a release demands people, nobody is awaited any more under the rules.",
)
def decided_by_people(
    warehouse: dg.ResourceParam[Warehouse], review_store: dg.ResourceParam[ReviewStore]
) -> dg.AssetCheckResult:
    """Blocking: an approval that `require` demands people for has as many as review.yaml asks."""
    demanded = set(warehouse.read("review/demanded").column("item_id").to_pylist())
    items = [item for item in queued(warehouse) if item["item_id"] in demanded]
    mirrored = set(warehouse.read("review/event_ids").column("event_id").to_pylist())
    # What was decided since the table was made is for the next run to see.
    events = [each for each in review_store.decisions(demanded) if each.event_id in mirrored]
    decided, rules = by_item(events), review_store.rules()
    early = {
        item["item_id"]: stage.status
        for item in items
        if (stage := stage_of(item, decided[item["item_id"]], rules.of(item["kind"]))).status
        != "approved"
    }
    return dg.AssetCheckResult(
        passed=not early and len(items) == len(demanded),
        metadata={
            "demanded and approved": len(demanded),
            "without the people": len(early),
            "first of them": [f"{item}: {status}" for item, status in early.items()][:N_SHOWN],
        },
    )


@dg.asset_check(
    asset=APPROVED,
    name="on_this_content",
    blocking=True,
    description="Every approval follows from decisions on exactly its content; no policy is a person.",
)
def on_this_content(warehouse: dg.ResourceParam[Warehouse]) -> dg.AssetCheckResult:
    """Blocking: contents, names and policies are those of the decisions that the table has."""
    wrong = warehouse.read("review/misapproved").to_pylist()
    return dg.AssetCheckResult(
        passed=not wrong,
        metadata={
            "wrong": len(wrong),
            "first of them": [f"{row['item_id']}: {row['why']}" for row in wrong[:N_SHOWN]],
        },
    )
