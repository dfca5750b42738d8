"""Release: approved dialogues frozen under an id that is a hash of their content.

What belongs here: which releases are made. Their rows are made by `methods/release.py`.
"""

import json
from datetime import UTC, datetime
from typing import Any

import dagster as dg
import pyarrow as pa

from assets.cluster import require_whole_sets
from assets.common.tables import preview, report, rows_to_arrow, table_asset
from assets.dialogue import answers, questions
from assets.ingest import entries
from assets.review import approved
from methods.release import ApprovedDialogue, Origin, Release, ReviewPolicy, build_release
from resources.images.store import ImageStore
from resources.warehouse import Warehouse, Write

NAMES = {"benchmark": "mmdu", "instruction": "mmdu-instruct"}
TABLES = ("releases", "items", "turns", "references", "images")
"""Tables that hold every release there ever was."""

GENERATED = dg.AssetSelection.assets(questions.key, answers.key, entries.key)
WHEN_APPROVED = (
    dg.AutomationCondition.eager()
    & dg.AutomationCondition.all_deps_blocking_checks_passed().ignore(GENERATED)
)
"""Follow approvals. What they were generated from has passed its checks before anybody decided."""


@table_asset(
    "release.releases",
    side_tables=[*(f"release.{name}" for name in TABLES[1:]), "release.current"],
    deps=[approved, questions, answers, entries],
    automation_condition=WHEN_APPROVED,
)
def releases(
    context: dg.AssetExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
) -> dg.MaterializeResult:
    """Freeze what is approved: one benchmark release and one instruction-set release.

    Items name their reviewers; turns and references the call and the prompt that made them; images
    their page and attribution.
    """
    tables = _freeze(context, warehouse)
    details: dict[str, object] = {name: tables[name].num_rows for name in TABLES[1:]}
    for name in TABLES[1:]:
        details[f"preview of {name}"] = dg.MetadataValue.md(preview(tables[name], image_store))
    return report(tables["releases"], details)


def _freeze(context: dg.AssetExecutionContext, warehouse: Warehouse) -> dict[str, pa.Table]:
    """Write every release and say what was written, by table."""
    require_whole_sets(warehouse)
    origins = warehouse.read("release/origins").to_pylist()
    providers = ", ".join(sorted({origin["provider"] for origin in origins}))
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    current = []
    for kind, name in NAMES.items():
        dialogues = _approved(warehouse, kind)
        if not dialogues:
            context.log.warning(f"No approved dialogue of kind {kind}: no release {name}.")
            continue
        reviewed = _reviewed(warehouse)
        release = build_release(name, dialogues, reviewed, *_origins(origins), _sources(warehouse))
        for table, made in release.rows.items():
            rows[table] += made
        rows["releases"].append(_card(release, name, kind, reviewed, providers))
        current.append({"name": name, "release_id": release.release_id})
    release_ids = [row["release_id"] for row in current]
    known = warehouse.read("release/created_at", {"release_ids": release_ids}).to_pylist()
    created_at = {row["release_id"]: row["created_at"] for row in known}
    for row in rows["releases"]:
        row["created_at"] = created_at.get(row["release_id"], row["created_at"])
    tables = {name: rows_to_arrow(f"release.{name}", rows[name]) for name in TABLES}
    warehouse.replace_all(
        [
            *(
                Write(f"release.{name}", table, {"release_id": release_ids})
                for name, table in tables.items()
            ),
            Write(
                "release.current",
                rows_to_arrow("release.current", current),
                {"name": list(NAMES.values())},
            ),
        ]
    )
    return tables


def _approved(warehouse: Warehouse, kind: str) -> list[ApprovedDialogue]:
    dialogues = []
    for row in warehouse.read("release/approved_dialogues", {"kind": kind}).to_pylist():
        content = json.loads(row["content"])
        dialogues.append(
            ApprovedDialogue(
                row["item_id"],
                row["set_id"],
                row["revision"],
                tuple(row["reviewers"]),
                tuple(content["image_ids"]),
                tuple(content["turns"]),
                tuple(json.loads(row["generated"])["turns"]),
            )
        )
    return dialogues


def _reviewed(warehouse: Warehouse) -> ReviewPolicy:
    """The policy of the last run of review/approved, which made every row of it."""
    (row,) = warehouse.read("release/review_policy").to_pylist()
    return ReviewPolicy(row["policy"], row["policy_share"])


def _origins(rows: list[dict[str, Any]]) -> tuple[dict[str, Origin], dict[str, Origin]]:
    """Origins of questions and of answers, by question id."""
    made = [
        {
            row["question_id"]: Origin(row[f"{text}_call_key"], row[f"{text}_prompt_version"])
            for row in rows
        }
        for text in ("question", "answer")
    ]
    return made[0], made[1]


def _sources(warehouse: Warehouse) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (row.pop("set_id"), row.pop("image_id")): row
        for row in warehouse.read("release/sources").to_pylist()
    }


def _card(
    release: Release, name: str, kind: str, reviewed: ReviewPolicy, providers: str
) -> dict[str, Any]:
    return {
        "release_id": release.release_id,
        "name": name,
        "kind": kind,
        "n_items": len(release.rows["items"]),
        "n_turns": len(release.rows["turns"]),
        "n_images": len({row["image_id"] for row in release.rows["images"]}),
        "review_policy": reviewed.policy,
        "review_share": reviewed.share,
        "provider": providers,
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
