"""A corpus out of a wiki that is not Wikimedia's, from its pages to entries.

The wiki is what a real MediaWiki answered; `python -m tests.mediawiki` runs the same tests against it.
"""

from collections.abc import Iterator

import pytest

from tests.assets.corpus import Corpus
from tests.assets.ingesting import by_title, table, write_settings
from tests.assets.world import metadata
from tests.resources.wikipedia.recorded_wiki import PLAIN, AnsweringWiki, open_wiki

pytestmark = pytest.mark.slow


@pytest.fixture
def wiki() -> Iterator[AnsweringWiki]:
    with open_wiki[0]() as wiki:
        yield wiki


def test_its_pages_become_entries(make_world, tmp_path, wiki):
    corpus = Corpus(tmp_path / "corpus")
    owls = {"pages": ["Stone", "Pebble"], "categories": ["Owls"]}
    write_settings(
        corpus.folder,
        wikipedia={"contact": "me@example.org", "api": wiki.api(PLAIN), "shards": {"owls": owls}},
        images={"allow_private_addresses": True},
    )
    world = make_world(tmp_path, corpus)
    # Two of six records are pages without images, which is no loss; one of five is a lost file.
    run = world.ingest("owls")
    assert run.success
    told = metadata(run, "ingest/wit_rows")
    assert (told["dagster/row_count"], told["rejected"]) == (4, 3)
    assert "| no_images | 2 |" in told["reasons"] and "| missing_file | 1 |" in told["reasons"]
    entries = {row["caption"]: row for row in table(world, "entries")}
    assert set(entries) == {"A barn owl at dusk", "Eggs of an owl", "Another owl"}
    barn = entries["A barn owl at dusk"]
    assert barn["page_url"] == f"{wiki.address}/w/index.php/Barn_owl"
    assert barn["page_text"].startswith("The barn owl hunts by ear.")
    assert barn["categories"] == ["Owls", "Pages with broken file links"]
    assert by_title(world, "pages")["Snowy owl"]["page_text"] == "The snowy owl is white."
    (shard,) = table(world, "shards")
    assert shard["address"] == wiki.address.removeprefix("http://") + "/sites/birds"
