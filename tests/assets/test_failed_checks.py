"""A check that failed says what to do, and it passes when that is done: the advice is followed here."""

import re
from pathlib import Path

import dagster as dg
import duckdb
import pytest

from tests.assets.conftest import MakeWorld
from tests.assets.world import (
    ANY_ASSETS,
    GENERATION,
    SMALL_SETS,
    WITHOUT_PICTURES,
    Result,
    Row,
    World,
    copy_of,
    sentence,
)

FIRST_SET = "(SELECT min(set_id) FROM cluster.image_sets WHERE kind = 'benchmark')"

OF_ANOTHER = f"""(
    SELECT max(entry_id) FROM cluster.image_sets WHERE kind = 'benchmark' AND set_id <> {FIRST_SET}
)"""


def change(world: World, statement: str) -> None:
    """What a person does at DuckDB's own prompt."""
    with duckdb.connect(str(world.warehouse.path)) as connection:
        connection.execute(statement)


def wrong(world: World, stage: str) -> dict[str, str]:
    """What the checks of a stage say that failed, in a run of checks alone."""
    run = world.run("checks")
    return {
        f"{each.asset_key.to_user_string()} {each.check_name}": each.description or ""
        for each in run.get_asset_check_evaluations()
        if not each.passed and each.asset_key.path[0] == stage
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


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("dialogue.questions", {"dialogue/questions whole", "dialogue/answers whole"}),
        ("dialogue.answers", {"dialogue/answers whole", "dialogue/dialogues whole"}),
        ("dialogue.dialogues", {"dialogue/dialogues whole"}),
    ],
)
def test_rows_that_were_deleted_are_found_and_made_again_without_a_call(
    released: World, make_world: MakeWorld, tmp_path: Path, table: str, told: set[str]
) -> None:
    copy_of(released.root, tmp_path)
    world = make_world(tmp_path, released.corpus)
    assert world.run(ANY_ASSETS, assets=GENERATION).success
    before = world.rows(f"FROM {table} ORDER BY ALL")
    n_calls = len(world.ledger)
    assert wrong(world, "dialogue") == {}

    (key, *_) = [name for name in before[0] if name in ("question_id", "dialogue_id")]
    gone = sorted(row[key] for row in before)[:3]
    change(world, f"DELETE FROM {table} WHERE {key} IN {tuple(gone)}")
    found = wrong(world, "dialogue")
    assert found.keys() == told
    assert f"{table} has {len(before) - 3} rows" in found[f"{table.replace('.', '/')} whole"]
    if table == "dialogue.questions":
        assert ", ".join(gone) in found["dialogue/answers whole"]

    for said in found.values():
        run = follow(world, said)
        assert run.success, sentence(run)
    assert wrong(world, "dialogue") == {}
    assert world.rows(f"FROM {table} ORDER BY ALL") == before
    assert len(world.ledger) == n_calls


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        (
            "UPDATE cluster.clusters SET cluster_similarity = 0.5 WHERE cluster_how = 'assigned' "
            "OR entry_id = (SELECT min(entry_id) FROM cluster.clusters WHERE cluster_id IS NOT NULL)",
            "cluster/clusters within_tau",
        ),
        (
            f"DELETE FROM cluster.image_sets WHERE set_id = {FIRST_SET} AND position = 1",
            "cluster/image_sets sizes",
        ),
        (
            f"UPDATE cluster.image_sets SET entry_id = {OF_ANOTHER} "
            f"WHERE set_id = {FIRST_SET} AND position = 1",
            "cluster/image_sets entry_use",
        ),
        (
            "UPDATE ingest.entries SET page_id = 'one' WHERE entry_id IN "
            f"(SELECT entry_id FROM cluster.image_sets WHERE set_id = {FIRST_SET})",
            "cluster/image_sets no_repeats",
        ),
    ],
)
def test_clusters_and_sets_that_were_changed_are_made_sound_again(
    clustered: World, make_world: MakeWorld, tmp_path: Path, statement: str, check: str
) -> None:
    copy_of(clustered.root, tmp_path)
    world = make_world(tmp_path, clustered.corpus)
    errors = {"within_tau", "no_repeats", "sizes", "entry_use"}
    change(world, statement)
    found = wrong(world, "cluster")
    assert check in found
    said = found[check]
    assert " has " in said and ": materialize " in said

    run = follow(world, said)
    assert run.success, sentence(run)
    assert not {name for name in wrong(world, "cluster") if name.split()[1] in errors}


def test_a_changed_table_is_sound_again_when_the_change_is_undone(
    clustered: World, make_world: MakeWorld, tmp_path: Path
) -> None:
    copy_of(clustered.root, tmp_path)
    world = make_world(tmp_path, clustered.corpus)
    change(world, "ALTER TABLE rewrite.seeds ADD COLUMN mine INTEGER")
    assert wrong(world, "rewrite") == {
        "rewrite/seeds schema": "The tables are not as sql/ declares them (missing: none; "
        "unexpected: rewrite.seeds.mine INTEGER): undo the change (ALTER TABLE), or restore a backup "
        "(make restore)."
    }
    change(world, "ALTER TABLE rewrite.seeds DROP COLUMN mine")
    assert wrong(world, "rewrite") == {}
