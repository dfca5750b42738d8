"""Building the release of multi-image questions (MMIU)."""

from assets.release.built import BuiltRelease, BuiltReleases, Licences, Row
from methods.json_text import from_json
from methods.mmiu.building import ApprovedQuestion, build_questions
from methods.release import Edition, Origin, ReviewPolicy
from resources.warehouse import Warehouse

NAME = "mmiu"
RULE = "rule"
"""Stands for the provider of a release whose texts were all made by rule."""


def built_questions(
    warehouse: Warehouse, reviewed: ReviewPolicy, licences: Licences
) -> BuiltReleases:
    """Build one release of all approved questions, answerable or not.

    Args:
        warehouse: The tables.
        reviewed: The review policy.
        licences: The licences that leave items out.
    """
    rows = warehouse.read("release/reviewed_mmiu").to_pylist()
    items = [_approved(row) for row in rows if row["status"] == "approved"]
    if not items:
        return BuiltReleases([], {NAME: "No question of MMIU is approved"} if rows else {})
    sources = {
        row.pop("image_id"): row for row in warehouse.read("release/mmiu_sources").to_pylist()
    }
    items = licences.allowed(
        NAME, items, lambda item: [sources[image_id] for image_id in item.image_ids]
    )
    if not items:
        return BuiltReleases([], {NAME: licences.none_left(NAME)})
    edition = Edition(NAME)
    release = build_questions(NAME, edition, items, reviewed, sources)
    providers = sorted({row["provider"] for row in rows if row["provider"]}) or [RULE]
    return BuiltReleases([BuiltRelease(NAME, edition, release, providers)], {})


def _approved(row: Row) -> ApprovedQuestion:
    content, generated = from_json(row["content"]), from_json(row["generated"])
    unedited = content["choices"] == generated["choices"]
    return ApprovedQuestion(
        item_id=row["item_id"],
        group_id=row["group_id"],
        revision=row["revision"],
        reviewers=tuple(row["reviewers"]),
        image_ids=tuple(content["image_ids"]),
        question=content["question"],
        hint=content["hint"] or "",
        choices=tuple(content["choices"][letter] for letter in sorted(content["choices"])),
        key=content["answer"],
        category=content["category"],
        strategy=row["strategy"],
        # The call only wrote the wrong choices; the question is from the sample.
        answered_by=Origin(row["call_key"], row["prompt_version"]) if unedited else Origin(),
    )
