"""Figures about clusters, the map and its page, from tables made by hand and from a world."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dagster as dg
import pytest

from assets.cluster.cohesion import cohesion
from assets.cluster.map import entry_map
from assets.cluster.near_pairs import near_pairs
from assets.cluster.pictures import pictures
from resources.images.store import ImageStore
from resources.warehouse import Warehouse
from tests.assets.hand_clusters import MODEL, clustered_by_hand
from tests.assets.world import metadata

pytestmark = pytest.mark.slow

BY_HAND = SimpleNamespace(name=MODEL)
"""What of an embedder is asked for where every text has its vector."""


@pytest.fixture
def warehouse(tmp_path: Path, loom_home: Path) -> Warehouse:
    return Warehouse(tmp_path / "warehouse.duckdb")


def make(asset: dg.AssetsDefinition, warehouse: Warehouse, **config: object) -> dict[str, Any]:
    resources: dict[str, object] = {
        "warehouse": warehouse,
        "embedder": BY_HAND,
        "image_store": ImageStore(warehouse.path.with_name("images")),
    }
    result = dg.materialize(
        [asset],
        resources={
            name: each for name, each in resources.items() if name in asset.required_resource_keys
        },
        run_config={"ops": {asset.op.name: {"config": config}}} if config else None,
    )
    return metadata(result)


def made(warehouse: Warehouse, table: str) -> list[dict]:
    return warehouse.sql(f"SELECT * FROM {table} ORDER BY ALL").to_pylist()


def test_cohesion_by_hand(warehouse: Warehouse) -> None:
    make(cohesion, clustered_by_hand(warehouse))
    rows = {row["cluster_id"]: row for row in made(warehouse, "cluster.cohesion")}
    assert {each: row["size"] for each, row in rows.items()} == {"A": 3, "B": 2, "C": 2}
    assert rows["A"]["mean_similarity"] == pytest.approx((0.8 + 0.96) / 2)
    assert rows["A"]["min_similarity"] == pytest.approx(0.8)
    assert (rows["A"]["title"], rows["A"]["group_id"]) == ("Title of a1", "warm")
    # Of C's centre (-1, 0) the cosine is -.8 with B's (.8, -.6), and -1 with A's.
    assert {each: row["nearest_cluster"] for each, row in rows.items()} == {
        "A": "B",
        "B": "A",
        "C": "B",
    }
    assert rows["C"]["nearest_similarity"] == pytest.approx(-0.8)


def test_a_centre_whose_page_has_gone_still_is_one_under_its_caption(warehouse: Warehouse) -> None:
    clustered_by_hand(warehouse)
    for table in ("ingest.entries", "cluster.clusters"):
        warehouse.replace(table, warehouse.sql(f"SELECT * FROM {table} WHERE entry_id <> 'a1'"))
    make(cohesion, warehouse)
    row = made(warehouse, "cluster.cohesion")[0]
    assert (row["cluster_id"], row["title"], row["size"]) == ("A", "Caption of a1", 2)
    # a2 and a3 are as near to it as before.
    assert row["mean_similarity"] == pytest.approx((0.8 + 0.96) / 2)


@pytest.mark.parametrize(
    ("tau", "with_a2", "mergeable"),
    [
        (0.75, True, True),
        # At a2 A is as wide as the union, .8, whatever tau is: density may have made it so.
        (0.85, True, True),
        # Without a2 the lowest of A is a3's .96, and b1 is farther from a1 than tau.
        (0.85, False, False),
        (0.75, False, True),
    ],
)
def test_what_bounds_a_union_is_tau_or_a_cluster_that_is_wider_already(
    warehouse: Warehouse, tau: float, with_a2: bool, mergeable: bool
) -> None:
    nowhere = dict.fromkeys(("cluster_id", "cluster_centre", "cluster_similarity"))
    clustered_by_hand(
        warehouse,
        places={} if with_a2 else {"a2": {**nowhere, "cluster_how": "no neighbour"}},
        clusters={"A": {"tau": tau}, "B": {"tau": tau}},
    )
    make(near_pairs, warehouse)
    (row,) = made(warehouse, "cluster.near_pairs")
    assert row["union_similarity"] == pytest.approx(0.8)
    assert row["mergeable"] is mergeable


def test_an_empty_clustering_has_a_page_that_says_so(warehouse: Warehouse, loom_home: Path) -> None:
    told = make(pictures, warehouse)
    assert set(told) == {"dagster/row_count", "preview", "page"}
    assert told["page"] == "/loom/reports/cluster/pictures.html"
    page = loom_home / "reports" / "cluster" / "pictures.html"
    assert "Nothing is on the map yet" in page.read_text()


def test_the_page_shows_the_tables_and_the_ui_its_pictures(warehouse, loom_home):
    hostile = "<script>alert(1)</script>"
    clustered_by_hand(warehouse, entries={"a1": {"title": hostile, "categories": [hostile]}})
    # What is embedded of a1 is another text now; its vectors are those of before.
    rows = warehouse.sql(
        "SELECT text_id, $model AS model, text, [1.0, 0.0]::FLOAT[] AS vector FROM cluster.entry_texts "
        "ANTI JOIN cluster.embeddings USING (text_id)",
        {"model": MODEL},
    )
    warehouse.replace("cluster.embeddings", rows, {"text_id": rows["text_id"].to_pylist()})
    make(cohesion, warehouse)
    make(near_pairs, warehouse)
    make(entry_map, warehouse)
    make(pictures, warehouse)

    (row,) = made(warehouse, "cluster.pictures")
    assert row["path"] == "reports/cluster/pictures.html"
    assert (row["n_points"], row["n_thumbnails"]) == (9, 0)
    page = (loom_home / row["path"]).read_text()
    assert "Title of b1" in page and "0.800" in page
    assert hostile not in page
    assert "Sizes of clusters" in page and "Categories" in page


def test_pairs_that_could_not_be_one(warehouse: Warehouse) -> None:
    # Without A's members, B and C: centres at -.8, b2 and c2 farther still.
    clustered_by_hand(warehouse)
    make(near_pairs, warehouse, min_similarity=-1.0)
    rows = {
        (row["cluster_a"], row["cluster_b"]): row for row in made(warehouse, "cluster.near_pairs")
    }
    assert set(rows) == {("A", "B"), ("A", "C"), ("B", "C")}
    assert [rows[pair]["mergeable"] for pair in sorted(rows)] == [True, False, False]
    assert [rows[pair]["same_group"] for pair in sorted(rows)] == [False, True, False]
    columns = ("title_a", "title_b", "size_a", "size_b")
    assert [rows["A", "B"][name] for name in columns] == ["Title of a1", "Title of b1", 3, 2]
