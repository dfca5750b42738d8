"""Data versions: equal rows have the equal version, and a change reaches what follows and no more."""

import pytest
from dagster._core.definitions.data_version import DATA_VERSION_TAG

from assets.release.current_releases import version_of_releases
from tests.assets.conftest import MakeWorld
from tests.assets.corpus import TOPICS, mini_corpus, sample_rows
from tests.assets.world import Result, World, copy_of

pytestmark = pytest.mark.nightly

Versions = dict[str, str]


def versions(*runs: Result) -> Versions:
    """Data version of each asset that the runs materialized."""
    found = {}
    for run in runs:
        assert run.success
        for event in run.get_asset_materialization_events():
            assert event.asset_key and event.materialization.tags
            version = event.materialization.tags[DATA_VERSION_TAG]
            found[event.asset_key.to_user_string()] = version
    return found


@pytest.fixture(scope="module")
def again(
    evaluated: World, make_world: MakeWorld, tmp_path_factory: pytest.TempPathFactory
) -> tuple[World, Versions]:
    """An evaluated world whose assets were all run once more, and their versions."""
    root = tmp_path_factory.mktemp("versions")
    copy_of(evaluated.root, root)
    world = make_world(root, mini_corpus(root / "corpus"))
    runs = (world.ingest(), world.cluster(), world.generate(), world.release(), world.evaluate())
    return world, versions(*runs, world.score())


def test_a_materialization_that_gives_the_rows_there_were_has_their_version(
    again: tuple[World, Versions], evaluated: World
) -> None:
    world, now = again
    assert {asset.partition("/")[0] for asset in now} == {
        *("ingest", "cluster", "dialogue", "rewrite", "review", "release", "evaluate")
    }
    # A release is rows of several tables.
    assert now["release/releases"] == version_of_releases(evaluated.warehouse).value
    for asset in now.keys() - {"release/releases"}:
        table = asset.replace("/", ".")
        slice_of_run = {"wit_shard": ["mini"]} if asset.startswith("ingest/") else None
        assert now[asset] == evaluated.warehouse.fingerprint(table, slice_of_run), asset
    # Versions are those of rows, not of runs.
    assert versions(world.run("rewrite"))["rewrite/rewrites"] == now["rewrite/rewrites"]


def test_a_changed_caption_changes_its_entry_and_what_rests_on_captions_alone(
    again: tuple[World, Versions],
) -> None:
    world, before = again
    first, *others = sample_rows(*TOPICS)
    caption = f"{first['caption_reference_description']} at dusk"
    world.corpus.write_shard("mini", [{**first, "caption_reference_description": caption}, *others])

    after = versions(world.ingest(), world.cluster())

    unchanged = {asset for asset, version in after.items() if before[asset] == version}
    assert unchanged == {
        # Neither page nor image of the entry is another.
        *("ingest/pages", "ingest/images", "cluster/duplicates", "cluster/splits"),
        # There is no pair before, and none after.
        "cluster/near_pairs",
    }
    assert {"ingest/wit_rows", "ingest/entries", "cluster/embeddings", "cluster/clusters"} <= (
        after.keys() - unchanged
    )
