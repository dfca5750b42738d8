"""Groups and clusters in the warehouse: shards that come and go, settings that change, what is told."""

import importlib
from pathlib import Path
from types import SimpleNamespace

import dagster as dg
import pyarrow as pa
import pytest

from assets.common.partitions import wit_shards
from tests.assets.conftest import MakeWorld
from tests.assets.corpus import Corpus, sample_rows
from tests.assets.ingesting import ingest_unchecked
from tests.assets.world import Row, World, copy_of, metadata, move_corpus

pytestmark = pytest.mark.slow

module = importlib.import_module("assets.cluster.clusters")

BALLOONS, BUTTERFLIES = sample_rows("balloon"), sample_rows("butterfly")
FEW = [*BALLOONS[:4], BUTTERFLIES[0]]


def cluster(world: World, **config: object) -> Row:
    assets = dg.AssetSelection.assets(["cluster", "embeddings"], ["cluster", "clusters"])
    run = world.run("cluster", {"cluster__clusters": {"config": config}}, assets=assets)
    assert run.success
    return metadata(run, "cluster/clusters")


def tables(world: World) -> dict[str, list[Row]]:
    return {name: world.table(f"cluster.{name}") for name in ("clusters", "communities", "changes")}


def places(world: World) -> dict[str, Row]:
    return {
        row["title"]: row
        for row in world.rows(
            "SELECT c.*, e.title FROM cluster.clusters AS c JOIN ingest.entries AS e USING (entry_id)"
        )
    }


@pytest.fixture(scope="module")
def few(make_world: MakeWorld, tmp_path_factory: pytest.TempPathFactory) -> World:
    """Four balloons and one butterfly, clustered. Not to be changed: tests go on from copies."""
    root = tmp_path_factory.mktemp("few")
    corpus = Corpus(root / "corpus")
    corpus.write_shard("one", FEW)
    corpus.write_categories()
    world = make_world(root, corpus)
    assert world.ingest("one").success
    told = cluster(world)
    assert told["mode"] == "reclustered: no prior communities"
    return world


def going_on(base: World, make_world: MakeWorld, root: Path) -> World:
    """A copy, with a second shard that is not ingested in `few`."""
    copy_of(base.root, root)
    move_corpus(base.root, root)
    corpus = Corpus(root / "corpus")
    corpus.write_shard("one", FEW)
    corpus.write_shard("two", [*BALLOONS[4:], *BUTTERFLIES[1:]])
    corpus.write_categories()
    return make_world(root, corpus)


@pytest.fixture
def world(few: World, make_world: MakeWorld, tmp_path: Path) -> World:
    return going_on(few, make_world, tmp_path)


@pytest.fixture(scope="module")
def extended(few: World, make_world: MakeWorld, tmp_path_factory: pytest.TempPathFactory) -> World:
    """The second shard has come to the first. Not to be changed either."""
    world = going_on(few, make_world, tmp_path_factory.mktemp("both"))
    ingested(world, "two")
    told = cluster(world)
    assert told["mode"] == "extended" and "groups kept" not in told
    assert (told["groups"], told["entries in no group"]) == (2, 0)
    assert (told["entries assigned to a group"], told["groups new"]) == (2, 1)
    return world


@pytest.fixture
def both(extended: World, make_world: MakeWorld, tmp_path: Path) -> World:
    return going_on(extended, make_world, tmp_path)


def test_whatever_the_communities_were_made_with_is_a_reason_to_cluster_all_again() -> None:
    settings = {"model": "m", "tau": 0.5, "min_size": 2, "group_method": "g", "cluster_method": "c"}
    centre = {"language": "en", "category": [1.0], "caption": [1.0]}

    def reason(**stored: object) -> str | None:
        communities = pa.Table.from_pylist([{**settings, **centre, **stored}])
        return module._recluster_reason(settings, SimpleNamespace(communities=communities))

    assert reason() is None
    for name, wanted in settings.items():
        assert reason(**{name: 2 * wanted}) == f"{name} was {2 * wanted} and is {wanted}"
    assert all(reason(**{name: None}) for name in centre)


def ingested(world: World, shard: str) -> None:
    world.instance.add_dynamic_partitions(str(wit_shards.name), [shard])
    assert ingest_unchecked(world, shard).success


def test_languages_that_the_model_does_not_read_are_in_no_cluster_and_are_named(
    make_world: MakeWorld, tmp_path: Path
) -> None:
    russian = ("Воздушный шар над рекой", "Красный воздушный шар над полем на рассвете")
    rows = [
        *BALLOONS[:2],
        *({**row, "language": "de"} for row in BALLOONS[2:4]),
        *(
            {**row, "language": "ru", "caption_reference_description": caption}
            for row, caption in zip(BALLOONS[4:6], russian, strict=True)
        ),
    ]
    corpus = Corpus(tmp_path / "corpus")
    corpus.write_shard("one", rows)
    corpus.write_categories()
    world = make_world(tmp_path, corpus)
    assert world.ingest("one").success
    told = cluster(world)
    assert told["warning"].startswith(
        "2 entries are in no cluster, because all-MiniLM-L6-v2 does not read their languages: ru (2)."
    )
    groups = world.rows(
        "SELECT e.language, count(*) AS n, any_value(group_how) AS how, list(DISTINCT group_id) AS ids"
        " FROM cluster.clusters JOIN ingest.entries AS e USING (entry_id) GROUP BY 1 ORDER BY 1"
    )
    assert [(row["language"], row["n"], row["how"]) for row in groups] == [
        ("de", 2, "seed"),
        ("en", 2, "seed"),
        ("ru", 2, "unreadable language"),
    ]
    assert groups[0]["ids"] != groups[1]["ids"] and groups[2]["ids"] == [None]


