"""Dagster observations of people's decisions in the review store.

The data version of `review/decisions` is a hash of all decisions, so assets that read the review store
are stale after a decision.
"""

from contextlib import closing

import dagster as dg

from assets.common.dagster_internals import DATA_VERSION_TAG
from assets.review import decisions
from resources.files.home import review_path
from resources.review.store import ReviewStore


def observation_of_decisions(store: ReviewStore) -> dg.AssetObservation:
    """Build the observation of `review/decisions`; its data version is a hash of all decisions."""
    n_decisions, fingerprint = store.decided()
    return dg.AssetObservation(
        decisions.key,
        metadata={"items": sum(each.n for each in store.progress()), "decisions": n_decisions},
        tags={DATA_VERSION_TAG: fingerprint},
    )


def forget_materializations(instance: dg.DagsterInstance) -> None:
    """Delete the materializations of `review/decisions` that version 0.2 reported.

    Otherwise runs would use the data version of the latest materialization, not of an observation.
    """
    if instance.get_latest_materialization_event(decisions.key):
        instance.wipe_assets([decisions.key])


def observe_decisions(instance: dg.DagsterInstance) -> None:
    """Report an observation of people's decisions to Dagster. A missing review store is created."""
    forget_materializations(instance)
    with closing(ReviewStore(review_path())) as store:
        instance.report_runless_asset_event(observation_of_decisions(store))
