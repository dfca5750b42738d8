"""Releases of approved dialogues: a benchmark and an instruction set (MMDU, 2).

What belongs here: which dialogues are in which release, the instruction set without the pairs that the
checks drop. Their rows are made by `methods/release.py`.
"""

from assets.release.built import Built, BuiltReleases, Licences, Row, sources
from assets.release.quality import checked, found_by_checks
from methods.json_text import from_json
from methods.release import ApprovedDialogue, Edition, Origin, ReviewPolicy, build_release
from resources.warehouse import Warehouse

BENCHMARK = "mmdu"
NAMES = {"benchmark": BENCHMARK, "instruction": f"{BENCHMARK}-instruct"}


def built_dialogues(
    warehouse: Warehouse, reviewed: ReviewPolicy, licences: Licences
) -> BuiltReleases:
    """One release of each kind of which dialogues are approved."""
    origins = warehouse.read("release/origins").to_pylist()
    providers = sorted({origin["provider"] for origin in origins})
    by_question, by_image = _origins(origins), sources(warehouse)
    found = found_by_checks(warehouse)
    made, absent = [], {}
    counts: dict[str, int] = {}
    for kind, name in NAMES.items():
        approved = _approved(warehouse, kind)
        if not approved:
            absent[name] = f"No dialogue of kind {kind} is approved"
            continue
        approved = licences.allowed(
            name,
            approved,
            lambda one: [by_image[one.set_id, image_id] for image_id in one.image_ids],
            kind,
        )
        if not approved:
            absent[name] = licences.none_left(name)
            continue
        dialogues, of_checks = checked(approved, found, leave_out=kind == "instruction")
        counts |= {f"{name}, checks: {what}": n for what, n in of_checks.items()}
        if not dialogues:
            absent[name] = f"The checks leave no dialogue of kind {kind}"
            continue
        release = build_release(name, dialogues, reviewed, *by_question, by_image)
        edition = Edition(BENCHMARK if kind == "benchmark" else None)
        made.append(Built(name, edition, release, providers, of_checks))
    return BuiltReleases(made, absent, counts)


def _approved(warehouse: Warehouse, kind: str) -> list[ApprovedDialogue]:
    dialogues = []
    for row in warehouse.read("release/approved_dialogues", {"kind": kind}).to_pylist():
        content = from_json(row["content"])
        dialogues.append(
            ApprovedDialogue(
                row["item_id"],
                row["set_id"],
                row["revision"],
                tuple(row["reviewers"]),
                tuple(content["image_ids"]),
                tuple(content["turns"]),
                tuple(from_json(row["generated"])["turns"]),
            )
        )
    return dialogues


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
