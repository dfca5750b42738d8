"""Image download (`ingest.images`): a shard's images, fetched, checked, measured and stored."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import Field

from assets.common.automation import WHEN_SHARD_READY
from assets.common.drops import reasons, require_few_lost
from assets.common.partitions import wit_shards
from assets.common.previews import preview
from assets.common.ray_jobs import RowsOnRay, RowWork, RowWorkSettings
from assets.common.tables import FRESH_EVERY_WEEK, report, table_asset
from assets.ingest.pages import pages
from assets.ingest.wit_rows import corpus_files
from methods.batched import batched
from methods.ingest.image_check import EXTENSION_OF, ImageRejected, wrong_type
from methods.ingest.image_filters import UNWANTED
from methods.ingest.image_quality import ImageFacts
from methods.ingest.mirror_names import file_name, shared_names
from methods.licences.reading import StatedLicence, licence_of
from methods.naming import listed
from methods.wikimedia.addresses import thumbnail_url
from resources.corpus.corpus import Corpus
from resources.corpus.enrichment import Enricher
from resources.corpus.shard import Shard
from resources.files.rows import RowsFile, first_rows, n_rows, portions, staging_folder
from resources.images.fetcher import ImageFetcher
from resources.images.index import ImageIndex
from resources.images.intake import ImageIntake, ImageResult, WantedImage
from resources.images.store import ImageStore
from resources.ray_rows.cluster import RayCluster
from resources.warehouse import Parquet, TableWrite, Warehouse, arrow_schema

IMAGES_AT_ONCE = 20_000
"""Rows in memory at the same time."""
IMAGES_PER_BLOCK = 256
"""Images of a block on a Ray cluster: at most this many are fetched again if a worker dies."""
RENDERED_WIDTH = 960
"""Width in pixels of Wikimedia's renderings of unsupported formats, if the corpus wants originals."""
SHOWN_EVERY = 500
FETCH_ON_WORKER = "resources.images.intake:fetch_on_worker"
LOST = (
    "ingest.rejected has each image with the reason. Replace the missing and broken files and run the "
    "job ingest again (vlm-loom run ingest), or allow more with max_lost_share of ingest.images in "
    "settings.yaml."
)


class ImagesSettings(RowWorkSettings):
    """Settings of image download: the limit of failures, and where images are fetched."""

    max_lost_share: float = Field(
        0.2,
        ge=0,
        le=1,
        description="If a larger share of a run's images cannot be had or read, the earlier ones stay. "
        "What the corpus's limits and lists leave out does not count.",
    )


@table_asset(
    "ingest.images",
    side_tables=["ingest.rejected"],
    kinds={"image"},
    deps=[pages, corpus_files.key],
    partitions_def=wit_shards,
    automation_condition=WHEN_SHARD_READY,
    freshness_policy=FRESH_EVERY_WEEK,
)
def images(
    context: dg.AssetExecutionContext,
    config: ImagesSettings,
    warehouse: dg.ResourceParam[Warehouse],
    corpus: dg.ResourceParam[Corpus],
    image_store: dg.ResourceParam[ImageStore],
    image_index: dg.ResourceParam[ImageIndex],
    image_fetcher: dg.ResourceParam[ImageFetcher],
    ray: dg.ResourceParam[RayCluster],
) -> dg.MaterializeResult:
    """Images of a shard's pages: fetched, checked, measured and stored under their SHA-256.

    Rejected images are in `ingest.rejected` with the reason, even if a run rejects too many and keeps
    the earlier images. Each image has its licence and its source: the image's wiki page, its
    attribution, its file, or the corpus's settings. If the row states a wrong file type, `mime_type` is
    the file's own type and `stated_mime_type` that of the row.
    """
    shards = list(context.partition_keys)
    wanted = corpus.settings.images
    of_corpus = StatedLicence(**wanted.licence.model_dump()) if wanted.licence else StatedLicence()
    if image_fetcher.has_mirror:
        names = _names_shared_with(context, warehouse, shards, wanted.width)
        image_fetcher = image_fetcher.with_shared_names(names)
    on_workers = None
    # Images in a folder need no download, so workers would not help.
    if config.runner == "ray" and not image_fetcher.reads_a_folder:
        work = RowWork(FETCH_ON_WORKER, image_fetcher.settings(), IMAGES_PER_BLOCK)
        on_workers = partial(RowsOnRay(context, ray).run, work)
    intake = ImageIntake(
        image_fetcher, image_store, image_index, wanted.limits, corpus.excluded(), on_workers
    )
    lost: Counter[str] = Counter()
    n_corrected = 0
    with staging_folder("ingest.images", *shards) as folder:
        urls = warehouse.export(
            "ingest/image_urls_of_shards", {"shards": shards}, folder / "found.parquet"
        )
        total = n_rows(urls)
        accepted = RowsFile(folder / "images.parquet", arrow_schema("ingest.images"))
        rejected = RowsFile(folder / "rejected.parquet", arrow_schema("ingest.rejected"))
        with accepted, rejected:
            for shard, rows in _by_shard(corpus, urls):
                for row, image in _taken(intake, shard, rows, wanted.width):
                    if isinstance(image, ImageRejected):
                        lost[image.reason] += 1
                        where = {"wit_shard": row["wit_shard"], "reference": row["image_url"]}
                        why = {"reason": image.reason, "detail": image.detail}
                        rejected.add({**where, "kind": "image", **why})
                    else:
                        n_corrected += row.get("stated_mime_type") is not None
                        stored = {"path": image_store.relative_path(image.image_id)}
                        states = row["page_states"], row["attribution"], image.rights, of_corpus
                        accepted.add({**row, **asdict(image), **stored, **licence_of(*states)})
                    done = accepted.n_rows + rejected.n_rows
                    if done % SHOWN_EVERY == 0:
                        context.log.info(
                            f"images: {done:,}/{total:,}, {rejected.n_rows:,} rejected"
                        )
        n_all = accepted.n_rows + rejected.n_rows
        broken = Counter({why: n for why, n in lost.items() if why not in UNWANTED})
        of_shards = {"wit_shard": shards}
        listed_images = TableWrite(
            "ingest.rejected", Parquet([rejected.path]), {**of_shards, "kind": "image"}
        )
        limit = config.max_lost_share
        try:
            require_few_lost("ingest.images", "images", broken, n_all, limit, todo=LOST)
        except dg.Failure:
            warehouse.replace_all([listed_images])
            raise
        warehouse.replace_all(
            [TableWrite("ingest.images", Parquet([accepted.path]), of_shards), listed_images]
        )
        shown = first_rows(accepted.path)
    figures = warehouse.read("ingest/image_figures", {"shards": shards})
    details = {
        "rejected": rejected.n_rows,
        **reasons(lost),
        "types corrected": n_corrected,
        "figures": dg.MetadataValue.md(preview(figures)),
    }
    return report(
        shown,
        details,
        n_rows=accepted.n_rows,
        images=image_store,
    )


