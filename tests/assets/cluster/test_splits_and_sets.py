"""The splits of a corpus and its image sets: what stays, what moves nothing, what lacks and why."""

import io
from collections.abc import Mapping
from pathlib import Path

import dagster as dg
import pytest
from PIL import Image

from tests.assets.conftest import MakeWorld
from tests.assets.corpus import TOPICS, sample_rows, two_sided_corpus
from tests.assets.filled import put
from tests.assets.world import (
    SMALL_SETS,
    Result,
    Row,
    World,
    copy_of,
    made,
    metadata,
    move_corpus,
    sentence,
)

pytestmark = pytest.mark.slow

SPLITS = dg.AssetSelection.assets(["cluster", "splits"])
BOTH = dg.AssetSelection.assets(["cluster", "splits"], ["cluster", "image_sets"])
CANDIDATES = dg.AssetSelection.assets(["rewrite", "candidates"])


@pytest.fixture
def world(clustered: World, make_world: MakeWorld, tmp_path: Path) -> World:
    """Twelve clustered entries in either split; its shards may be added to."""
    copy_of(clustered.root, tmp_path)
    move_corpus(clustered.root, tmp_path)
    return make_world(tmp_path, two_sided_corpus(tmp_path / "corpus"))


def divide(world: World, assets: dg.AssetSelection = SPLITS, **config: object) -> Result:
    given = {**SMALL_SETS["cluster__splits"]["config"], **config}
    settings = {"cluster__splits": {"config": given}}
    if assets == BOTH:
        settings["cluster__image_sets"] = SMALL_SETS["cluster__image_sets"]
    return world.run("cluster", settings, assets=assets)


def entries_on(world: World, split: str) -> set[str]:
    rows = world.rows("SELECT entry_id FROM cluster.entry_splits WHERE split = $split", split=split)
    return {row["entry_id"] for row in rows}


def entries_in(world: World, kind: str) -> set[str]:
    return {row["entry_id"] for of in world.image_sets(kind).values() for row in of}


def test_the_same_corpus_and_a_shard_keeps_every_item_in_its_split(world: World) -> None:
    before = world.table("cluster.splits")
    sets = {kind: world.image_sets(kind) for kind in ("benchmark", "instruction")}
    for kind in sets:
        # One entry to instruct is in no cluster.
        assert len(entries_in(world, kind)) == 12
        assert entries_in(world, kind) <= entries_on(world, kind)
    world.corpus.write_shard("later", sample_rows("fruit", "planet"))
    assert world.ingest("later").success
    run = world.cluster()
    told, sampled = (metadata(run, f"cluster/{name}") for name in ("splits", "image_sets"))
    after = world.table("cluster.splits")
    assert all(row in after for row in before) and len(after) == len(before) + 12
    assert told["split as before"] == len(before)
    assert told["for benchmarks"] + told["for instruction sets"] == len(after)
    for kind, of in sets.items():
        assert of.items() <= world.image_sets(kind).items()
    assert sampled["benchmark sets as before"] == 4 < sampled["benchmark sets"]


def test_what_stands_on_sets_of_a_wrong_split_says_so(world: World) -> None:
    divided = divide(world, by_cluster=False, redraw=True)
    counted = metadata(divided, "cluster/splits")
    assert counted["clusters in both splits"] == counted["clusters"] == 4
    run = world.run("rewrite", assets=CANDIDATES)
    found = metadata(run, "rewrite/candidates")
    n_others = len(entries_on(world, "instruction"))
    assert found["entries left out, in the instruction split"] == n_others > 0
    stopped = world.generate()
    assert not stopped.success
    assert "that were given another split, after sampling: run the job cluster" in sentence(stopped)


def test_benchmarks_read_entries_of_their_split_alone(world: World) -> None:
    for query in ("dialogue/pictures", "rewrite/pictured"):
        read = {row["entry_id"] for row in world.warehouse.read(query).to_pylist()}
        assert read == entries_on(world, "benchmark"), query


def import_by_hand(world: World, image: Mapping[str, object], other: Row) -> None:
    """An imported benchmark, of one image now and of another one in an earlier release."""
    of = {"name": "elsewhere", "kind": "benchmark", "origin": "imported", "review_policy": "none"}
    now, earlier = ({**of, "release_id": f"elsewhere-{number}"} for number in (2, 1))
    shown = [{**image, **now}, {"image_id": other["image_id"], **earlier}]
    images = [{**row, "item_id": "i", "position": 1} for row in shown]
    rows = {"release.releases": [now, earlier], "release.current": [now], "release.images": images}
    put(world.warehouse, rows)


