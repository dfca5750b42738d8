"""A shard that is ingested by itself: what stands on sets of pages that have changed says so."""

from pathlib import Path

import dagster as dg
import pytest

from tests.assets.conftest import MakeWorld
from tests.assets.corpus import mini_corpus
from tests.assets.world import World, copy_of, made, sentence

pytestmark = pytest.mark.slow

SUMMARIES = dg.AssetSelection.assets(["dialogue", "summaries"])
REVIEW = {f"review/{asset}" for asset in ("queue", "approved", "agreement", "effort")}


@pytest.fixture
def changed(clustered: World, make_world: MakeWorld, tmp_path: Path) -> World:
    """A world whose sets were sampled before one page changed its text."""
    copy_of(clustered.root, tmp_path)
    corpus = mini_corpus(tmp_path / "corpus")
    world = make_world(tmp_path, corpus)
    (page,) = world.rows(
        "SELECT e.page_text FROM cluster.image_sets AS s JOIN ingest.entries AS e USING (entry_id) "
        "ORDER BY e.entry_id LIMIT 1"
    )
    (shard,) = (corpus.folder / "shards").glob("*.tsv")
    text = page["page_text"].encode()
    content = shard.read_bytes()
    assert text in content
    shard.write_bytes(content.replace(text, b"It is known by another story now."))
    assert world.ingest().success
    return world


def test_generating_and_releasing_stop_with_a_sentence_until_the_sets_are_sampled_again(changed):
    for run in (changed.generate(), changed.release()):
        assert not run.success and made(run) <= REVIEW
        said = sentence(run)
        assert "image sets have entries whose pages were changed or removed" in said
        assert said.endswith("run the job cluster, then run this again.")
    assert changed.cluster().success
    assert (
        changed.rows(
            "SELECT s.set_id FROM cluster.image_sets AS s "
            "ANTI JOIN ingest.entries AS e USING (entry_id)"
        )
        == []
    )
    assert changed.run("dialogue", assets=SUMMARIES).success
