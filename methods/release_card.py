"""Dataset cards: provenance of a release (settings, prompts, models, corpus), as JSON and Markdown."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from methods.ids import canonical_json
from methods.json_text import from_json
from methods.licences.terms import TERMS, shares
from methods.markdown import code, table
from methods.naming import number_of
from methods.quality.outcome import (
    EDITED,
    LEFT_OUT_OF,
    OUTCOMES,
    REASONS,
    SHARED,
    UNCHECKED,
    UNGROUNDED,
)
from methods.release import Edition, held_out

Card = Mapping[str, Any]
"""A row of `release.releases` whose JSON columns are parsed. Unknown values are left out."""

UNKNOWN = "unknown"
MOST_LICENCES = 10
"""The number of licences, the most frequent ones, that a card lists."""
BROKEN = "Items left out for a broken image"
TAU = "cluster.clusters.tau"
_EDITION = ("benchmark", "split", "language", "origin")
CHOICE_STAGE = "choice."
"""Prefix of the tables whose seeds decide the position of the right choice. These seeds are secret."""
_MADE_BY = (
    *("parent", "settings", "prompt_versions", "writers", "corpus", "project_version"),
    *("quality", "licences"),
)
_MAY_BE_NULL = (*_EDITION, *_MADE_BY)
"""Columns that are NULL if they are unknown, as for releases of earlier versions."""
_JSON = ("settings", "quality", "licences")
"""Columns with JSON texts."""
_VALUES = {
    "kind": ("benchmark", "instruction"),
    "origin": ("built", "imported"),
    "review_policy": ("none", "sample", "all"),
}
"""Columns with few possible values, and these."""
_VERSION = re.compile(r"[\w.+-]{1,100}")
"""A version of the project, such as "0.2.0+3"."""
_FILES = {
    "images/": "the images of its items",
    "attribution.csv": "source, licence and author of each image",
    "card.json": "this card for programs",
    "tables.json": "the rows of the release, for `vlm-loom release import`",
}
RELEASES, HELD_OUT_SETTING = "release.releases", "held_out"
"""The table and the name of the setting that holds out the answers of an imported release."""
BROKEN_IMAGES = "broken_images"
"""The name of the setting that counts items left out at import for an unusable image, by reason."""
_HELD_OUT = {"tables.json": "the rows of the release, without its answers"}


def card_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Make the card of a row of `release.releases`, without unknown values and defaults."""
    implied = _implied(row)
    card = {
        name: row[name]
        for name in row
        if not (name in _MAY_BE_NULL and row[name] == implied.get(name))
    }
    for name in _JSON:
        if isinstance(card.get(name), str):
            card[name] = from_json(card[name])
    return card


def row_of(card: Card) -> dict[str, Any]:
    """Make a row of `release.releases` from a card.

    Raises ValueError if a field has the wrong type: the time of creation, a list of texts, the settings
    by table, the version of the project, or the counts of checks and licences; or if its kind, origin,
    review policy or share of reviewed items has no possible value.
    """
    datetime.fromisoformat(card["created_at"])
    for name in ("prompt_versions", "writers"):
        texts = card.get(name)
        if texts is not None and not (
            isinstance(texts, list) and all(isinstance(text, str) for text in texts)
        ):
            raise ValueError(f"{name} is no list of texts")
    settings = card.get("settings")
    if settings is not None and not (
        isinstance(settings, dict) and all(isinstance(group, dict) for group in settings.values())
    ):
        raise ValueError("settings are not by table")
    _require_types(settings_of(card))
    version = card.get("project_version")
    if version is not None and not (isinstance(version, str) and _VERSION.fullmatch(version)):
        raise ValueError("project_version is not a version")
    quality = card.get("quality")
    if quality is not None and not (
        isinstance(quality, dict) and all(type(count) is int for count in quality.values())
    ):
        raise ValueError("quality has no counts")
    licences = card.get("licences")
    if licences is not None and not (
        isinstance(licences, dict)
        and set(licences) == {"images", "left_out"}
        and all(isinstance(counts, dict) for counts in licences.values())
        and all(type(n) is int for counts in licences.values() for n in counts.values())
    ):
        raise ValueError("licences has no counts")
    texts = {name: None if card.get(name) is None else canonical_json(card[name]) for name in _JSON}
    row = {**_implied(card), **card, **texts}
    for name, values in _VALUES.items():
        if row[name] not in values:
            raise ValueError(f"{name} is not one of {', '.join(values)}")
    if not 0 <= row["review_share"] <= 1:
        raise ValueError("review_share is not from 0 to 1")
    return row


