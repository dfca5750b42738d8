"""Provenance (lineage): the rows and calls behind every number of the leaderboard."""

import dagster as dg

from assets.common.tables import report, table_asset
from assets.evaluate.observations import observations
from resources.images.store import ImageStore
from resources.warehouse import Warehouse


@table_asset("evaluate.provenance", deps=[observations])
def provenance(
    warehouse: dg.ResourceParam[Warehouse], image_store: dg.ResourceParam[ImageStore]
) -> dg.MaterializeResult:
    """The origin of each scored turn: judge, answer, model calls, prompts, reviewers, images and
    Wikipedia pages.
    """
    rows = warehouse.select(
        "evaluate.provenance",
        order="benchmark, release, model, item, trial, turn, judge, replicate, part",
    )
    return report(rows, images=image_store)
