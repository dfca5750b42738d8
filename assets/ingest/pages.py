"""`ingest.pages`: the pages of a shard, and in `ingest.changes` which of them say something new.

What belongs here: which pages are taken, by language and by topic.
"""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow as pa

from assets.ingest.rows import wit_rows
from assets.partitions import wit_shards
from assets.tables import (
    FRESH_EVERY_WEEK,
    WHEN_READY,
    arrow_schema,
    preview,
    report,
    rows_to_arrow,
    table_asset,
)
from methods.ids import content_id
from methods.topics import topics_of
from resources.corpus.corpus import Corpus
from resources.corpus.knowledge import Knowledge
from resources.rows_file import RowsFile, first_rows, portions, staging_folder
from resources.warehouse import Parquet, Warehouse, Write

PAGES_AT_ONCE = 10_000


@table_asset(
    "ingest.pages",
    deps=[wit_rows],
    partitions_def=wit_shards,
    automation_condition=WHEN_READY,
    freshness_policy=FRESH_EVERY_WEEK,
)
def pages(
    context: dg.AssetExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    corpus: dg.ResourceParam[Corpus],
) -> dg.MaterializeResult:
    """Pages of a shard in the corpus's languages, with text, categories and the topics they serve.

    A page without any text is left out, and one that serves none of the corpus's topics.
    """
    shards = list(context.partition_keys)
    settings, knowledge = corpus.settings, Knowledge(corpus)
    left_out: Counter[str] = Counter()
    with staging_folder("ingest.pages", *shards) as folder:
        found = warehouse.export(
            "ingest/pages_of_shards",
            {"shards": shards, "languages": settings.languages},
            folder / "found.parquet",
        )
        with RowsFile(folder / "pages.parquet", arrow_schema("ingest.pages")) as file:
            for portion in portions(found, PAGES_AT_ONCE):
                for page in knowledge.of_pages(portion):
                    page["topics"] = topics_of(
                        settings.topics, [page["title"], *page["said"]], page["categories"]
                    )
                    if not page["page_text"]:
                        left_out["without text"] += 1
                    elif settings.topics and not page["topics"]:
                        left_out["of no topic"] += 1
                    else:
                        page["page_id"] = content_id("page", page["page_url"])
                        file.add(page)
        changes = _changes(warehouse, file.path, shards, context.run.run_id)
        change_ids = changes.column("change_id").to_pylist()
        warehouse.replace_all(
            [
                Write("ingest.pages", Parquet([file.path]), {"wit_shard": shards}),
                Write("ingest.changes", changes, {"change_id": change_ids}),
            ]
        )
        shown = first_rows(file.path)
    details: dict[str, Any] = {**left_out, "changed pages": changes.num_rows}
    if changes.num_rows:
        details["changes"] = dg.MetadataValue.md(preview(changes))
    return report(shown, details, n_rows=file.n_rows)


def _changes(warehouse: Warehouse, path: Path, shards: list[str], run_id: str) -> pa.Table:
    """Rows for `ingest.changes`: pages of the file that are known with another text."""
    changed = warehouse.read("ingest/staging/changed_pages", {"path": str(path), "shards": shards})
    now = datetime.now(UTC).replace(tzinfo=None)
    return rows_to_arrow(
        "ingest.changes",
        [
            {
                **page,
                "change_id": content_id("change", page["wit_shard"], page["page_id"], run_id),
                "changed_at": now,
            }
            for page in changed.to_pylist()
        ],
    )
