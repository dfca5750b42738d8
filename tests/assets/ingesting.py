"""Helpers of the ingestion tests: rows by hand, settings, runs of a part, and looks at the tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import yaml
from dagster._core.storage.tags import ASSET_PARTITION_RANGE_END_TAG as RANGE_END
from dagster._core.storage.tags import ASSET_PARTITION_RANGE_START_TAG as RANGE_START

from assets import ingest
from assets.common.partitions import wit_shards
from dagster_project.resources import make_resources
from methods.ingest.wit import COLUMNS
from tests.assets.corpus import WitLine, raw
from tests.assets.world import Result, Row, World

ANY_LOSS_OF_ROWS = {"ingest__wit_rows": {"config": {"max_rejected_share": 1.0}}}
ANY_LOSS_OF_IMAGES = {"ingest__images": {"config": {"max_lost_share": 1.0}}}
"""For runs of a part."""
ANY_LOSS = ANY_LOSS_OF_ROWS | ANY_LOSS_OF_IMAGES
"""Run config of `ingest` that no share of lost rows and images stops."""
READ_UNCHANGED = {"ingest__wit_rows": {"config": {"read_unchanged": True}}}


def wit_line(title: str, image_url: str, **values: str) -> WitLine:
    """A sound row: a page of this title with this image; `values` are those that differ."""
    return {
        **dict.fromkeys(COLUMNS, ""),
        "language": "en",
        "page_url": f"https://en.wikipedia.org/wiki/{title.replace(' ', '_')}",
        "image_url": image_url,
        "page_title": title,
        "caption_reference_description": f"This is {title}.",
        "mime_type": "image/png",
        "context_page_description": f"{title} is described here.",
        **values,
    }


def write_tsv(path: Path, rows: Sequence[WitLine]) -> None:
    """A shard and nothing beside it: no folder of images, so that they are fetched."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\n".join(["\t".join(COLUMNS).encode(), *map(raw, rows)]) + b"\n")


def write_settings(folder: Path, **settings: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "corpus.yaml").write_text(yaml.safe_dump(settings))


def ingest_part(
    world: World, shard: str, *assets: str, config: Mapping[str, Any] | None = None
) -> Result:
    """A run of these assets of `ingest` alone; it may fail."""
    world.instance.add_dynamic_partitions(str(wit_shards.name), [shard])
    chosen = dg.AssetSelection.assets(*(["ingest", asset] for asset in assets))
    return world.run("ingest", config, shard, chosen)


def ingest_range(world: World, shards: Sequence[str]) -> Result:
    """One run for all of these shards, as a backfill does it."""
    world.instance.add_dynamic_partitions(str(wit_shards.name), list(shards))
    return world.run("ingest", tags={RANGE_START: shards[0], RANGE_END: shards[-1]})


def ingest_unchecked(world: World, shard: str) -> Result:
    """Every asset of the job without its checks, which take half of a small run's time."""
    of_one_shard = [asset for asset in ingest.ASSETS if asset.partitions_def]
    with world.environment():
        return dg.materialize(
            of_one_shard, instance=world.instance, resources=make_resources(), partition_key=shard
        )


def find_duplicates(world: World) -> Result:
    return world.run("cluster", assets=dg.AssetSelection.assets(["cluster", "duplicates"]))


def rejected(world: World, kind: str) -> dict[str, str]:
    """Reference of everything refused -> reason; each has a sentence."""
    found = world.table("ingest.rejected", kind=kind)
    assert all(row["detail"].endswith(".") for row in found)
    return {row["reference"]: row["reason"] for row in found}


def table(world: World, name: str) -> list[Row]:
    """All of `ingest.<name>`, in an order that its content gives."""
    return world.table(f"ingest.{name}")


def by_title(world: World, name: str) -> dict[str, Row]:
    """The rows of `ingest.pages` or `ingest.entries`, where each title stands once."""
    rows = table(world, name)
    found = {row["title"]: row for row in rows}
    assert len(found) == len(rows)
    return found
