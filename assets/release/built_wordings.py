"""Building the release of open questions in several wordings, and of dialogues (AlignMMBench, 3.2)."""

from collections import Counter

from assets.release.built import BuiltRelease, BuiltReleases, Licences, Row, origin, picture_sources
from methods.alignmmbench.building import ApprovedExchange, ApprovedWording, build_wordings
from methods.json_text import from_json
from methods.release import Edition, Origin, ReviewPolicy
from resources.warehouse import Warehouse

NAME = "alignmmbench"
DIALOGUE, REWRITE = "dialogue", "rewrite"


def built_wordings(
    warehouse: Warehouse, reviewed: ReviewPolicy, licences: Licences
) -> BuiltReleases:
    """Build one release of all approved seeds, their approved rewrites, and the approved dialogues.

    If a seed is not approved, its rewrites are left out and counted.

    Args:
        warehouse: The tables.
        reviewed: The review policy.
        licences: The licences that leave items out.
    """
    rows = warehouse.read("release/reviewed_seeds").to_pylist()
    approved = [row for row in rows if row["status"] == "approved"]
    seeds = {row["group_id"]: row for row in approved if row["kind"] not in (DIALOGUE, REWRITE)}
    items, left_out = [], 0
    for row in approved:
        if row["kind"] == DIALOGUE:
            items.append(_dialogue(row))
        elif row["group_id"] in seeds:
            items.append(_wording(row, seeds[row["group_id"]]))
        else:
            left_out += 1
    counts = {"rewrites of seeds that are not approved": left_out} if left_out else {}
    if not items:
        why = {NAME: "No question of AlignMMBench is approved"} if rows else {}
        return BuiltReleases([], why, counts)
    by_image = picture_sources(warehouse)
    items = licences.allowed(NAME, items, lambda item: [by_image[item.image_id]])
    if not items:
        return BuiltReleases([], {NAME: licences.none_left(NAME)}, counts)
    languages = Counter(item.language for item in items)
    # Seeds and dialogues may be drafted in different languages; then only the labels name them.
    edition = Edition(NAME, None, next(iter(languages)) if len(languages) == 1 else None)
    release = build_wordings(NAME, edition, items, reviewed, by_image)
    providers = sorted({row["provider"] for row in rows})
    return BuiltReleases([BuiltRelease(NAME, edition, release, providers)], {}, counts)


def _wording(row: Row, seed: Row) -> ApprovedWording:
    """Return the item of a seed (`row` is `seed`), or of a rewrite with the reference of its seed."""
    content, of_seed = from_json(row["content"]), from_json(seed["content"])
    text = "rewrite" if row["kind"] == REWRITE else "question"
    turn = ApprovedExchange(
        content[text],
        of_seed["reference"],
        origin(row, content[text], from_json(row["generated"])[text]),
        origin(seed, of_seed["reference"], from_json(seed["generated"])["reference"]),
    )
    people = tuple(sorted({*row["reviewers"], *seed["reviewers"]}))
    return _approved(row, of_seed["image_ids"][0], people, (turn,))


def _dialogue(row: Row) -> ApprovedWording:
    content = from_json(row["content"])
    generated = from_json(row["generated"])["turns"]
    questions = {turn["question"] for turn in generated}
    answers = {turn["answer"] for turn in generated}
    made_by = origin(row, None, None)
    turns = tuple(
        ApprovedExchange(
            turn["question"],
            turn["answer"],
            made_by if turn["question"] in questions else Origin(),
            made_by if turn["answer"] in answers else Origin(),
        )
        for turn in content["turns"]
    )
    return _approved(row, content["image_ids"][0], tuple(row["reviewers"]), turns)


def _approved(
    row: Row, image_id: str, reviewers: tuple[str, ...], turns: tuple[ApprovedExchange, ...]
) -> ApprovedWording:
    return ApprovedWording(
        group_id=row["group_id"],
        place=row["part"],
        image_id=image_id,
        task=row["task"],
        language=row["language"],
        revision=row["revision"],
        reviewers=reviewers,
        turns=turns,
    )