def _require_types(settings: Mapping[str, Any]) -> None:
    """Raise ValueError if a setting that the program uses has a value of the wrong type."""
    tau = settings.get(TAU)
    if not (tau is None or type(tau) in (int, float)):
        raise ValueError(f"{TAU} is not a number")
    held_out = settings.get(f"{RELEASES}.{HELD_OUT_SETTING}", False)
    if not isinstance(held_out, bool):
        raise ValueError(f"{RELEASES}.{HELD_OUT_SETTING} is neither true nor false")
    broken = settings.get(f"{RELEASES}.{BROKEN_IMAGES}", {})
    if not (isinstance(broken, dict) and all(type(n) is int for n in broken.values())):
        raise ValueError(f"{RELEASES}.{BROKEN_IMAGES} is no counts")


def _implied(card: Card) -> dict[str, Any]:
    """The edition of cards of earlier versions, which do not state it.

    In these versions every benchmark was built, and a release had the name of its benchmark.
    """
    benchmark = card.get("name") if card.get("kind") == "benchmark" else None
    return {"benchmark": benchmark, "origin": "built"}


def exported_card(card: Card) -> Card:
    """Remove the seeds that decide the positions of right choices from a card before its export."""
    settings = {
        table: {name: value for name, value in values.items() if name != "seed"}
        if table.startswith(CHOICE_STAGE)
        else values
        for table, values in (card.get("settings") or {}).items()
    }
    return {**card, "settings": settings} if settings else card


def settings_of(card: Card) -> dict[str, Any]:
    """List the settings on a card as `stage.asset.field`; first tau, the most important one."""
    flat = {
        f"{table}.{field}": value
        for table, values in (card.get("settings") or {}).items()
        for field, value in values.items()
    }
    return {name: flat[name] for name in sorted(flat, key=lambda name: (name != TAU, name))}


def benchmark_of(card: Card) -> str | None:
    """Return the name of a release's benchmark; None for instruction sets."""
    return card.get("benchmark") or _implied(card)["benchmark"]


def edition_of(card: Card) -> Edition:
    """Return the edition of a release."""
    settings = card.get("settings") or {}
    if isinstance(settings, str):
        settings = from_json(settings)
    return Edition(
        benchmark_of(card),
        card.get("split"),
        card.get("language"),
        card.get("origin", "built"),
        bool(settings.get(RELEASES, {}).get(HELD_OUT_SETTING)),
    )


def edition_in_words(card: Card) -> str:
    """Write the benchmark of a release, with its split and language if they are known."""
    parts = [f"{part} {card[part]}" for part in ("split", "language") if card.get(part)]
    return ", ".join([benchmark_of(card) or "none", *parts])


def reviewed_by(card: Card) -> str:
    """Write the review policy, with the share of a sample."""
    if card["review_policy"] == "sample":
        return f"sample ({100 * card['review_share']:g} %)"
    return str(card["review_policy"])


def facts(card: Card) -> list[tuple[str, str]]:
    """List the facts of a card as (name, value), in display order."""
    tau = settings_of(card).get(TAU)
    return [
        ("Name", card["name"]),
        ("Kind", card["kind"]),
        ("Benchmark", edition_in_words(card)),
        ("Origin", card.get("origin", "built")),
        ("Dialogues" if card["n_turns"] > card["n_items"] else "Items", str(card["n_items"])),
        ("Turns", str(card["n_turns"])),
        ("Images", str(card["n_images"])),
        ("Made", card["created_at"]),
        # A card with settings but no parent belongs to the first release of its name.
        ("Parent", card.get("parent") or ("none" if "settings" in card else UNKNOWN)),
        ("tau", UNKNOWN if tau is None else f"{tau:g}"),
        ("Review policy", reviewed_by(card)),
        ("Written by", _listed(card.get("writers"))),
        *_edited(card),
        ("Provider", card["provider"] or UNKNOWN),
        *_quality(card),
        *_left_out(card, "Left out by the checks", ""),
        *_left_out(card, "Left out as shared", SHARED),
        *_broken_images(card),
        *_licences(card),
        ("Prompts", _listed(card.get("prompt_versions"))),
        ("Corpus", _listed([shard["wit_shard"] for shard in card.get("corpus") or []])),
        ("vlm-loom", card.get("project_version") or UNKNOWN),
    ]


def _edited(card: Card) -> list[tuple[str, str]]:
    """The number of pairs that people edited; empty if there are none."""
    n_edited = (card.get("quality") or {}).get(EDITED)
    return [("Edited by", f"people, {number_of(n_edited, 'pair')}")] if n_edited else []


