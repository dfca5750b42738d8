"""What an asset that asked models shows: a link to its calls, under the UI's own address."""

import dagster as dg
import pyarrow as pa

from assets.common.tables import report
from resources.llm.usage import Usage

ROWS = pa.table({"set_id": ["a"]})


def test_an_asset_that_asks_models_links_to_its_calls() -> None:
    shown = report(ROWS, usage=Usage(stage="dialogue.summaries")).metadata
    assert shown is not None
    link = dg.MetadataValue.url("/loom/calls?stage=dialogue.summaries")
    assert shown["calls in the ledger"] == link
