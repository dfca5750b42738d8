"""Two image addresses of one file name: a caption never gets the other's image."""

from pathlib import Path

import pytest

from tests.assets.corpus import Corpus, WitLine, file_name, sample_rows
from tests.assets.ingesting import ANY_LOSS, ingest_part
from tests.assets.world import Result, World

pytestmark = pytest.mark.slow

ROWS = sample_rows("balloon", "butterfly")


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return Corpus(tmp_path / "corpus")


def at(row: WitLine, path: str) -> WitLine:
    return {**row, "image_url": f"https://images.example.org/{path}"}


def ingested(world: World, shard: str) -> Result:
    return ingest_part(world, shard, "wit_rows", "pages", "images", config=ANY_LOSS)


def images(world: World) -> set[str]:
    return {row["image_url"] for row in world.rows("SELECT image_url FROM ingest.images")}


def test_an_address_of_another_shard_counts_and_that_shard_is_named(world, corpus, capfd):
    name = file_name(ROWS[0])
    first, second = at(ROWS[0], f"a/{name}?v=1"), at(ROWS[1], f"a/{name}?v=2")
    corpus.write_shard("one", ROWS[:1])
    corpus.write_shard("one", [first, *ROWS[2:5]])
    corpus.write_shard("two", [second, *ROWS[5:8]])
    assert ingested(world, "one").success
    assert first["image_url"] in images(world)
    capfd.readouterr()
    assert ingested(world, "two").success
    assert f"Images of the shard one have file names that addresses of two have, too ({name})" in (
        "".join(capfd.readouterr())
    )
    assert ingested(world, "one").success
    assert not {first["image_url"], second["image_url"]} & images(world)
