"""`ingest.pages`: the pages of a shard; `ingest.changes`: pages whose text changed.

What belongs here: which pages are accepted, by language and by topic.
"""

from collections import Counter
from typing import Any

import dagster as dg

from assets.common.automation import WHEN_SHARD_READY
from assets.common.partitions import wit_shards
from assets.common.previews import preview
from assets.common.tables import FRESH_EVERY_WEEK, report, table_asset
from assets.ingest.wit_rows import wit_rows
from methods.ids import content_id
from methods.ingest.topics import topics_of
from resources.corpus.corpus import Corpus
from resources.corpus.enrichment import Enricher
from resources.rows_file import RowsFile, first_rows, n_rows, portions, staging_folder
from resources.warehouse import Parquet, Warehouse, Write, arrow_schema

PAGES_AT_ONCE = 10_000


@table_asset(
    "ingest.pages",
    side_tables=["ingest.changes"],
    deps=[wit_rows],
    partitions_def=wit_shards,
    automation_condition=WHEN_SHARD_READY,
    freshness_policy=FRESH_EVERY_WEEK,
)
def pages(
    context: dg.AssetExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    corpus: dg.ResourceParam[Corpus],
) -> dg.MaterializeResult:
    """Pages of a shard in the corpus's languages, with text, categories and topics.

    Pages without text are left out, and so are pages without a topic if the corpus has topics.
    """
    shards = list(context.partition_keys)
    settings, enricher = corpus.settings, Enricher(corpus)
    left_out: Counter[str] = Counter()
    with staging_folder("ingest.pages", *shards) as folder:
        found = warehouse.export(
            "ingest/pages_of_shards",
            {"shards": shards, "languages": settings.languages},
            folder / "found.parquet",
        )
        with RowsFile(folder / "pages.parquet", arrow_schema("ingest.pages")) as file:
            for portion in portions(found, PAGES_AT_ONCE):
                for page in enricher.enrich_pages(portion):
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
        run_id = context.run.run_id
        changes = warehouse.export(
            "ingest/staging/changed_pages",
            {"path": str(file.path), "shards": shards, "run_id": run_id},
            folder / "changes.parquet",
        )
        n_changed, changed = n_rows(changes), first_rows(changes)
        warehouse.replace_all(
            [
                Write("ingest.pages", Parquet([file.path]), {"wit_shard": shards}),
                Write(
                    "ingest.changes",
                    Parquet([changes]),
                    {"wit_shard": shards, "run_id": run_id},
                ),
            ]
        )
        shown = first_rows(file.path)
    details: dict[str, Any] = {**left_out, "changed pages": n_changed}
    if n_changed:
        details["changes"] = dg.MetadataValue.md(preview(changed))
    return report(shown, details, n_rows=file.n_rows)
