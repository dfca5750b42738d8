"""The checks `not_empty` count what an asset is there for, by kind, and say what to do without it."""

from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets.common.tables import rows_to_arrow
from dagster_project.definitions import defs
from resources.warehouse import Warehouse

SETS = "image sets in cluster.image_sets"
DIALOGUES = "items of the current releases in release.items"


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(tmp_path / "warehouse.duckdb")


def not_empty(asset: str, warehouse: Warehouse, *, made: bool = True) -> dg.AssetCheckResult:
    wanted = dg.AssetCheckKey(dg.AssetKey(asset.split("/")), "not_empty")
    check = next(each for each in defs.asset_checks or [] if wanted in each.check_keys)
    with dg.DagsterInstance.ephemeral() as instance:
        if made:
            instance.report_runless_asset_event(dg.AssetMaterialization(wanted.asset_key))
        return check(dg.build_asset_check_context(instance=instance), warehouse=warehouse)


def counted(result: dg.AssetCheckResult) -> dict[str, Any]:
    return {name: value.value for name, value in result.metadata.items()}


def image(kind: str, set_id: str, position: int) -> dict[str, Any]:
    return {
        "set_id": set_id,
        "kind": kind,
        "cluster_id": "c",
        "position": position,
        "entry_id": f"e{position}",
        "image_id": f"i{position}",
    }


def release(release_id: str, name: str, kind: str) -> dict[str, Any]:
    counts = dict.fromkeys(("n_items", "n_turns", "n_images"), 9)
    return {
        "release_id": release_id,
        "name": name,
        "kind": kind,
        "origin": "built",
        **counts,
        "review_policy": "none",
        "review_share": 0.0,
        "provider": "mock",
        "created_at": "2026-01-01T00:00:00+00:00",
    }


def item(release_id: str, item_id: str) -> dict[str, Any]:
    of_item = {"release_id": release_id, "item_id": item_id, "set_id": "s"}
    return {**of_item, "ordinal": 1, "revision": 0, "reviewers": [], "labels": {}}


def put(warehouse: Warehouse, table: str, rows: list[dict[str, Any]]) -> None:
    warehouse.replace(table, rows_to_arrow(table, rows))


def test_image_sets_are_counted_not_their_images(warehouse: Warehouse) -> None:
    rows = [image("benchmark", "s1", n) for n in (1, 2, 3)]
    rows += [image("benchmark", "s2", n) for n in (1, 2)]
    rows += [image("instruction", "s3", n) for n in (1, 2)]
    put(warehouse, "cluster.image_sets", rows)
    result = not_empty("cluster/image_sets", warehouse)
    assert result.passed
    assert counted(result) == {f"{SETS}, benchmark": 2, f"{SETS}, instruction": 1}


def test_dialogues_of_releases_in_force_are_counted_not_the_releases_and_not_earlier_ones(
    warehouse: Warehouse,
) -> None:
    releases = [release("old", "mmdu", "benchmark"), release("new", "mmdu", "benchmark")]
    put(warehouse, "release.releases", releases)
    put(warehouse, "release.items", [item("old", f"o{n}") for n in range(5)] + [item("new", "n")])
    put(warehouse, "release.current", [{"name": "mmdu", "release_id": "new"}])
    result = not_empty("release/releases", warehouse)
    assert result.passed, "an instruction set is not demanded"
    assert counted(result) == {f"{DIALOGUES}, benchmark": 1, f"{DIALOGUES}, instruction": 0}


def test_nothing_fails_and_says_what_to_do(warehouse: Warehouse) -> None:
    sets = not_empty("cluster/image_sets", warehouse)
    assert not sets.passed
    assert counted(sets) == {f"{SETS}, benchmark": 0, f"{SETS}, instruction": 0}
    assert sets.description == (
        "There are no image sets in cluster.image_sets. Ingest more shards, lower tau of "
        "cluster/clusters, or let a set have several pictures of a page (repeat_pages of "
        "cluster/image_sets); table cluster.set_counts says why each missing set is missing."
    )

    # What was released earlier does not pass for what is released now.
    put(warehouse, "release.releases", [release("old", "mmdu", "benchmark")])
    put(warehouse, "release.items", [item("old", "o")])
    dialogues = not_empty("release/releases", warehouse)
    assert not dialogues.passed
    assert dialogues.description == (
        "There are no items of the current releases in release.items. Review what was generated "
        "(vlm-loom review demo) or demand fewer decisions (setting require of review/approved), then "
        "materialize review/approved and release/releases again."
    )


@pytest.mark.parametrize("asset", ["cluster/image_sets", "release/releases"])
def test_what_was_never_made_is_made_by_the_job_build_and_no_setting_is_at_fault(
    warehouse: Warehouse, asset: str
) -> None:
    """As in the backup of a home that was being built when it was taken."""
    result = not_empty(asset, warehouse, made=False)
    assert not result.passed and (result.description or "").endswith(
        f" This home has never made {asset}: launch the job build (vlm-loom run build), which goes on "
        "with what there is."
    )


def test_both_stop_what_follows() -> None:
    graph = defs.resolve_asset_graph()
    found = {key for key in graph.asset_check_keys if key.name == "not_empty"}
    assert {"/".join(key.asset_key.path) for key in found} == {
        "cluster/image_sets",
        "release/releases",
    }
    assert all(graph.get_check_spec(key).blocking for key in found)
