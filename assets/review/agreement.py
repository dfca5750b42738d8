"""Inter-annotator agreement: kappas, Krippendorff's alpha and correlations of people's decisions."""

import dagster as dg
from pydantic import Field

from assets.common.previews import MOST_ROWS, preview
from assets.common.settings import AssetConfig
from assets.common.tables import report, table_asset, write_rows
from assets.review.approved import approved
from assets.review.decisions import decisions
from methods.review.agreement import people_rows
from methods.review.ratings import ratings_of
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse

NO_DECISIONS = "Nobody has decided anything on what the queue says now."
NO_PAIRS = (
    "No item was decided by two people who did not see each other's work, so there is no "
    "agreement among people to measure: set `annotators: 2` in review.yaml."
)


class AgreementSettings(AssetConfig):
    """Settings of agreement: the bootstrap's seed, so that equal decisions give equal intervals."""

    seed: int = Field(0, description="Seed of the bootstrap.")


@table_asset("review.agreement", kinds={"scipy"}, deps=[approved, decisions])
def agreement(
    config: AgreementSettings,
    warehouse: dg.ResourceParam[Warehouse],
    review_store: dg.ResourceParam[ReviewStore],
) -> dg.MaterializeResult:
    """Kappas, alpha and correlations with 95 % intervals, for each two people and for all people.

    Only decisions of round 1 are compared, because they are blind, and only decisions on the current
    content of the queue.
    """
    items = review_store.items()
    events = review_store.decisions([item["item_id"] for item in items])
    ratings = ratings_of(items, events, review_store.rules())
    rows = people_rows(ratings, seed=config.seed)
    table = write_rows(warehouse, {"review.agreement": rows})
    shown: dict[str, object] = {"agreement": dg.MetadataValue.md(preview(table, n_rows=MOST_ROWS))}
    if not rows:
        shown["note"] = NO_DECISIONS
    elif not any(row["n_items"] for row in rows if row["raters"] == "all"):
        shown["note"] = NO_PAIRS
    return report(table, {"decided by": len({rating.rater for rating in ratings}), **shown})
