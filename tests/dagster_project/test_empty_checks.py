"""The checks `not_empty` count what an asset is there for, by kind, and say what to do without it."""

from typing import Any

import dagster as dg
import pytest

from dagster_project.definitions import defs
from resources.warehouse import Warehouse
from tests.assets.filled import put

SETS = "image sets in cluster.image_sets"
DIALOGUES = "items of the current releases in release.items"


def not_empty(asset: str, warehouse: Warehouse, *, made: bool = True) -> dg.AssetCheckResult:
    wanted = dg.AssetCheckKey(dg.AssetKey(asset.split("/")), "not_empty")
    check = next(each for each in defs.asset_checks or [] if wanted in each.check_keys)
    with dg.DagsterInstance.ephemeral() as instance:
        if made:
            instance.report_runless_asset_event(dg.AssetMaterialization(wanted.asset_key))
        return check(dg.build_asset_check_context(instance=instance), warehouse=warehouse)


def counted(result: dg.AssetCheckResult) -> dict[str, Any]:
    return {name: value.value for name, value in result.metadata.items()}


def test_image_sets_are_counted_not_their_images(empty_warehouse: Warehouse) -> None:
    sets = {"s1": ("benchmark", 3), "s2": ("benchmark", 2), "s3": ("instruction", 2)}
    rows = [
        {"set_id": set_id, "kind": kind, "position": position}
        for set_id, (kind, n_images) in sets.items()
        for position in range(1, n_images + 1)
    ]
    put(empty_warehouse, {"cluster.image_sets": rows})
    result = not_empty("cluster/image_sets", empty_warehouse)
    assert result.passed
    assert counted(result) == {f"{SETS}, benchmark": 2, f"{SETS}, instruction": 1}


RELEASE = {"name": "mmdu", "kind": "benchmark", "origin": "built", "review_policy": "none"}
OLD, NEW = RELEASE | {"release_id": "old"}, RELEASE | {"release_id": "new"}


def test_dialogues_of_releases_in_force_are_counted_not_the_releases_and_not_earlier_ones(
    empty_warehouse: Warehouse,
) -> None:
    items = [{"release_id": "old", "item_id": f"o{n}"} for n in range(5)]
    items.append({"release_id": "new", "item_id": "n"})
    put(empty_warehouse, {"release.releases": [OLD, NEW], "release.items": items})
    put(empty_warehouse, {"release.current": [NEW]})
    result = not_empty("release/releases", empty_warehouse)
    assert result.passed, "an instruction set is not demanded"
    assert counted(result) == {f"{DIALOGUES}, benchmark": 1, f"{DIALOGUES}, instruction": 0}


def test_nothing_fails_and_says_what_to_do(empty_warehouse: Warehouse) -> None:
    sets = not_empty("cluster/image_sets", empty_warehouse)
    assert not sets.passed
    assert counted(sets) == {f"{SETS}, benchmark": 0, f"{SETS}, instruction": 0}
    assert sets.description == (
        "There are no image sets in cluster.image_sets. Ingest more shards, lower tau of "
        "cluster/clusters, or let a set have several pictures of a page (repeat_pages of "
        "cluster/image_sets); table cluster.set_counts says why each missing set is missing."
    )

    # What was released earlier does not pass for what is released now.
    put(empty_warehouse, {"release.releases": [OLD], "release.items": [OLD]})
    dialogues = not_empty("release/releases", empty_warehouse)
    assert not dialogues.passed
    assert dialogues.description == (
        "There are no items of the current releases in release.items. Review what was generated "
        "(vlm-loom review demo) or demand fewer decisions (setting require of review/approved), then "
        "materialize review/approved and release/releases again."
    )


@pytest.mark.parametrize("asset", ["cluster/image_sets", "release/releases"])
def test_what_was_never_made_is_made_by_the_job_build_and_no_setting_is_at_fault(
    empty_warehouse: Warehouse, asset: str
) -> None:
    """As in the backup of a home that was being built when it was taken."""
    result = not_empty(asset, empty_warehouse, made=False)
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