def _names_shared_with(
    context: dg.AssetExecutionContext,
    warehouse: Warehouse,
    shards: Sequence[str],
    width: int | None,
) -> frozenset[str]:
    """Find file names that are ambiguous in a mirror: several image URLs of the ingested shards end
    with them.

    Logs a warning if an earlier shard may have matched an image by a name that is ambiguous since now.
    """
    rows = warehouse.read("ingest/image_urls_of_one_name").to_pylist()
    names = shared_names(_address(row["image_url"], row, width) for row in rows)
    of_shard: dict[str, set[str]] = {}
    for row in rows:
        if (name := file_name(_address(row["image_url"], row, width))) in names:
            for shard in row["shards"]:
                of_shard.setdefault(shard, set()).add(str(name))
    own_names = {name for shard in shards for name in of_shard.pop(shard, ())}
    for shard, of_other in sorted(of_shard.items()):
        if both := sorted(of_other & own_names):
            context.log.warning(
                f"Images of the shard {shard} have file names that addresses of {', '.join(shards)} "
                f"have, too ({listed(both)}): ingest {shard} again if it was ingested before."
            )
    return names


def _by_shard(corpus: Corpus, file: Path) -> Iterator[tuple[Shard, list[dict[str, Any]]]]:
    """Yield the rows of `file` in batches of one shard each, with the licences that Wikipedia states.

    A shard that contains its images is one batch, because each batch reads the whole shard.
    """
    enricher = Enricher(corpus)
    every_row = (row for portion in portions(file, IMAGES_AT_ONCE) for row in portion)
    for name, of_shard in groupby(every_row, key=lambda row: row["wit_shard"]):
        shard = corpus.shard(name)
        for rows in batched(of_shard, None if shard.carries_images else IMAGES_AT_ONCE):
            yield shard, enricher.enrich_images(rows)


def _taken(
    intake: ImageIntake, shard: Shard, rows: list[dict[str, Any]], width: int | None
) -> Iterator[tuple[dict[str, Any], ImageResult]]:
    """Yield each row with its image, or with the reason of its rejection."""
    row_of = {row["image_url"]: row for row in rows}
    wanted = []
    for url, row in row_of.items():
        wanted.append(WantedImage(url, _address(url, row, width), row["file_sha1"]))
    for image, result in intake.take(wanted, shard.images()):
        row = row_of[image.url]
        # The row states the type of the original image, so it is not compared with a rendition's type.
        if image.address == image.url and isinstance(result, ImageFacts):
            row["stated_mime_type"] = wrong_type(row["mime_type"], result.mime_type)
        yield {**row, "fetched_from": image.fetched_from or shard.address}, result


def _address(url: str, row: Mapping[str, Any], width: int | None) -> str:
    """Return the URL to fetch an image from: its own, or that of a smaller or converted rendition."""
    # Formats that are not supported here, such as SVG, are fetched as rendered by Wikimedia.
    rendered = row["mime_type"] and row["mime_type"] not in EXTENSION_OF
    if width or rendered:
        return thumbnail_url(url, width or RENDERED_WIDTH, row["original_width"])
    return url
