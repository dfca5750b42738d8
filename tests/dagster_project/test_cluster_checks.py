"""The checks of the clustering: each passes on what is right and fails on what it is there to find."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets.common.settings import SECTIONS, SHOWN_AS
from dagster_project import cluster_checks as checks
from dagster_project.definitions import defs
from resources.warehouse import Warehouse
from tests.assets.filled import put
from tests.assets.hand_clusters import clustered_by_hand

pytestmark = pytest.mark.slow

WARN = dg.AssetCheckSeverity.WARN
Changed = dict[str, dict[str, Any]]
MadeWith = Callable[..., dg.AssetCheckExecutionContext]


@pytest.fixture
def warehouse(empty_warehouse: Warehouse) -> Iterator[Warehouse]:
    with empty_warehouse.kept_open():
        yield empty_warehouse


@pytest.fixture
def made_with(loom_home: Path) -> Iterator[MadeWith]:
    """`made_with(table, **settings)`: a check's context after a run made the table with these settings.

    What the settings' file has now is another matter.
    """
    loom_home.mkdir()
    (loom_home / "settings.yaml").write_text("cluster: {clusters: {max_group_share: 0.01}}")
    with dg.DagsterInstance.ephemeral() as instance:

        def made(table: str, **settings: Any) -> dg.AssetCheckExecutionContext:
            used = SECTIONS[table](**settings).model_dump()
            event = dg.AssetMaterialization(
                table.split("."), metadata={SHOWN_AS: dg.MetadataValue.json(used)}
            )
            instance.report_runless_asset_event(event)
            return dg.build_asset_check_context(instance=instance)

        yield made


def value(result: dg.AssetCheckResult, name: str) -> Any:
    return result.metadata[name].value


def test_what_must_hold_is_blocking_and_what_is_to_be_looked_at_is_not() -> None:
    graph = defs.resolve_asset_graph()
    of_stage = {
        key: graph.get_check_spec(key).blocking
        for key in graph.asset_check_keys
        if key.asset_key.path[0] == "cluster" and key.name not in ("schema", "not_empty")
    }
    made = {check.check_key for check in checks.CLUSTER_CHECKS}
    assert made <= of_stage.keys()
    blocking = {key.name for key in made if of_stage[key]}
    assert blocking == {"within_tau", "no_repeats", "sizes", "entry_use"}


@pytest.mark.parametrize(
    ("places", "clusters", "found"),
    [
        ({}, {}, None),
        # c2 is no member of A: its cosine to (1, 0) is -.8, whatever the table says.
        (
            {"c2": {"cluster_id": "A", "cluster_centre": "a1", "cluster_similarity": 0.9}},
            {},
            (1, 0),
        ),
        # Categories of b2 are (0, 1), the centre's (1, 0): cosine 0.
        ({"b2": {"group_id": "warm", "group_similarity": 0.0}}, {}, (1, 0)),
        ({"a2": {"cluster_similarity": 0.85}, "a3": {"cluster_similarity": None}}, {}, (0, 2)),
        # The float32 of .8 is above .8, that of .96 below .96: neither is what tau is about.
        ({}, {"A": {"tau": 0.8}, "C": {"tau": 0.8}, "B": {"tau": 0.936}}, None),
        # Of a cluster found by density only who joined later is bound.
        ({"a2": {"cluster_how": "seed"}}, {"A": {"tau": 0.9, "cluster_method": "density"}}, None),
        (
            {"a2": {"cluster_how": "assigned"}},
            {"A": {"tau": 0.9, "cluster_method": "density"}},
            (1, 0),
        ),
    ],
    ids=[
        *("as they are", "beyond tau", "beyond tau in a group", "not as near as recorded"),
        *("missed by rounding", "seed of a dense cluster", "assigned to a dense cluster"),
    ],
)
def test_members_are_within_tau(warehouse, places, clusters, found):
    clustered_by_hand(warehouse, places=places, clusters=clusters)
    result = checks.within_tau(warehouse=warehouse)
    assert result.passed == (found is None)
    if found:
        counts = value(result, "beyond tau"), value(result, "not as near as recorded")
        assert counts == found
    if "c2" in places:
        assert "c2" in value(result, "farthest") and "-0.8" in value(result, "farthest")


@pytest.mark.parametrize(
    ("check", "setting", "limits", "figure", "share"),
    [
        # d1 and e1 of nine.
        (checks.unclustered, "max_unclustered_share", (0.2, 2 / 9), "share", 2 / 9),
        # Six of the eight that are in a group are in `warm`.
        (checks.giant_group, "max_group_share", (0.7, 0.75), "largest share", 0.75),
    ],
)
def test_a_share_over_its_limit_is_a_warning(
    warehouse: Warehouse,
    made_with: MadeWith,
    check: Callable[..., dg.AssetCheckResult],
    setting: str,
    limits: tuple[float, float],
    figure: str,
    share: float,
) -> None:
    clustered_by_hand(warehouse)
    warns, passes = (
        check(made_with("cluster.clusters", **{setting: limit}), warehouse=warehouse)
        for limit in limits
    )
    assert (warns.passed, warns.severity) == (False, WARN)
    assert value(warns, figure) == pytest.approx(share)
    assert passes.passed


def test_a_loose_cluster_is_a_warning_that_names_it(warehouse, made_with):
    means = {"tight": 0.9, "wide": 0.69}
    rows = [{"title": f"<b>{name}</b>", "mean_similarity": mean} for name, mean in means.items()]
    put(warehouse, {"cluster.cohesion": [{"cluster_id": row["title"], **row} for row in rows]})
    warns, passes = (
        checks.loose(made_with("cluster.cohesion", min_mean_similarity=least), warehouse=warehouse)
        for least in (0.7, 0.69)
    )
    assert (warns.passed, warns.severity) == (False, WARN)
    assert value(warns, "loose clusters") == 1
    assert "&lt;b&gt;wide" in value(warns, "loosest")
    assert "tight" not in value(warns, "loosest")
    assert passes.passed


def test_clusters_that_could_be_one_are_a_warning(warehouse: Warehouse) -> None:
    pair = {"cluster_a": "A", "cluster_b": "B", "title_a": "Red kites", "title_b": "Black kites"}
    for could_be_one in (True, False):
        put(warehouse, {"cluster.near_pairs": [{**pair, "mergeable": could_be_one}]})
        result = checks.mergeable(warehouse=warehouse)
        assert (result.passed, result.severity) == (not could_be_one, WARN)
        assert ("Red kites" in value(result, "nearest")) is could_be_one


def drawn(warehouse: Warehouse, *sets: tuple[str, str, str], **page_of: str) -> None:
    """Sets of (id, kind, entries, a letter each) with an image each, and the pages of entries."""
    rows = [
        {"set_id": set_id, "kind": kind, "position": position}
        | {"entry_id": entry_id, "image_id": f"image-{entry_id}"}
        for set_id, kind, entries in sets
        for position, entry_id in enumerate(entries, start=1)
    ]
    entries = [{"entry_id": name, "page_id": page} for name, page in page_of.items()]
    put(warehouse, {"cluster.image_sets": rows, "ingest.entries": entries})


def test_a_page_twice_in_a_set_fails_unless_pages_may_repeat_and_images_that_look_alike_always(
    warehouse: Warehouse, made_with: MadeWith
) -> None:
    # An entry may be in one set of each kind, and the pages of d and e, which are gone, are unknown.
    sets = ("s", "benchmark", "ab"), ("t", "instruction", "bc"), ("u", "instruction", "de")
    drawn(warehouse, *sets, a="1", b="1", c="2")
    once = made_with("cluster.image_sets")
    assert checks.entry_use(once, warehouse=warehouse).passed
    result = checks.no_repeats(once, warehouse=warehouse)
    assert not result.passed and value(result, "sets") == 1
    again = made_with("cluster.image_sets", repeat_pages=True)
    assert checks.no_repeats(again, warehouse=warehouse).passed
    alike = [{"image_id": f"image-{name}", "group_id": "image-a"} for name in "ab"]
    put(warehouse, {"cluster.duplicates": alike})
    assert not checks.no_repeats(again, warehouse=warehouse).passed


@pytest.mark.parametrize(
    ("kind", "entries", "passed"),
    [
        ("benchmark", "a", False),
        ("benchmark", "ab", True),
        ("instruction", "abcde", True),
        ("instruction", "abcdef", False),
    ],
)
def test_sizes_are_the_papers_and_a_gap_in_the_order_fails(warehouse, kind, entries, passed):
    drawn(warehouse, ("s", kind, entries))
    assert checks.sizes(warehouse=warehouse).passed is passed
    drawn(warehouse, ("s", "benchmark", "abc"))
    rows = warehouse.sql("SELECT * FROM cluster.image_sets WHERE position <> 2")
    warehouse.replace("cluster.image_sets", rows)
    assert not checks.sizes(warehouse=warehouse).passed


def test_an_entry_in_two_sets_of_a_kind_fails_unless_it_may(warehouse, made_with):
    drawn(warehouse, ("s", "benchmark", "ab"), ("t", "benchmark", "ac"))
    of_other = made_with("cluster.image_sets", instruction_max_uses=2)
    result = checks.entry_use(of_other, warehouse=warehouse)
    assert not result.passed and value(result, "entries") == 1
    of_kind = made_with("cluster.image_sets", benchmark_max_uses=2)
    assert checks.entry_use(of_kind, warehouse=warehouse).passed