def _quality(card: Card) -> list[tuple[str, str]]:
    """Shares of pairs by the outcome of the quality checks, and findings; empty without checks."""
    counted = card.get("quality") or {}
    n_pairs = sum(counted.get(outcome, 0) for outcome in (*OUTCOMES, UNCHECKED))
    if not n_pairs:
        return []
    shares = [
        _share(outcome, n, n_pairs)
        for outcome in (*OUTCOMES, UNCHECKED)
        if (n := counted.get(outcome, 0)) or outcome != UNCHECKED
    ]
    reasons = [f"{reason} {counted[reason]}" for reason in REASONS if counted.get(reason)]
    unread = [
        f"{reason} {n}"
        for reason in (*REASONS, UNGROUNDED)
        if (n := counted.get(f"{UNCHECKED}_{reason}"))
    ]
    return [
        ("Checks of pairs", ", ".join(shares)),
        ("Found by the checks", ", ".join(reasons) or "nothing"),
        *([("Found by rules in unchecked pairs", ", ".join(unread))] if unread else []),
    ]


def _left_out(card: Card, name: str, kind: str) -> list[tuple[str, str]]:
    """The number of pairs and dialogues that were left out, from the counts with the prefix `kind`."""
    counted = card.get("quality") or {}
    parts = [f"{what} {n}" for key, what in LEFT_OUT_OF.items() if (n := counted.get(kind + key))]
    return [(name, ", ".join(parts))] if parts else []


def _broken_images(card: Card) -> list[tuple[str, str]]:
    """The number of items that were left out at import for a broken image, by reason."""
    counted = settings_of(card).get(f"{RELEASES}.{BROKEN_IMAGES}")
    if not isinstance(counted, dict):
        return []
    return [(BROKEN, ", ".join(f"{reason} {n}" for reason, n in sorted(counted.items())))]


def _licences(card: Card) -> list[tuple[str, str]]:
    """Shares of images by licence and by term, and the number of items left out for a licence."""
    counted = card.get("licences")
    if not counted:
        return []
    images: Mapping[str, int] = counted["images"]
    ordered = sorted(images.items(), key=lambda pair: (-pair[1], pair[0]))
    named = [_share(licence, n, card["n_images"]) for licence, n in ordered[:MOST_LICENCES]]
    if len(ordered) > MOST_LICENCES:
        named.append(f"and {len(ordered) - MOST_LICENCES} more")
    facts = [
        ("Licences", ", ".join(named) or "no images"),
        ("Terms", ", ".join(_share(*share, card["n_images"]) for share in shares(images).items())),
    ]
    left_out = [f"{term} {n}" for term in TERMS if (n := counted["left_out"].get(term))]
    return [*facts, ("Items left out for a licence", ", ".join(left_out))] if left_out else facts


def _share(name: str, n: int, total: int) -> str:
    return f"{name} {100 * n / max(total, 1):.1f} % ({n})"


def card_markdown(card: Card) -> str:
    """Write the card as Markdown. Texts from outside, such as names of shards, are quoted as code."""
    lines = [f"# Release {card['release_id']}", ""]
    lines += table(("", ""), [(name, code(value)) for name, value in facts(card)])
    if card.get("corpus"):
        lines += ["", "## Corpus", ""]
        lines += table(
            ("shard", "content"),
            [(code(shard["wit_shard"]), code(shard["fingerprint"])) for shard in card["corpus"]],
        )
    settings = settings_of(card)
    if settings:
        lines += ["", "## Settings", ""]
        lines += table(
            ("setting", "value"),
            [(code(name), code(canonical_json(value))) for name, value in settings.items()],
        )
    return "\n".join(lines) + "\n"


def readme(card: Card, published: Mapping[str, str]) -> str:
    """Write `README.md` of a release's folder: the card, and a list of the files.

    Args:
        card: The card of the release.
        published: A description of each file in a published format, by file name.
    """
    without_answers = held_out(edition_of(card))
    files = {**published, **_FILES, **(_HELD_OUT if without_answers else {})}
    lines = ["", "## Files", "", *(f"- `{name}`: {what}" for name, what in files.items()), ""]
    closing = (
        "The id is a hash of items, images, reviewers and review policy. Each image has a licence "
        "of its own."
    )
    if without_answers:
        closing += " The answers of this split are held out: no file here has them."
    return "\n".join([card_markdown(card).rstrip("\n"), *lines, closing]) + "\n"


def _listed(values: Sequence[str] | None) -> str:
    return ", ".join(values) if values else UNKNOWN
