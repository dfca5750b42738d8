"""The Dagster definitions of critics: the pairs, and the check of their split."""

from collections import Counter

import dagster as dg

from dagster_project.check_results import N_SHOWN, asset_check, result
from extras.critic.assets.critic_export import shared_by_splits
from extras.critic.assets.critic_pairs import critic_pairs
from methods.naming import listed
from resources.warehouse import Warehouse


@asset_check(
    asset=dg.AssetKey(["evaluate", "critic_pairs"]),
    name="not_contaminated",
    blocking=True,
    description="No group, image, question or nearly the same question is in both splits.",
)
def critic_check(warehouse: dg.ResourceParam[Warehouse]) -> dg.AssetCheckResult:
    """Check that the training and the test split of a critic share no content."""
    overlaps = shared_by_splits(warehouse.read("evaluate/critic_pairs").to_pylist())
    first = [f"{overlap.kind}: {overlap.what}"[:200] for overlap in overlaps]
    wrong = (
        f"evaluate.critic_pairs has in both splits {listed(first, 3)}: materialize "
        "evaluate/critic_pairs again."
    )
    return result(
        wrong if overlaps else None,
        {**Counter(overlap.kind for overlap in overlaps), "first of them": first[:N_SHOWN]},
    )


ASSETS = [critic_pairs]
CHECKS = [critic_check]
