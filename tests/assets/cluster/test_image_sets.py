"""Image sets as an asset: what is asked for in a run's config, what stays, what is said of the rest."""

from pathlib import Path

import dagster as dg
import pytest

from resources.warehouse import WarehouseError
from tests.assets.conftest import CopyWorld
from tests.assets.world import SMALL_SETS, Result, World, metadata

pytestmark = pytest.mark.slow

IMAGE_SETS = dg.AssetSelection.assets(["cluster", "image_sets"])


@pytest.fixture
def world(clustered: World, copied: CopyWorld, tmp_path: Path) -> World:
    """Two clusters of six entries in either split, in four threes and in six pairs."""
    return copied(clustered, tmp_path)


def draw(world: World, **config: object) -> Result:
    """A run of the asset alone, in its stage's job."""
    small = SMALL_SETS["cluster__image_sets"]["config"]
    settings = {"cluster__image_sets": {"config": {**small, **config}}}
    return world.run("cluster", settings, assets=IMAGE_SETS)


def set_ids(world: World) -> set[str]:
    return {row["set_id"] for row in world.rows("SELECT set_id FROM cluster.image_sets")}


def counts(world: World, kind: str) -> list[tuple]:
    """Size, wanted, made and reasons."""
    rows = world.rows("SELECT * FROM cluster.set_counts WHERE kind = $kind ORDER BY ALL", kind=kind)
    return [(r["n_images"], r["wanted"], r["made"], dict(r["reasons"])) for r in rows]


def test_what_is_wanted_and_what_is_made_stands_in_its_table_with_the_reasons(world: World) -> None:
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


def test_reasons_that_do_not_add_up_are_refused(world: World) -> None:
    table = world.warehouse.sql("SELECT * REPLACE (made + 1 AS made) FROM cluster.set_counts")
    with pytest.raises(WarehouseError, match="CHECK"):
        world.warehouse.replace("cluster.set_counts", table)


def test_sets_stay_until_they_are_drawn_anew(world: World) -> None:
    before = set_ids(world)
    draw(world, seed=1)
    assert set_ids(world) == before
    draw(world, seed=1, redraw=True)
    assert set_ids(world) != before
    draw(world, redraw=True)
    assert set_ids(world) == before
