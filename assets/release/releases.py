"""Release: approved dialogues frozen under an id that is a hash of their content.

What belongs here: which releases are made. Their rows are made by `methods/release.py`, their cards by
`card.py`; which of them are in force is `in_force.py`.
"""

import json
from typing import Any, NamedTuple

import dagster as dg
import pyarrow as pa

from assets.cluster import require_whole_sets
from assets.common.automation import SHARDS, when_changed
from assets.common.previews import preview
from assets.common.tables import report, rows_to_arrow, table_asset
from assets.dialogue import answers, questions
from assets.ingest import entries
from assets.release.card import circumstances, first_cards, new_card, prompts_and_writers
from assets.release.in_force import (
    ReleaseSettings,
    in_force,
    require_pinnable,
    version_of_releases,
    write_in_force,
)
from assets.review import approved
from methods.markdown import code, table
from methods.release import (
    RELEASE_TABLES,
    ApprovedDialogue,
    Edition,
    Origin,
    ReviewPolicy,
    build_release,
)
from methods.release_card import card_markdown, card_of
from resources.images.store import ImageStore
from resources.llm.ledger import Ledger
from resources.warehouse import Warehouse, Write

Row = dict[str, Any]

BENCHMARK = "mmdu"
NAMES = {"benchmark": BENCHMARK, "instruction": f"{BENCHMARK}-instruct"}
TABLES = ("releases", *RELEASE_TABLES)
"""Tables that hold every release there ever was."""

WHEN_APPROVED = when_changed(dg.AssetSelection.assets(approved.key), SHARDS)
"""Follow approvals: what they were generated from was decided on with them."""


class Frozen(NamedTuple):
    """What a run froze: rows by table, and by name the release in force and why it is not a new one."""

    tables: dict[str, pa.Table]
    current: dict[str, str]
    kept: dict[str, str]


@table_asset(
    "release.releases",
    settings=ReleaseSettings,
    side_tables=[*(f"release.{name}" for name in TABLES[1:]), "release.current"],
    deps=[approved, questions, answers, entries],
    automation_condition=WHEN_APPROVED,
)
def releases(
    context: dg.AssetExecutionContext,
    settings: ReleaseSettings,
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
    ledger: dg.ResourceParam[Ledger],
) -> dg.MaterializeResult:
    """Freeze what is approved: one benchmark release and one instruction-set release.

    Items name their reviewers; turns and references the call and the prompt that made them; images
    their page and attribution. A release comes into force unless another one of its name is pinned.
    """
    frozen = _freeze(context, settings, warehouse, ledger)
    details: dict[str, Any] = {name: frozen.tables[name].num_rows for name in TABLES[1:]}
    lines = table(
        ("name", "release in force", ""),
        [(code(name), code(of), frozen.kept.get(name, "")) for name, of in frozen.current.items()],
    )
    details["in force"] = dg.MetadataValue.md("\n".join(lines))
    if frozen.kept:
        details["warning"] = " ".join(frozen.kept.values())
    for card in map(card_of, frozen.tables["releases"].to_pylist()):
        details[f"card of {card['name']}"] = dg.MetadataValue.md(card_markdown(card))
    for name in TABLES[1:]:
        details[f"preview of {name}"] = dg.MetadataValue.md(
            preview(frozen.tables[name], image_store)
        )
    shown = report(frozen.tables["releases"], details)
    return dg.MaterializeResult(
        metadata=shown.metadata, data_version=version_of_releases(warehouse)
    )


def _freeze(
    context: dg.AssetExecutionContext,
    settings: ReleaseSettings,
    warehouse: Warehouse,
    ledger: Ledger,
) -> Frozen:
    """Write every release. Raises dg.Failure, and changes nothing, if no dialogue is approved."""
    require_whole_sets(warehouse)
    require_pinnable(warehouse, settings.pinned)
    approved_of = {kind: _approved(warehouse, kind) for kind in NAMES}
    if not any(approved_of.values()):
        raise dg.Failure(
            "No dialogue is approved, so nothing is frozen and the releases in force stay as they are: "
            "decide on dialogues in review, or let review.approved require less.",
            allow_retries=False,
        )
    before = in_force(warehouse)
    origins = warehouse.read("release/origins").to_pylist()
    providers = ", ".join(sorted({origin["provider"] for origin in origins}))
    by_question, sources = _origins(origins), _sources(warehouse)
    common = circumstances(context.instance, warehouse)
    reviewed = _reviewed(warehouse)
    rows: dict[str, list[Row]] = {name: [] for name in TABLES}
    made: dict[str, str] = {}
    for kind, name in NAMES.items():
        if not approved_of[kind]:
            continue
        release = build_release(name, approved_of[kind], reviewed, *by_question, sources)
        made[name] = release.release_id
        for of, new in release.rows.items():
            rows[of] += new
        made_with = {**common, **prompts_and_writers(release, warehouse, ledger)}
        edition = Edition(BENCHMARK if kind == "benchmark" else None)
        rows["releases"].append(
            new_card(release, name, edition, reviewed, providers, before.get(name), made_with)
        )
    rows["releases"] = first_cards(warehouse, rows["releases"])
    tables = {name: rows_to_arrow(f"release.{name}", rows[name]) for name in TABLES}
    current = {**made, **settings.pinned}
    where = {"release_id": list(made.values())}
    warehouse.replace_all(
        [
            *(Write(f"release.{name}", of, where) for name, of in tables.items()),
            write_in_force(current),
        ]
    )
    kept = _why_kept(settings, before, made)
    for why in kept.values():
        context.log.warning(why)
    return Frozen(tables, {**before, **current}, kept)


def _why_kept(
    settings: ReleaseSettings, before: dict[str, str], made: dict[str, str]
) -> dict[str, str]:
    """By name, why the release in force is not the one that was frozen now."""
    kept = {}
    for kind, name in NAMES.items():
        if name not in made:
            stays = f"{before[name]} stays in force" if name in before else f"there is no {name}"
            kept[name] = f"No dialogue of kind {kind} is approved: {stays}."
    for name, pinned in settings.pinned.items():
        if name not in made:
            kept[name] = f"{pinned} is pinned."
        elif made[name] != pinned:
            kept[name] = f"{pinned} is pinned: {made[name]} is frozen, but not in force."
    return kept


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


def _origins(rows: list[Row]) -> tuple[dict[str, Origin], dict[str, Origin]]:
    """Origins of questions and of answers, by question id."""
    made = [
        {
            row["question_id"]: Origin(row[f"{text}_call_key"], row[f"{text}_prompt_version"])
            for row in rows
        }
        for text in ("question", "answer")
    ]
    return made[0], made[1]


def _sources(warehouse: Warehouse) -> dict[tuple[str, str], Row]:
    return {
        (row.pop("set_id"), row.pop("image_id")): row
        for row in warehouse.read("release/sources").to_pylist()
    }
