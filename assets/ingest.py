"""Ingestion: WIT shards to entries, each shard a partition.

What belongs here: which rows are read, what is made of them and what was refused. Parsing is
`methods/wit.py`, fetching and storing `resources/image_source.py` and `image_store.py`.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import dagster as dg

from assets.partitions import wit_shards
from assets.tables import WHEN_READY, report, rows_to_arrow, table_asset
from methods.ids import content_id
from methods.image_check import ImageRejected, check
from methods.wit import COLUMNS, Rejection, WitRow, caption
from resources.image_source import ImageFetcher
from resources.image_store import ImageStore
from resources.warehouse import Warehouse, Write
from resources.wit_source import WitFolder

FETCHED_AT_ONCE = 128


class EntriesConfig(dg.Config):
    """Which pages become entries."""

    languages: list[str] = ["en"]


@table_asset("ingest.wit_rows", kinds={"tsv"}, partitions_def=wit_shards)
def wit_rows(
    context: dg.AssetExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    corpus: dg.ResourceParam[WitFolder],
) -> dg.MaterializeResult:
    """Rows of a WIT shard, typed. A line that is no row goes to `ingest.rejected` with its reason."""
    rows: list[dict[str, Any]] = []
    rejected: list[dict[str, Any]] = []
    for shard in context.partition_keys:
        for row in corpus.read(shard):
            if isinstance(row, Rejection):
                rejected.append(_rejected_row(shard, row))
            else:
                fields = {name: getattr(row, name) for name in ("line_number", "row_id", *COLUMNS)}
                rows.append({"wit_shard": shard, **fields})
    accepted = rows_to_arrow("ingest.wit_rows", rows)
    shards = list(context.partition_keys)
    warehouse.replace_all(
        [
            Write("ingest.wit_rows", accepted, {"wit_shard": shards}),
            Write(
                "ingest.rejected",
                rows_to_arrow("ingest.rejected", rejected),
                {"wit_shard": shards, "kind": "row"},
            ),
        ]
    )
    return report(accepted, {"rejected": len(rejected), **reasons(rejected)})


@table_asset(
    "ingest.pages", deps=[wit_rows], partitions_def=wit_shards, automation_condition=WHEN_READY
)
def pages(
    context: dg.AssetExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    corpus: dg.ResourceParam[WitFolder],
) -> dg.MaterializeResult:
    """Pages of a shard with their text and categories; a page without any text is left out."""
    shards = list(context.partition_keys)
    categories = corpus.categories()
    rows = [
        {
            **page,
            "page_id": content_id("page", page["page_url"]),
            "categories": categories.get(page["title"], []),
        }
        for page in warehouse.read("ingest/pages_of_shards", {"shards": shards}).to_pylist()
    ]
    table = rows_to_arrow("ingest.pages", rows)
    warehouse.replace("ingest.pages", table, {"wit_shard": shards})
    return report(table, {"without categories": sum(not row["categories"] for row in rows)})


@table_asset(
    "ingest.images",
    kinds={"image"},
    deps=[wit_rows],
    partitions_def=wit_shards,
    automation_condition=WHEN_READY,
)
def images(
    context: dg.AssetExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
    image_fetcher: dg.ResourceParam[ImageFetcher],
) -> dg.MaterializeResult:
    """Images of a shard, fetched, checked and stored under their SHA-256; the rest is rejected."""
    shards = list(context.partition_keys)
    wanted = warehouse.read("ingest/image_urls_of_shards", {"shards": shards}).to_pylist()
    rows: list[dict[str, Any]] = []
    rejected: list[dict[str, Any]] = []
    # A portion at a time: what is fetched is in memory until it is stored.
    for start in range(0, len(wanted), FETCHED_AT_ONCE):
        portion = wanted[start : start + FETCHED_AT_ONCE]
        fetched = image_fetcher.fetch_all([image["image_url"] for image in portion])
        for image in portion:
            shard, url = image["wit_shard"], image["image_url"]
            try:
                stored = _store(fetched[url], image["mime_type"], image_store)
            except ImageRejected as refusal:
                rejected.append(_rejected_image(shard, url, refusal))
            else:
                owned = {"wit_shard": shard, "image_url": url, "attribution": image["attribution"]}
                rows.append({**owned, **stored})
        if len(wanted) > FETCHED_AT_ONCE:
            context.log.info(
                f"images: {start + len(portion)}/{len(wanted)}, {len(rejected)} rejected"
            )
    table = rows_to_arrow("ingest.images", rows)
    warehouse.replace_all(
        [
            Write("ingest.images", table, {"wit_shard": shards}),
            Write(
                "ingest.rejected",
                rows_to_arrow("ingest.rejected", rejected),
                {"wit_shard": shards, "kind": "image"},
            ),
        ]
    )
    return report(table, {"rejected": len(rejected), **reasons(rejected)}, images=image_store)


@table_asset(
    "ingest.entries",
    kinds={"image"},
    deps=[wit_rows, pages, images],
    partitions_def=wit_shards,
    automation_condition=WHEN_READY,
)
def entries(
    context: dg.AssetExecutionContext,
    config: EntriesConfig,
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
) -> dg.MaterializeResult:
    """A page with one of its images, a caption and categories: what dialogues are woven from."""
    shards = list(context.partition_keys)
    sources = warehouse.read(
        "ingest/entry_sources_of_shards", {"shards": shards, "languages": config.languages}
    ).to_pylist()
    rows = []
    for source in sources:
        text = caption(WitRow(**{name: source[name] for name in ("line_number", *COLUMNS)}))
        if text is not None:
            rows.append({**source, "caption": text, "entry_id": _entry_id(source, text)})
    table = rows_to_arrow("ingest.entries", rows)
    warehouse.replace("ingest.entries", table, {"wit_shard": shards})
    return report(table, {"without caption": len(sources) - len(rows)}, images=image_store)


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


def _store(data: bytes | ImageRejected, mime_type: str | None, store: ImageStore) -> dict[str, Any]:
    """The columns of a checked and stored image. Raises ImageRejected."""
    if isinstance(data, ImageRejected):
        raise data
    check(data, mime_type)
    stored = store.put(data)
    return {
        "image_id": stored.image_id,
        "path": stored.path,
        "mime_type": stored.mime,
        "width": stored.width,
        "height": stored.height,
        "n_bytes": stored.n_bytes,
    }


def _rejected_row(shard: str, row: Rejection) -> dict[str, Any]:
    return {
        "wit_shard": shard,
        "kind": "row",
        "reference": f"line {row.line_number}",
        "reason": row.reason,
        "detail": row.detail,
        "excerpt": row.excerpt,
    }


def _rejected_image(shard: str, url: str, refusal: ImageRejected) -> dict[str, Any]:
    return {
        "wit_shard": shard,
        "kind": "image",
        "reference": url,
        "reason": refusal.reason,
        "detail": refusal.detail,
        "excerpt": None,
    }


def reasons(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Metadata that counts rows by their `reason`; nothing when there are none."""
    counted = Counter(str(row["reason"]) for row in rows)
    if not counted:
        return {}
    lines = "\n".join(f"| {reason} | {count} |" for reason, count in counted.most_common())
    return {"reasons": dg.MetadataValue.md(f"| reason | count |\n| --- | --- |\n{lines}")}


ASSETS = [wit_rows, pages, images, entries]
