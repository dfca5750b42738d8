"""A check that failed says what to do, and it passes when that is done: the advice is followed here."""

import re

import dagster as dg
import duckdb
import pytest

from dagster_project.progress import is_failed_check
from resources.warehouse.duckdb_file import left_open
from tests.assets.world import (
    ANY_ASSETS,
    SMALL_SETS,
    WITHOUT_PICTURES,
    Result,
    Row,
    World,
    sentence,
)

pytestmark = pytest.mark.nightly

BENCHMARKS = "FROM cluster.image_sets WHERE kind = 'benchmark'"
FIRST, LAST = (f"(SELECT {end}(set_id) {BENCHMARKS})" for end in ("min", "max"))


def change(world: World, statement: str) -> None:
    """What a person does at DuckDB's own prompt."""
    left_open.close(world.warehouse.path)
    with duckdb.connect(str(world.warehouse.path)) as connection:
        connection.execute(statement)


def wrong(world: World) -> dict[str, str]:
    """What the checks say that failed, in a run of checks alone; those that warn are left out."""
    run = world.run("checks")
    return {
        f"{each.asset_key.to_user_string()} {each.check_name}": each.description or ""
        for each in run.get_asset_check_evaluations()
        if is_failed_check(each)
    }


def follow(world: World, said: str) -> Result:
    """Materialize what the sentence names, with what it names."""
    advice = said.partition(": materialize ")[2]
    assets = [name.split("/") for name in re.findall(r"[a-z_]+/[a-z_]+", advice)]
    config: Row = {f"{stage}__{name}": {} for stage, name in assets}
    config |= {name: of for name, of in SMALL_SETS.items() if name in config}
    if "recluster" in advice:
        config["cluster__clusters"] = {"config": {"recluster": True}}
    selected = dg.AssetSelection.assets(*assets)
    if "and what follows" in advice:
        selected, config = WITHOUT_PICTURES, {**SMALL_SETS, **config}
    return world.run(ANY_ASSETS, config, assets=selected)


FAULTS = {
    "cluster/clusters within_tau": "UPDATE cluster.clusters SET cluster_similarity = 0.5 "
    "WHERE entry_id = (SELECT min(entry_id) FROM cluster.clusters WHERE cluster_id IS NOT NULL)",
    "cluster/image_sets sizes": "DELETE FROM cluster.image_sets "
    f"WHERE set_id = {LAST} AND position = 1",
    "cluster/image_sets entry_use": "UPDATE cluster.image_sets SET entry_id = (SELECT max(entry_id) "
    f"{BENCHMARKS} AND set_id <> {FIRST}) WHERE set_id = {FIRST} AND position = 1",
    "cluster/image_sets no_repeats": "UPDATE ingest.entries SET page_id = 'one' WHERE entry_id IN "
    f"(SELECT entry_id {BENCHMARKS} AND set_id = {LAST})",
    "rewrite/seeds schema": "ALTER TABLE rewrite.seeds ADD COLUMN mine INTEGER",
}


def test_what_was_changed_by_hand_is_sound_again(clustered, copied, tmp_path):
    world = copied(clustered, tmp_path)
    before = wrong(world)
    assert not before.keys() & FAULTS.keys()
    for statement in FAULTS.values():
        change(world, statement)
    found = wrong(world)
    assert found.keys() - before.keys() == FAULTS.keys()
    assert found.pop("rewrite/seeds schema") == (
        "The tables are not as sql/ declares them (missing: none; unexpected: rewrite.seeds.mine "
        "INTEGER): undo the change (ALTER TABLE), or restore a backup (vlm-loom workspace restore)."
    )
    change(world, "ALTER TABLE rewrite.seeds DROP COLUMN mine")
    for said in dict.fromkeys(found[name] for name in found.keys() - before.keys()):
        assert " has " in said
        run = follow(world, said)
        assert run.success, sentence(run)
    assert wrong(world) == before
