"""Data versions: equal rows have the equal version, and a change reaches what follows and no more."""

from pathlib import Path

import pytest
from dagster._core.definitions.data_version import DATA_VERSION_TAG

from assets.common.tables import rows_to_arrow
from assets.release.current_releases import version_of_releases
from resources.warehouse import Warehouse
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
        *("ingest/pages", "ingest/images", "cluster/duplicates", "cluster/sides"),
        # There is no pair before, and none after.
        "cluster/near_pairs",
    }
    assert {"ingest/wit_rows", "ingest/entries", "cluster/embeddings", "cluster/clusters"} <= (
        after.keys() - unchanged
    )


# --- The hash ------------------------------------------------------------------------------------


def set_rows(*entry_ids: str) -> list[dict[str, object]]:
    of_set = {"set_id": "s", "kind": "benchmark", "cluster_id": "c", "image_id": "i"}
    return [{**of_set, "position": 1 + at, "entry_id": each} for at, each in enumerate(entry_ids)]


def test_the_order_of_rows_has_no_say_and_every_value_has(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")

    def version(*rows: dict[str, object]) -> str:
        warehouse.replace("cluster.image_sets", rows_to_arrow("cluster.image_sets", rows))
        return warehouse.fingerprint("cluster.image_sets")

    first, second = set_rows("a", "b")
    assert version(first, second) == version(second, first)
    others = [(), (first,), (second,), (first, {**second, "entry_id": "c"})]
    assert len({version(first, second), *(version(*rows) for rows in others)}) == 5


def test_rows_that_are_there_twice_do_not_cancel_each_other(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    lost = {"stage": "answers", "set_id": "s", "reason": "empty", "detail": "Nothing."}

    def version(*subjects: str) -> str:
        rows = rows_to_arrow("dialogue.failed", [{**lost, "subject": each} for each in subjects])
        warehouse.replace("dialogue.failed", rows)
        return warehouse.fingerprint("dialogue.failed")

    found = [version(), version("a"), version("a", "a"), version("a", "a", "b", "b"), version("b")]
    assert len(set(found)) == len(found)


def test_the_rows_of_one_shard_are_not_those_of_another(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    page = {
        "page_id": "p",
        "page_url": "u",
        "title": "Owl",
        "language": "en",
        "page_text": "An owl.",
    }
    page |= {"categories": [], "topics": []}

    def version(shard: str, **pages: str) -> str:
        rows = [{**page, "wit_shard": name, "page_id": of} for name, of in pages.items()]
        warehouse.replace("ingest.pages", rows_to_arrow("ingest.pages", rows))
        return warehouse.fingerprint("ingest.pages", {"wit_shard": [shard]})

    alone = version("owls", owls="1")
    assert version("owls", owls="1", kites="2") == alone
    assert version("owls", owls="3", kites="2") != alone
