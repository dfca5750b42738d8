"""Review effort: decisions of each person, their time, and reasons to reject."""

import dagster as dg

from assets.common.tables import report, table_asset, write_rows
from assets.review.agreement import NO_DECISIONS
from assets.review.approved import approved
from assets.review.decisions import decisions
from methods.review.ratings import effort_rows
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse
from resources.web.ports import review_page


@table_asset("review.effort", deps=[approved, decisions])
def effort(
    warehouse: dg.ResourceParam[Warehouse], review_store: dg.ResourceParam[ReviewStore]
) -> dg.MaterializeResult:
    """Decisions of each person in each round: their number, median time, and reasons to reject.

    The lead's page of the review app has the forecast, disputes, locks and gold items.
    """
    items = review_store.items()
    events = review_store.decisions([item["item_id"] for item in items])
    rows = [{**row, "reasons": list(row["reasons"].items())} for row in effort_rows(items, events)]
    table = write_rows(warehouse, {"review.effort": rows})
    shown: dict[str, object] = {"lead's page": dg.MetadataValue.url(review_page("/lead"))}
    return report(table, shown if rows else {**shown, "note": NO_DECISIONS})