@pytest.mark.parametrize("by", ["image_id", "page_url", "copy"])
def test_what_an_imported_benchmark_has_is_to_instruct_no_more(world: World, by: str) -> None:
    row, *_, kept = world.rows(
        "SELECT s.entry_id, e.image_id, e.page_url FROM cluster.image_sets AS s "
        "JOIN ingest.entries AS e USING (entry_id) WHERE kind = 'instruction' "
        "ORDER BY s.entry_id"
    )
    image = {"image_id": row["image_id"]} if by == "image_id" else {"image_id": "0" * 64}
    if by == "page_url":
        # Its picture is another one.
        (other,) = world.rows("SELECT image_id FROM ingest.images ORDER BY image_id LIMIT 1")
        (on,) = world.table("cluster.splits", image_id=other["image_id"])
        image = {"image_id": other["image_id"], "page_url": row["page_url"]}
        assert on["split"] in ("benchmark", "instruction")
    if by == "copy":
        picture = Image.open(world.images.path(row["image_id"])).convert("RGB")
        smaller = io.BytesIO()
        picture.reduce(2).save(smaller, "JPEG")
        image = {"image_id": world.images.put(smaller.getvalue()).image_id}
    import_by_hand(world, image, kept)
    run = divide(world, BOTH)
    (split,) = world.table("cluster.entry_splits", entry_id=row["entry_id"])
    assert (split["split"], split["reason"]) == (None, "in_imported_benchmark")
    (split,) = world.table("cluster.entry_splits", entry_id=kept["entry_id"])
    assert split["split"] == "instruction"
    told = metadata(run, "cluster/splits")
    assert told["left out of both"] >= 1
    # A cluster of one split and of images that are left out is not in both.
    assert told["clusters in both splits"] == 0
    assert "before a benchmark with it was imported" in told["warning"]
    assert row["entry_id"] not in entries_in(world, "instruction")


def test_what_stands_on_sets_of_pages_that_changed_stops_until_they_are_sampled_again(world):
    """A shard that was ingested by itself."""
    first, *others = sample_rows(*TOPICS)
    page = {**first, "context_page_description": "It is known by another story now."}
    world.corpus.write_shard("mini", [page, *others])
    assert world.ingest().success
    review = {f"review/{asset}" for asset in ("queue", "approved", "agreement", "effort")}
    for run in (world.generate(), world.release()):
        assert not run.success and made(run) <= review
        said = sentence(run)
        assert "image sets have entries whose pages were changed or removed" in said
        assert said.endswith("run the job cluster, then run this again.")
    assert world.cluster().success
    gone = "FROM cluster.image_sets ANTI JOIN ingest.entries USING (entry_id)"
    assert world.rows(gone) == []
    summaries = dg.AssetSelection.assets(["dialogue", "summaries"])
    assert world.run("dialogue", assets=summaries).success


IMAGE_SETS = dg.AssetSelection.assets(["cluster", "image_sets"])


def draw(world: World, **config: object) -> Result:
    small = SMALL_SETS["cluster__image_sets"]["config"]
    settings = {"cluster__image_sets": {"config": {**small, **config}}}
    return world.run("cluster", settings, assets=IMAGE_SETS)


def set_ids(world: World) -> set[str]:
    return {row["set_id"] for row in world.rows("SELECT set_id FROM cluster.image_sets")}


def counts(world: World, kind: str) -> list[tuple]:
    rows = world.table("cluster.set_counts", kind=kind)
    return [(r["n_images"], r["wanted"], r["made"], dict(r["reasons"])) for r in rows]


def test_what_is_wanted_and_what_is_made_stands_in_its_table_with_the_reasons(world):
    result = draw(world, benchmark_sizes={"3": 3, "8": 1}, benchmark_sets=8)
    # Six threes and two eights are wanted. No cluster has eight entries. Twelve entries of this split
    # in two clusters make four threes; with those of the other split there would be enough.
    assert counts(world, "benchmark") == [
        (3, 6, 4, {"the other split has the rest": 2}),
        (8, 2, 0, {"clusters too small": 2}),
    ]
    told = metadata(result, "cluster/image_sets")
    assert (told["benchmark sets wanted"], told["benchmark sets"]) == (8, 4)
    assert told["benchmark sets as before"] == 4
    assert told["instruction sets wanted"] == "as many as the entries allow"
    assert (
        "| 3 | 6 | 4 | 75.0% | 100.0% | 2 the other split has the rest |" in told["benchmark sizes"]
    )
    assert counts(world, "instruction") == [(2, 6, 6, {})]


def test_sets_stay_until_they_are_drawn_anew(world: World) -> None:
    before = set_ids(world)
    draw(world, seed=1)
    assert set_ids(world) == before
    draw(world, seed=1, redraw=True)
    assert set_ids(world) != before
    draw(world, redraw=True)
    assert set_ids(world) == before
