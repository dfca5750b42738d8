"""Building the release of three-turn conversations (ConvBench, 3)."""

from assets.release.built import BuiltRelease, BuiltReleases, Licences, Row, origin, picture_sources
from methods.convbench.building import (
    ANSWER,
    CAPTION,
    CAPTIONED_TURN,
    ApprovedConversation,
    ApprovedTurn,
    TextWithOrigin,
    build_conversations,
)
from methods.convbench.drafting import CAPABILITIES, LANGUAGE
from methods.json_text import from_json
from methods.release import Edition, ReviewPolicy
from resources.warehouse import Warehouse

NAME = "convbench"


def built_three_turns(
    warehouse: Warehouse, reviewed: ReviewPolicy, licences: Licences
) -> BuiltReleases:
    """Build one release of all approved conversations.

    Args:
        warehouse: The tables.
        reviewed: The review policy.
        licences: The licences that leave items out.
    """
    rows = warehouse.read("release/reviewed_three_turns").to_pylist()
    items = [_approved(row) for row in rows if row["status"] == "approved"]
    if not items:
        return BuiltReleases([], {NAME: "No conversation of ConvBench is approved"} if rows else {})
    by_image = picture_sources(warehouse)
    items = licences.allowed(NAME, items, lambda item: [by_image[item.image_id]])
    if not items:
        return BuiltReleases([], {NAME: licences.none_left(NAME)})
    edition = Edition(NAME, None, LANGUAGE)
    release = build_conversations(NAME, edition, items, reviewed, by_image)
    providers = sorted({row["provider"] for row in rows})
    return BuiltReleases([BuiltRelease(NAME, edition, release, providers)], {})


def _approved(row: Row) -> ApprovedConversation:
    content, generated = from_json(row["content"]), from_json(row["generated"])
    calls = {(call["turn"], call["kind"]): call for call in row["calls"]}

    def turn(number: int, name: str) -> ApprovedTurn:
        approved, original = content[name], generated[name]
        return ApprovedTurn(
            _written(row, approved["question"], original["question"]),
            _written(calls[number, ANSWER], approved["reference"], original["reference"]),
            approved["category"],
        )

    first, second, third = (turn(number, name) for number, name in enumerate(CAPABILITIES, start=1))
    of_caption = calls[CAPTIONED_TURN, CAPTION]
    focus, made_focus = (texts[CAPABILITIES[-1]]["focus"] for texts in (content, generated))
    return ApprovedConversation(
        item_id=row["item_id"],
        image_id=row["image_id"],
        revision=row["revision"],
        reviewers=tuple(row["reviewers"]),
        turns=(first, second, third),
        caption=_written(of_caption, content["caption"], generated["caption"]),
        focus=_written(row, focus, made_focus),
    )


def _written(call: Row, text: str, generated: str) -> TextWithOrigin:
    return TextWithOrigin(text, origin(call, text, generated))
