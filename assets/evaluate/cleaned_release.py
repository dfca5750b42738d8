"""An imported release without the items that people rejected, as a release of its own.

What belongs here: what is left out, and the name of what is left. What was built here needs none of
this: its next release leaves out what was rejected.
"""

from assets.evaluate.item_decisions import decisions_now
from assets.evaluate.released import items_of
from assets.release.published import write_imported
from methods.release_card import edition_of
from resources.publishing.releases import ReleaseError, cards_of, release_meant
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse

CLEANED = "-cleaned"


def write_cleaned(warehouse: Warehouse, review_store: ReviewStore, said: str) -> str:
    """Write the release that `said` means without what people rejected; the new one's id.

    It has the name with `-cleaned` after it, and both are in force. Raises ReleaseError where there is
    nothing to leave out, or nothing would be left.
    """
    release_id = release_meant(warehouse, said)
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
    kept = [item for item in items if item.item_id not in rejected]
    if not rejected:
        raise ReleaseError(
            f"People have rejected no flagged item of {release_id}, or it is not in force: there is "
            "nothing to leave out."
        )
    if not kept:
        raise ReleaseError(
            f"People have rejected every item of {release_id}: nothing would be left."
        )
    source = {"cleaned from": release_id, "items left out": str(len(rejected))}
    name = f"{card['name'].removesuffix(CLEANED)}{CLEANED}"
    return write_imported(warehouse, name, edition_of(card), kept, source)
