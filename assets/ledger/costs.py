"""Costs of model calls by day, stage and model."""

import dagster as dg

from assets.cluster import splits
from assets.cluster.cohesion import cohesion
from assets.cluster.map import entry_map
from assets.cluster.pictures import pictures
from assets.common.automation import when_changed
from assets.common.tables import report, table_asset
from assets.evaluate.corpus_page import write_corpus
from assets.ledger.calls import calls, table_preview
from assets.release import releases
from assets.review.agreement import agreement
from assets.review.effort import effort
from resources.files.home import relative_to_home
from resources.images.store import ImageStore
from resources.warehouse import Warehouse
from resources.web.addresses import address

CALLS = dg.AssetSelection.assets(calls.key)
SHOWN = (cohesion, entry_map, pictures, splits, releases, agreement, effort)
"""Dependencies for the page about the corpus: assets that it shows, or assets downstream of them."""


@table_asset(
    "ledger.costs",
    deps=[calls, *SHOWN],
    automation_condition=when_changed(CALLS, not_awaited=dg.AssetSelection.all() - CALLS),
)
def costs(
    warehouse: dg.ResourceParam[Warehouse], image_store: dg.ResourceParam[ImageStore]
) -> dg.MaterializeResult:
    """Costs of models by day (UTC), stage and model: answered and failed calls, tokens, US dollars,
    seconds.
    """
    rows = warehouse.read("ledger/costs")
    page = dg.MetadataValue.url(address(relative_to_home(write_corpus(warehouse, image_store))))
    return report(rows, {"preview": table_preview(rows), "page": page})
