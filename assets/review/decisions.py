"""People's review decisions, as an observable source: people decide in the review app (`review/`)."""

import warnings

import dagster as dg

from assets.common.tables import table_spec
from assets.review.queue import queue
from resources.review.store import ReviewStore

warnings.filterwarnings("ignore", message="Function `multi_observable_source_asset` is currently")


@dg.multi_observable_source_asset(
    name="review__decisions",
    specs=[
        table_spec(
            "review.decisions",
            kinds={"sqlite"},
            deps=[queue],
            description="Decisions of people, made outside Dagster in the review store. A build "
            "observes them, and a sensor does when no item needs a decision any more. The table has "
            "the decisions that `review/approved` last read.",
        )
    ],
)
def decisions(review_store: dg.ResourceParam[ReviewStore]) -> dg.ObserveResult:
    """Observe the decisions; the data version is a hash of all of them."""
    return dg.ObserveResult(data_version=dg.DataVersion(review_store.decided().fingerprint))