def test_every_entry_has_a_row_that_says_why_it_sits_there(few: World) -> None:
    rows = places(few)
    assert set(rows) == {row["page_title"] for row in FEW}
    lonely = rows.pop(BUTTERFLIES[0]["page_title"])
    assert lonely["group_how"] == "no neighbour" and lonely["group_id"] is None
    (group,) = {row["group_id"] for row in rows.values()}
    assert lonely["nearest_group_id"] == group
    assert -1 <= lonely["nearest_group_similarity"] < 0.75
    for row in rows.values():
        assert row["group_how"] == row["cluster_how"] == "seed"
        assert row["group_similarity"] >= 0.75 <= row["cluster_similarity"]
        assert row["nearest_group_id"] is row["nearest_cluster_id"] is None
        is_centre = row["entry_id"] == row["group_centre"]
        assert (row["group_similarity"] == 1) == is_centre
        assert (row["group_caption_similarity"] == 1) == is_centre
    # Communities say where their centre is and how they were found.
    for community in few.table("cluster.communities"):
        (centre,) = (r for r in rows.values() if r["entry_id"] == community["centre_entry_id"])
        assert centre["category_text_id"] == community["category_text_id"]
        assert (community["model"], community["tau"]) == (few.embedder.name, 0.75)
        assert (community["n_members"], community["min_size"]) == (4, 2)


def test_a_second_shard_joins_what_is_there_and_founds_what_is_not(few, extended):
    before, old = places(few), few.table("cluster.communities")
    after, now = places(extended), extended.table("cluster.communities")

    # Balloons stay where they are, and more come to them under the same names.
    for row in BALLOONS[:4]:
        assert after[row["page_title"]] == before[row["page_title"]]
    assert {after[row["page_title"]]["group_how"] for row in BALLOONS[4:]} == {"assigned"}
    for kind in ("group", "cluster"):
        ids = {after[row["page_title"]][f"{kind}_id"] for row in BALLOONS}
        assert ids == {row["community_id"] for row in old if row["kind"] == kind}
    # The butterfly that was alone has founded a group with those that came.
    assert {after[row["page_title"]]["group_how"] for row in BUTTERFLIES} == {"seed"}
    created_in = {row["community_id"]: row["created_in"] for row in now}
    assert [created_in[row["community_id"]] for row in old] == [row["created_in"] for row in old]
    assert len(set(created_in.values())) == 2
    changes = [
        row for row in extended.table("cluster.changes") if row not in few.table("cluster.changes")
    ]
    assert [(row["kind"], row["change"]) for row in changes] == [
        ("cluster", "new"),
        ("group", "new"),
    ]


def test_a_second_run_changes_nothing_and_one_on_demand_clusters_all_and_keeps_its_names(world):
    before = tables(world)
    told = cluster(world)
    assert told["mode"] == "extended" and told["entries assigned to a group"] == 0
    assert tables(world) == before

    told = cluster(world, recluster=True)
    assert told["mode"] == "reclustered: requested"
    assert (told["groups kept"], told["clusters kept"]) == (1, 1)
    after = tables(world)
    assert after["clusters"] == before["clusters"]
    assert after["communities"] == before["communities"]
    # What was told before is still there.
    assert len(after["changes"]) == len(before["changes"]) + 2
    assert [row for row in after["changes"] if row in before["changes"]] == before["changes"]


def test_an_edited_text_moves_no_entry_and_an_edited_caption_places_it_by_the_new_one(world):
    before = places(world)
    story = {**FEW[1], "context_page_description": "It is known by another story now."}
    caption = {**FEW[0], "caption_reference_description": "Minutes of the parish council"}
    world.corpus.write_shard("one", [caption, story, *FEW[2:]])
    ingested(world, "one")
    assert cluster(world)["entries assigned to a group"] == 0
    after = places(world)
    title = story["page_title"]
    assert after[title]["entry_id"] != before[title]["entry_id"]
    assert {**after[title], "entry_id": before[title]["entry_id"]} == before[title]

    # Its categories are the same, so it is still the member of the group that it was.
    moved, was = (rows[caption["page_title"]] for rows in (after, before))
    assert (moved["group_id"], moved["group_how"]) == (was["group_id"], "seed")
    assert (moved["cluster_id"], moved["cluster_how"]) == (None, "no neighbour")
    assert moved["nearest_cluster_id"] == was["cluster_id"]


def test_other_methods_find_the_same_groups_and_place_captions_by_density(both, monkeypatch):
    monkeypatch.setattr(module, "APPROXIMATE_FROM", 2)
    methods = {"group_method": "approximate", "cluster_method": "density"}
    groups = {title: row["group_id"] for title, row in places(both).items()}
    told = cluster(both, **methods)
    assert told["mode"] == "reclustered: group_method was threshold and is approximate"
    # Every group is the successor of the one it was, so it keeps the name.
    assert {title: row["group_id"] for title, row in places(both).items()} == groups
    again = cluster(both, **methods)
    assert again["mode"] == "extended"
    assert again["clusters"] == told["clusters"] and "clusters new" not in again
