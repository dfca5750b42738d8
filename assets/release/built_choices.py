"""Building releases of multiple-choice items: dev and test splits for each language (MMBench, 3.2)."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from assets.release.built import BuiltRelease, BuiltReleases, Licences, Row, sources
from methods.choice.contents import HINT, QUESTION, choices_of
from methods.choice.languages import LANGUAGES, SOURCE_LANGUAGE
from methods.choice.published import ApprovedItem
from methods.json_text import from_json
from methods.mmbench.building import SPLITS, build_split, split_items
from methods.release import Edition, Origin, ReviewPolicy
from resources.warehouse import Warehouse

BENCHMARK = "mmbench"
NAMES = {
    (language, split): "-".join([BENCHMARK, *([language] if language in LANGUAGES else []), split])
    for language in (SOURCE_LANGUAGE, *LANGUAGES)
    for split in SPLITS
}
"""Names of the releases, by language and split: `mmbench-dev`, `mmbench-zh-dev`. Items that are not
translated are in `mmbench-dev`, in any language. Imported releases have other names, by default such
as `mmbench-dev-zh`.
"""
ALL_NAMES = frozenset(NAMES.values())

NOT_APPROVED, ITEM_NOT_APPROVED, STALE, MISSING = (
    "not approved",
    "of items that are not approved",
    "stale",
    "missing",
)
"""Reasons why a translation is not in the releases of its language."""


def built_choices(
    warehouse: Warehouse, reviewed: ReviewPolicy, licences: Licences, seed: int
) -> BuiltReleases:
    """Build the releases of multiple-choice items, one for each split and language.

    Args:
        warehouse: The tables.
        reviewed: The review policy.
        licences: The licences that leave items out.
        seed: The seed of the splits. An item keeps its split, and has the same id in all languages.
    """
    rows = warehouse.read("release/reviewed_choices").to_pylist()
    approved = {row["item_id"]: _approved(row) for row in rows if row["status"] == "approved"}
    released = warehouse.read("release/built_splits", {"benchmark": BENCHMARK}).to_pylist()
    split_of = split_items(
        {item_id: item.category for item_id, item in approved.items()},
        {row["item_id"]: row["split"] for row in released},
        seed,
    )
    translations = warehouse.read("release/reviewed_translations").to_pylist()
    providers = sorted({row["provider"] for row in rows})
    in_languages = {SOURCE_LANGUAGE: (approved, providers)}
    language_of = {row["item_id"]: row["language"] for row in rows}
    counts: dict[str, int] = {}
    for language in sorted({row["language"] for row in translations}):
        of_language = [row for row in translations if row["language"] == language]
        translated, left_out = _translated(of_language, approved)
        writers = sorted({*providers, *(row["provider"] for row in of_language)})
        in_languages[language] = (translated, writers)
        counts |= {f"items in {language}": len(translated)}
        counts |= {f"translations to {language} {why}": n for why, n in left_out.items()}
    by_image = sources(warehouse)
    releases, absent = [], {}
    for (language, split), name in NAMES.items():
        items, writers = in_languages.get(language, ({}, []))
        in_split = [item for item_id, item in items.items() if split_of[item_id] == split]
        allowed = licences.allowed(
            name,
            in_split,
            lambda item: [by_image[item.set_id or "", image_id] for image_id in item.image_ids],
        )
        edition = Edition(BENCHMARK, split, language)
        if allowed:
            if language == SOURCE_LANGUAGE:
                written_in = {language_of[item.item_id] for item in allowed}
                edition = Edition(
                    BENCHMARK, split, written_in.pop() if len(written_in) == 1 else None
                )
            release = build_split(name, edition, allowed, reviewed, by_image)
            releases.append(BuiltRelease(name, edition, release, writers))
        elif in_split:
            absent[name] = licences.none_left(name)
        elif rows and language in in_languages:
            what = "multiple-choice item" if language == SOURCE_LANGUAGE else f"item in {language}"
            absent[name] = f"No {what} of the split {split} is approved"
    return BuiltReleases(releases, absent, counts)


def _translated(
    rows: list[Row], approved: Mapping[str, ApprovedItem]
) -> tuple[dict[str, ApprovedItem], dict[str, int]]:
    """Return approved items with approved translations of their current text, and the number of other
    items by reason.
    """
    translated: dict[str, ApprovedItem] = {}
    left_out: Counter[str] = Counter()
    for row in rows:
        if row["item_id"] not in approved:
            left_out[ITEM_NOT_APPROVED] += 1
        elif not row["same_content"]:
            left_out[STALE] += 1
        elif row["status"] != "approved":
            left_out[NOT_APPROVED] += 1
        else:
            translated[row["item_id"]] = _in_language(approved[row["item_id"]], row)
    if missing := approved.keys() - {row["item_id"] for row in rows}:
        left_out[MISSING] = len(missing)
    return translated, dict(left_out)


def _in_language(item: ApprovedItem, row: Row) -> ApprovedItem:
    """Return the item with the texts of its translation; its key, and the key's model call, stay."""
    content, generated = from_json(row["content"]), from_json(row["generated"])
    texts = content["target"]
    return replace(
        item,
        revision=row["revision"],
        reviewers=tuple(sorted({*item.reviewers, *row["reviewers"]})),
        question=texts[QUESTION],
        hint=texts.get(HINT, ""),
        choices=choices_of(texts),
        asked_by=_origin(row, content["target"], generated["target"], (QUESTION, HINT)),
    )


def _approved(row: Row) -> ApprovedItem:
    content, generated = from_json(row["content"]), from_json(row["generated"])
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
    """Return the model call that generated these parts of the content; empty if people edited them."""
    unedited = all(content.get(key) == generated.get(key) for key in keys)
    return Origin(row["call_key"], row["prompt_version"]) if unedited else Origin()
