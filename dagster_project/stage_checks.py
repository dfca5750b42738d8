"""Asset checks of stages: references between tables, approvals, and overlap of releases.

- `whole` of tables that models fill: all their references to other rows resolve, and no row is missing.
  `sql/<stage>/broken_references.sql` defines the references.
- Checks of `review.approved` against the queue, the decisions and the rules.
- `no_overlap` of current releases. The same comparison leaves out shared content before a release is
  frozen (`assets/release/contamination.py`); the check covers releases that were imported or pinned
  since.

`checks.py` makes the schema checks.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import dagster as dg

from assets.common.settings import last_reported
from assets.common.tables import ROW_COUNT, SIDE_TABLES
from assets.release.contamination import (
    NAMES,
    blocking_overlap,
    current_overlap,
    overlap_counts,
    overlap_in_words,
)
from assets.review import queued_items
from dagster_project.check_results import N_SHOWN, asset_check, result, rows_preview
from methods.markdown import code, table
from methods.naming import listed, number_of
from methods.review import by_item
from methods.review.process import review_state
from resources.images.store import ImageStore
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse


@asset_check(
    asset=dg.AssetKey(["release", "releases"]),
    blocking=True,
    description="No current benchmark, built or imported, shares a page, an image, a near-duplicate, "
    "or a question with its answer, with a current instruction set, and no imported one an answer.",
)
def no_overlap(
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
) -> dg.AssetCheckResult:
    """Blocking: a score on items that a model was trained on says nothing."""
    overlaps = current_overlap(
        warehouse, image_store, warehouse.read("release/current").to_pylist()
    )
    forbidden = blocking_overlap(overlaps)
    first = [
        (
            NAMES[overlap.kind],
            code(overlap.what[:80]),
            code(f"{overlap.benchmark} {overlap.item}"),
            code(f"{overlap.instruction} {overlap.instruction_item}"),
        )
        for overlap in forbidden[:N_SHOWN]
    ]
    lines = table(("kind", "what", "item of the benchmark", "item of the instruction set"), first)
    message = (
        f"Current benchmarks and instruction sets share {overlap_in_words(forbidden)}: run the job "
        "release, which leaves that out of the instruction sets, or says which item to take out."
    )
    return result(
        message if forbidden else None,
        {
            **overlap_counts(overlaps),
            "first of them": dg.MetadataValue.md("\n".join(lines) if first else "none"),
        },
    )


APPROVED = dg.AssetKey(["review", "approved"])


@asset_check(
    asset=APPROVED,
    blocking=True,
    description="Every approval that people are demanded for has the decisions that the rules ask for.",
)
def decided_by_people(
    warehouse: dg.ResourceParam[Warehouse], review_store: dg.ResourceParam[ReviewStore]
) -> dg.AssetCheckResult:
    """Blocking: every approval that needs people has the decisions that review.yaml demands."""
    approved = warehouse.select("review.approved", "item_id", status="approved", demanded=True)
    demanded = set(approved["item_id"].to_pylist())
    items = [item for item in queued_items(warehouse) if item["item_id"] in demanded]
    contents = {item["item_id"] for item in items}
    mirrored = set(warehouse.select("review.decisions", "event_id")["event_id"].to_pylist())
    # Leave out decisions that were made after the table: the next run will read them.
    events = [event for event in review_store.decisions(demanded) if event.event_id in mirrored]
    decided, rules = by_item(events), review_store.rules()
    lacking = []
    for item in items:
        state = review_state(item, decided[item["item_id"]], rules.rules_for(item["kind"]))
        if state.status.name != "approved":
            lacking.append(f"{item['item_id']}: {state.status.name}")
    lacking += [f"{item_id}: not in review.queue" for item_id in sorted(demanded - {*contents})]
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
    blocking=True,
    description="Every approval follows from decisions on exactly its content, by people or a policy.",
)
def on_this_content(warehouse: dg.ResourceParam[Warehouse]) -> dg.AssetCheckResult:
    """Blocking: contents, names and policies in `review.approved` are those of the stored decisions."""
    wrong = warehouse.read("review/misapproved").to_pylist()
    first = [f"{row['item_id']}: {row['why']}" for row in wrong]
    message = (
        f"review.approved has {number_of(len(wrong), 'row')} that no stored decisions lead to "
        f"({listed(first)}): "
        "materialize review/approved again."
    )
    return result(
        message if wrong else None, {"wrong": len(wrong), "first of them": first[:N_SHOWN]}
    )


CHECKED_STAGES = ("dialogue", "rewrite", "choice", "quality")
"""Stages whose tables can be rebuilt from the ledger without model calls."""


def content_check(spec: dg.AssetSpec) -> dg.AssetChecksDefinition:
    """Make the check of an asset of these stages. It blocks, as later assets would lack the missing
    rows.
    """
    table = spec.metadata["dagster/table_name"]
    tables = [table, *spec.metadata.get(SIDE_TABLES, [])]

    @asset_check(
        asset=spec.key,
        name="whole",
        blocking=True,
        description="All references to other rows resolve, and the row count is that of the latest "
        "materialization.",
    )
    def check(
        context: dg.AssetCheckExecutionContext, warehouse: dg.ResourceParam[Warehouse]
    ) -> dg.AssetCheckResult:
        with warehouse.kept_open():
            n_rows = warehouse.count(table)
            broken = warehouse.read(f"{spec.group_name}/broken_references", {"tables": tables})
        recorded = last_reported(context.instance, table, ROW_COUNT)
        wrong = [] if recorded in (None, n_rows) else [_other_count(table, n_rows, recorded)]
        wrong += _sentences(table, broken.to_pylist())
        return result(
            " ".join(wrong) or None,
            {
                "rows": n_rows,
                **({} if recorded is None else {"rows as recorded": recorded}),
                "rows that name missing ones": rows_preview(broken),
            },
        )

    return check


def _other_count(table: str, n_rows: int, recorded: int) -> str:
    return (
        f"{table} has {number_of(n_rows, 'row')}, and its latest materialization recorded {recorded}: "
        f"materialize {_asset(table)} again; what the ledger has is not asked again."
    )


def _sentences(table: str, broken: Sequence[dict[str, Any]]) -> list[str]:
    """Say which rows are missing, table by table, and which assets to materialize again."""
    sentences = []
    for (named_in, missing_in), rows in groupby(sorted(broken, key=_tables), key=_tables):
        ids = [row["row_id"] for row in rows]
        first, then = _asset(missing_in), _asset(table)
        again = f"{first} again" if first == then else f"{first} again, then {then}"
        sentences.append(
            f"{named_in} has {number_of(len(ids), 'row')} without their row of {missing_in} "
            f"({listed(ids)}): materialize {again}."
        )
    return sentences


def _tables(row: dict[str, Any]) -> tuple[str, str]:
    return row["named_in"], row["missing_in"]


def _asset(table: str) -> str:
    return table.replace(".", "/")
