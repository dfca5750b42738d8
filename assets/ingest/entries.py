"""Entries (`ingest.entries`): a Wikipedia page with one of its images, the input of generation."""

from typing import Any, Literal

import dagster as dg
from pydantic import Field

from assets.common.automation import WHEN_SHARD_READY
from assets.common.partitions import wit_shards
from assets.common.settings import AssetConfig
from assets.common.tables import FRESH_EVERY_WEEK, report, table_asset
from assets.ingest.images import images
from assets.ingest.left_out import DropRecorder
from assets.ingest.pages import pages
from assets.ingest.wit_rows import wit_rows
from methods.ids import content_id
from methods.ingest.wit import COLUMNS, CREDIT, SEEN, WitRow, caption
from resources.files.rows import RowsFile, first_rows, portions, staging_folder
from resources.images.store import ImageStore
from resources.warehouse import Parquet, TableWrite, Warehouse, arrow_schema

ENTRIES_AT_ONCE = 200
WITHOUT_CAPTION = (
    "It has neither a reference, nor an alternative text, nor an attribution that says more than whose "
    "image it is."
)


class EntriesSettings(AssetConfig):
    """Settings of the check on images without a known licence."""

    max_share_without_licence: float = Field(
        0.0, ge=0, le=1, description="Share of entries without a licence above which a check fails."
    )
    without_licence: Literal["warn", "error"] = Field(
        "warn", description="Whether that check warns, or stops what follows."
    )


@table_asset(
    "ingest.entries",
    side_tables=["ingest.left_out"],
    kinds={"image"},
    deps=[wit_rows, pages, images],
    partitions_def=wit_shards,
    automation_condition=WHEN_SHARD_READY,
    freshness_policy=FRESH_EVERY_WEEK,
)
def entries(
    context: dg.AssetExecutionContext,
    config: EntriesSettings,
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
) -> dg.MaterializeResult:
    """Entries: a Wikipedia page with one of its images, a caption and categories; the input of all
    later stages.

    `ingest.left_out` has rows of accepted pages that give no entry: without a caption or an image, or a
    repetition of the same image on the same page.
    """
    shards = list(context.partition_keys)
    with staging_folder("ingest.entries", *shards) as folder:
        sources = warehouse.export(
            "ingest/entry_sources_of_shards",
            {"shards": shards, "seen": SEEN, "credit": CREDIT},
            folder / "found.parquet",
        )
        others = warehouse.export(
            "ingest/staging/rows_without_entry",
            {"shards": shards, "path": str(sources)},
            folder / "others.parquet",
        )
        left_out = DropRecorder(folder / "left_out.parquet", "entries")
        left_out.add_file(others)
        file = RowsFile(folder / "entries.parquet", arrow_schema("ingest.entries"))
        with file, left_out:
            for portion in portions(sources, ENTRIES_AT_ONCE):
                for source in portion:
                    row = WitRow(**{name: source[name] for name in ("line_number", *COLUMNS)})
                    text = caption(row)
                    if text is None:
                        line = f"line {source['line_number']}"
                        left_out.add(source, line, "without_caption", WITHOUT_CAPTION)
                    else:
                        file.add({**source, "caption": text, "entry_id": _entry_id(source, text)})
        warehouse.replace_all(
            [
                TableWrite("ingest.entries", Parquet([file.path]), {"wit_shard": shards}),
                left_out.write(shards),
            ]
        )
        shown = first_rows(file.path)
    return report(
        shown, left_out.details(context, file.n_rows), n_rows=file.n_rows, images=image_store
    )


def _entry_id(source: dict[str, Any], text: str) -> str:
    return content_id(
        "entry",
        source["page_url"],
        source["title"],
        source["categories"],
        text,
        source["page_text"],
        source["image_id"],
    )
