"""A partition's page shows that partition's own rows, whether its run had one shard or several."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from tests.assets.conftest import MakeWorld
from tests.assets.corpus import Corpus, sample_rows
from tests.assets.ingesting import ingest_range
from tests.assets.world import Result, World

pytestmark = pytest.mark.slow

SHARDS = ["balloons", "butterflies"]
TABLES = ["wit_rows", "pages", "images", "entries"]


@pytest.fixture
def world(make_world: MakeWorld, tmp_path: Path) -> World:
    """Two shards of different sizes: four balloons (a row each) and all butterflies."""
    corpus = Corpus(tmp_path / "corpus")
    corpus.write_shard("balloons", sample_rows("balloon")[:4])
    corpus.write_shard("butterflies", sample_rows("butterfly"))
    corpus.write_categories()
    return make_world(tmp_path, corpus)


def shown(run: Result) -> dict[tuple[str, str], Mapping[str, Any]]:
    """(table, shard) -> metadata of its materialization."""
    return {
        (event.asset_key.path[-1], str(event.partition)): {
            name: value.value for name, value in event.materialization.metadata.items()
        }
        for event in run.get_asset_materialization_events()
        if event.asset_key
    }


def stored(world: World) -> dict[tuple[str, str], int]:
    return {
        (table, row["wit_shard"]): row["n"]
        for table in TABLES
        for row in world.rows(f"SELECT wit_shard, count(*) AS n FROM ingest.{table} GROUP BY ALL")
    }


def test_one_run_of_several_shards(world: World) -> None:
    run = ingest_range(world, SHARDS)
    assert run.success
    pages = shown(run)
    assert {page: of["dagster/row_count"] for page, of in pages.items()} == stored(world)
    for shard in SHARDS:
        other = next(each for each in SHARDS if each != shard)
        for table in TABLES:
            assert other not in pages[table, shard]["preview"]
        # What the run counted by itself is of all its shards, and says so.
        assert pages["images", shard]["all other counts are of"] == "balloons, butterflies"
    key = dg.AssetKey(["ingest", "entries"])
    assert {
        event.partition
        for event in run.get_asset_materialization_events()
        if event.asset_key == key
    } == set(SHARDS)
