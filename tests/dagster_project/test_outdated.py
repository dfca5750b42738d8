"""Which shards count as changed where a corpus has more of them than Dagster compares."""

from collections.abc import Iterator

import dagster as dg
import pytest

from assets.common.dagster_internals import DATA_VERSION_TAG, MANY_PARTITIONS
from assets.common.partitions import wit_shards
from dagster_project.action_jobs import MADE_OF_SHARDS
from dagster_project.definitions import defs
from dagster_project.outdated import ManyShards

SHARDS = [f"shard-{number}" for number in range(MANY_PARTITIONS)]


@dg.asset(partitions_def=wit_shards)
def entries(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
    return dg.MaterializeResult(data_version=dg.DataVersion(f"of {context.partition_key}"))


@dg.asset(deps=[entries])
def embeddings() -> None: ...


GRAPH = dg.Definitions([entries, embeddings]).resolve_asset_graph()


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions(str(wit_shards.name), SHARDS)
        for shard in SHARDS:
            ingest(instance, shard, "first")
        assert dg.materialize(
            [entries, embeddings], selection=[embeddings], instance=instance
        ).success
        yield instance


def ingest(instance: dg.DagsterInstance, shard: str, version: str) -> None:
    tags = {DATA_VERSION_TAG: version}
    instance.report_runless_asset_event(
        dg.AssetMaterialization(entries.key, partition=shard, tags=tags)
    )


def have_changed(instance: dg.DagsterInstance) -> bool:
    event = instance.get_latest_materialization_event(embeddings.key)
    assert event
    return ManyShards(instance, GRAPH).have_changed(embeddings.key, event.asset_materialization)


def test_a_shard_with_other_rows_is_a_change_and_one_that_was_only_ingested_again_is_none(
    instance: dg.DagsterInstance,
) -> None:
    assert not have_changed(instance)
    # The last one is the event that the embeddings have seen.
    for shard in ("shard-0", SHARDS[-1]):
        ingest(instance, shard, "first")
    assert not have_changed(instance)
    ingest(instance, "shard-1", "second")
    assert have_changed(instance)
    ingest(instance, "shard-1", "first")
    assert not have_changed(instance), "it is as it was"


def test_a_new_shard_is_a_change(instance: dg.DagsterInstance) -> None:
    instance.add_dynamic_partitions(str(wit_shards.name), ["new"])
    ingest(instance, "new", "first")
    assert have_changed(instance)


def test_the_assets_that_a_removed_shard_makes_outdated_are_those_that_depend_on_shards() -> None:
    graph = defs.resolve_asset_graph()
    shards = {key for key in graph.materializable_asset_keys if graph.get(key).is_partitioned}
    of_all_shards = {child for shard in shards for child in graph.get(shard).child_keys} - shards
    assert {".".join(key.path) for key in of_all_shards} == {*MADE_OF_SHARDS}
