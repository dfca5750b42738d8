"""The review queue: generated items for people to review."""

from collections import Counter
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import dagster as dg

from assets.choice import items, mmiu_items, translations
from assets.common.tables import report, table_asset, write_rows
from assets.dialogue import dialogues, turn_categories, turn_references
from assets.quality import checks
from assets.rewrite import contexts, rewrites, seed_rewrites
from methods.alignmmbench.tasks import CATEGORIES
from methods.ids import canonical_json, content_id
from methods.quality.outcome import note_of
from methods.review import QueueItem, queue_item
from methods.review.contents import content_of
from methods.review.kinds import Content
from methods.review.ratings import Rating, ratings_of
from resources.images.store import ImageStore
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse
from resources.web.ports import review_page

Row = dict[str, Any]
SHOWN_ITEMS = 10
KINDS_MADE = (
    "dialogue",
    "three_turns",
    "rewrite",
    "reference",
    "category",
    "multiple_choice",
    "translation",
)
"""Kinds of items that the project generates, reviews and releases."""


@table_asset(
    "review.queue",
    kinds={"image"},
    deps=[
        *(dialogues, turn_references, turn_categories, rewrites, seed_rewrites, contexts),
        *(items, translations, mmiu_items, checks),
    ],
)
def queue(
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
    review_store: dg.ResourceParam[ReviewStore],
) -> dg.MaterializeResult:
    """All generated items that people review, each with the hash of its exact content: dialogues,
    conversations of three turns, questions with references and tasks, rewrites, multiple-choice items
    and translations.

    Dialogues that the quality checks flagged come first; reviewers see the findings next to each pair
    of question and answer.
    """
    rows = []
    notes = _notes_of_checks(warehouse)
    for item in warehouse.read("review/reviewable").to_pylist():
        context = {key: item[key] for key in ("page_urls", "captions", "why") if item[key]}
        if item["item_id"] in notes:
            context["checks"] = notes[item["item_id"]]
        if item["kind"] == "category":
            item["categories"] = list(CATEGORIES)
        rows.append(queue_row(item, content_of(item), canonical_json(context) if context else None))
    table = write_rows(warehouse, {"review.queue": rows})
    details = Counter(row["kind"] for row in rows)
    items = queued_items(warehouse)
    changes = review_store.update_queue(items, KINDS_MADE)
    flagged = {"with notes of the checks": len(notes)}
    links = {"open in the review app": _links(details, items[:SHOWN_ITEMS])}
    return report(table, {**details, **flagged, **changes._asdict(), **links}, images=image_store)


def _links(counts: Counter[str], first: Sequence[QueueItem]) -> dg.MarkdownMetadataValue:
    """Make links to the items of each kind, and to the first items of the queue."""
    kinds = [
        f"- [{kind}]({review_page(f'/?kind={kind}')}): {n}" for kind, n in sorted(counts.items())
    ]
    items = [
        f"- [{item['item_id']}]({review_page('/items/' + quote(item['item_id']))}) ({item['kind']})"
        for item in first
    ]
    return dg.MetadataValue.md("\n".join([*kinds, "", "First in the queue:", "", *items]))


def _notes_of_checks(warehouse: Warehouse) -> dict[str, dict[str, Row]]:
    """Read the findings of the checks, by dialogue and question, for pairs with findings."""
    notes: dict[str, dict[str, Row]] = {}
    for row in warehouse.read("quality/found").to_pylist():
        if note := note_of(row):
            notes.setdefault(row["dialogue_id"], {})[row["question_id"]] = note
    return notes


def queued_items(warehouse: Warehouse) -> list[QueueItem]:
    """Read the items of the table `review.queue`."""
    return [queue_item(row) for row in warehouse.read("review/queue").to_pylist()]


def queue_row(item: Row, content: Content, context: str | None) -> Row:
    """Make a row of the review queue or the score queue.

    Args:
        item: The item.
        content: The content that people decide on.
        context: Additional information that they see, as JSON; None for none.
    """
    return {
        **{key: item[key] for key in ("item_id", "kind", "set_id", "image_ids")},
        "content": canonical_json(content),
        "content_hash": content_id(content),
        "context": context,
    }


def ratings_by_people(review_store: ReviewStore, kind: str) -> list[Rating]:
    """Read the ratings in people's blind decisions on the items of a kind in the queue."""
    items = review_store.items([kind])
    decisions = review_store.decisions([item["item_id"] for item in items])
    return ratings_of(items, decisions, review_store.rules())
