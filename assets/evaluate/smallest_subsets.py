"""Smallest subsets (tiny benchmarks): the fewest items of a release that keep the ranking of models."""

from typing import Any

import dagster as dg
from pydantic import Field

from assets.common.isolation import Isolation
from assets.common.settings import AssetConfig
from assets.common.tables import report, table_asset, write_rows
from assets.evaluate.flagged_items import NOTHING
from assets.evaluate.observations import observations
from assets.evaluate.right_items import ItemOutcomes, right_items
from methods.benchmarks import Benchmarks
from methods.evaluation.outcomes import right_matrix
from methods.evaluation.subsets import smallest_subset
from resources.warehouse import Warehouse

Row = dict[str, Any]


class SubsetSettings(AssetConfig):
    """Settings of subsets: the rank correlation that counts as the same ranking, and resampling."""

    least_tau: float = Field(
        0.9, gt=0, le=1, description="Mean held-out tau from which on a subset keeps the ranking."
    )
    n_resamples: int = Field(100, ge=20, description="Bootstrap resamples of the models.")
    seed: int = Field(0, description="Seed of the choice among equal items, and of the resampling.")


@table_asset("evaluate.smallest_subsets", deps=[observations])
def smallest_subsets(
    config: SubsetSettings,
    warehouse: dg.ResourceParam[Warehouse],
    benchmarks: dg.ResourceParam[Benchmarks],
) -> dg.MaterializeResult:
    """Subsets of items by size: rank correlation (Kendall's tau) of models on the subset and on all
    items, compared with random subsets of the same size.

    `tau` is measured on the models by which the items were selected; `held_out` on other models.
    """
    isolation = Isolation("evaluate.smallest_subsets")
    rows: list[Row] = []
    for right in right_items(warehouse, benchmarks, isolation):
        if right.items:
            with isolation.release(right.slice.release_id):
                rows += [{**right.slice.columns, **row} for row in _rows(right, config)]
    table = write_rows(warehouse, {"evaluate.smallest_subsets": rows})
    smallest = {row["release_id"]: row["size"] for row in rows if row["is_smallest"]}
    return isolation.finish(warehouse, report(table, smallest if rows else {"note": NOTHING}))


def _rows(outcomes: ItemOutcomes, settings: SubsetSettings) -> list[Row]:
    right = right_matrix(outcomes.outcomes, outcomes.models, outcomes.items)
    subsets = smallest_subset(right, **settings.model_dump())
    n: Row = {"n_items": len(outcomes.items), "n_models": len(outcomes.models)}
    if subsets.why is not None:
        neither = dict.fromkeys(("is_smallest", "is_smallest_random"), False)
        return [
            {
                **n,
                **neither,
                "size": len(outcomes.items),
                "item_ids": outcomes.items,
                "why": subsets.why,
            }
        ]
    return [
        {
            **n,
            "size": len(subset.items),
            "tau": subset.tau,
            "held_out": subset.held_out.mean,
            "held_out_low": subset.held_out.low,
            "held_out_high": subset.held_out.high,
            "random": subset.random.mean,
            "random_low": subset.random.low,
            "random_high": subset.random.high,
            "is_smallest": place == subsets.smallest,
            "is_smallest_random": place == subsets.smallest_random,
            "item_ids": [outcomes.items[item] for item in subset.items],
        }
        for place, subset in enumerate(subsets.of_sizes)
    ]
