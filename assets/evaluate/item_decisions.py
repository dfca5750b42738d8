"""People's decisions on flagged items of each release; imported releases are also written without the
rejected items.

Decisions on items that were built here take effect in `assets/review/approved.py`: the next release
leaves out rejected items.
"""

from collections import Counter
from typing import Any

import dagster as dg

from assets.common.automation import WHEN_EVALUATED
from assets.common.tables import report, table_asset, write_rows
from assets.evaluate.item_queue import flagged_in_queue, flags_of_current, item_queue
from assets.evaluate.released import items_of
from assets.release.published import write_imported
from assets.review import approved, decisions
from methods.ids import canonical_json
from methods.release_card import edition_of
from methods.review import by_item
from methods.review.flagged_items import (
    FLAGGED,
    decision_in_words,
    decision_of,
    flagged_queue_item,
    released_content,
)
from resources.publishing.releases import ReleaseError, cards_of, release_meant
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse

Row = dict[str, Any]


@table_asset(
    "evaluate.item_decisions",
    deps=[item_queue, approved, decisions],
    automation_condition=WHEN_EVALUATED,
)
def item_decisions(
    warehouse: dg.ResourceParam[Warehouse], review_store: dg.ResourceParam[ReviewStore]
) -> dg.MaterializeResult:
    """Each flagged item of a current release with people's decision: keep, edit or reject."""
    rows = decisions_now(warehouse, review_store)
    table = write_rows(warehouse, {"evaluate.item_decisions": rows})
    return report(table, Counter(row["decision"] for row in rows))


def decisions_now(warehouse: Warehouse, review_store: ReviewStore) -> list[Row]:
    """Compute the rows of the table from the current queue and the current decisions.

    Args:
        warehouse: The tables.
        review_store: The decisions.
    """
    in_queue = {item["item_id"]: item for item in flagged_in_queue(warehouse)}
    decided = by_item(review_store.decisions(in_queue))
    rules = review_store.rules().rules_for(FLAGGED)
    of_people = warehouse.select("review.approved", "item_id", demanded=True)
    demanded = set(of_people["item_id"].to_pylist())
    flags: dict[tuple[str, str, str], list[str]] = {}
    for row in (row for rows in flags_of_current(warehouse).values() for row in rows):
        key = (row["benchmark"], row["release_id"], row["item_id"])
        flags.setdefault(key, []).append(row["flag"])
    contents = {
        (release_id, item.item_id): released_content(item)
        for release_id in {release_id for _, release_id, _ in flags}
        for item in items_of(warehouse, release_id)
    }
    rows: list[Row] = []
    for (benchmark, release_id, item_id), of_item in flags.items():
        content = contents.get((release_id, item_id))
        if (
            content is None
            or (item := flagged_queue_item(item_id, content))["item_id"] not in in_queue
        ):
            continue
        verdict = decision_in_words(item, decided[item["item_id"]], item_id in demanded, rules)
        rows.append(
            {
                "benchmark": benchmark,
                "release_id": release_id,
                "item_id": item_id,
                "review_item_id": item["item_id"],
                "flags": list(dict.fromkeys(of_item)),
                "decision": decision_of(item, verdict),
                "reason": verdict.reason if verdict else None,
                "reviewers": list(verdict.reviewers) if verdict else [],
                "content": canonical_json(verdict.content if verdict else content),
            }
        )
    return rows


CLEANED_SUFFIX = "-cleaned"


def write_cleaned(warehouse: Warehouse, review_store: ReviewStore, reference: str) -> str:
    """Write a copy of an imported release without the items that people rejected.

    The new release is named `<name>-cleaned`. The old one stays current, too.

    Args:
        warehouse: The tables.
        review_store: The decisions.
        reference: The id or name of the release, or the beginning of its id.

    Returns:
        The id of the new release.

    Raises:
        ReleaseError: Nothing was rejected, or nothing would be left.
    """
    release_id = release_meant(warehouse, reference)
    (card,) = cards_of(warehouse, [release_id])
    if card["origin"] != "imported":
        raise ReleaseError(
            f"{release_id} was built here: the next release of {card['name']} leaves out what people "
            "rejected."
        )
    rejected = {
        row["item_id"]
        for row in decisions_now(warehouse, review_store)
        if (row["release_id"], row["decision"]) == (release_id, "reject")
    }
    items = items_of(warehouse, release_id)
    remaining = [item for item in items if item.item_id not in rejected]
    if not rejected:
        raise ReleaseError(
            f"People have rejected no flagged item of {release_id}, or it is not current: there is "
            "nothing to leave out."
        )
    if not remaining:
        raise ReleaseError(
            f"People have rejected every item of {release_id}: nothing would be left."
        )
    source = {"cleaned from": release_id, "items left out": str(len(rejected))}
    name = f"{card['name'].removesuffix(CLEANED_SUFFIX)}{CLEANED_SUFFIX}"
    return write_imported(warehouse, name, edition_of(card), remaining, source)
