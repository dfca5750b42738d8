"""Releases of approved multiple-choice items: a dev and a test split (MMBench, 3.2).

What belongs here: which items are in which split. Their rows are made by `methods/mmbench/building.py`,
their sides by `methods/mmbench/splits.py`.
"""

import json

from assets.release.built import Built, BuiltReleases, Row, sources
from methods.mmbench.building import ApprovedItem, build_split
from methods.mmbench.splits import SIDES, sides
from methods.release import Edition, Origin, ReviewPolicy
from resources.warehouse import Warehouse

BENCHMARK, LANGUAGE = "mmbench", "en"
NAMES = {side: f"{BENCHMARK}-{side}" for side in SIDES}


def built_choices(warehouse: Warehouse, reviewed: ReviewPolicy, seed: int) -> BuiltReleases:
    """One release of each split that has approved items; an item stays in the split that it was in."""
    rows = warehouse.read("release/reviewed_choices").to_pylist()
    approved = {row["item_id"]: _approved(row) for row in rows if row["status"] == "approved"}
    released = warehouse.read("release/built_splits", {"benchmark": BENCHMARK}).to_pylist()
    of_side = sides(
        {item_id: item.category for item_id, item in approved.items()},
        {row["item_id"]: row["split"] for row in released},
        seed,
    )
    by_image = sources(warehouse)
    providers = sorted({row["provider"] for row in rows})
    made, absent = [], {}
    for side, name in NAMES.items():
        items = [item for item_id, item in approved.items() if of_side[item_id] == side]
        edition = Edition(BENCHMARK, side, LANGUAGE)
        if items:
            release = build_split(name, edition, items, reviewed, by_image)
            made.append(Built(name, edition, release, providers))
        elif rows:
            absent[name] = f"No multiple-choice item of the split {side} is approved"
    return BuiltReleases(made, absent)


def _approved(row: Row) -> ApprovedItem:
    content, generated = json.loads(row["content"]), json.loads(row["generated"])
    return ApprovedItem(
        item_id=row["item_id"],
        set_id=row["set_id"],
        revision=row["revision"],
        reviewers=tuple(row["reviewers"]),
        image_ids=tuple(content["image_ids"]),
        question=content["question"],
        hint=content["hint"] or "",
        choices=tuple(content["choices"][letter] for letter in sorted(content["choices"])),
        key=content["answer"],
        category=content["category"],
        asked_by=_origin(row, content, generated, ("question", "hint")),
        answered_by=_origin(row, content, generated, ("choices", "answer")),
    )


def _origin(row: Row, content: Row, generated: Row, keys: tuple[str, ...]) -> Origin:
    """The call that made these parts of the content, if nobody changed them."""
    unedited = all(content[key] == generated[key] for key in keys)
    return Origin(row["call_key"], row["prompt_version"]) if unedited else Origin()
