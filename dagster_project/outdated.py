"""Stale assets of a workspace, which `vlm-loom build` runs.

Dagster finds missing and stale assets by code versions (`code_versions.py`) and data versions (hashes
of rows). This module adds the reasons that Dagster does not know: failed checks and calls, other
numbers of rows, missing files.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from functools import cache
from typing import Any

import dagster as dg

from assets.common.dagster_internals import (
    DATA_VERSION_TAG,
    INPUT_EVENT_TAG,
    MANY_PARTITIONS,
    CachingStaleStatusResolver,
    LoadingContext,
)
from assets.common.partitions import wit_shards
from assets.common.tables import ROW_COUNT
from assets.review import decisions, queue
from dagster_project.progress import is_failed_check
from resources.files.home import home, ledger_path, releases_path, review_path
from resources.images.store import open_images
from resources.llm.ledger import Ledger
from resources.review.store import ReviewStore
from resources.stores.address import is_there
from resources.warehouse import Warehouse
from review.commands import QUEUES

FILES = {
    "cluster.pictures": home,
    "evaluate.reports": home,
    "evaluate.site": home,
    "release.exports": releases_path,
}
"""Tables with a column `path`, and the folder that the paths are relative to."""
EVENTS_AT_ONCE = 1_000
"""Events of one query; Dagster allows at most 10,000."""


AssetGraph = Any
"""The asset graph of the definitions (`Definitions.get_repository_def().asset_graph`)."""


def outdated(
    instance: dg.DagsterInstance, graph: AssetGraph, warehouse: Warehouse, *stages: str
) -> list[dg.AssetKey]:
    """Find the assets of stages that are out of date, and all assets downstream within these stages.

    An asset is out of date if Dagster does not call it fresh, if a check failed or was not evaluated
    in its last run, if its last run had failed calls or did not make every release, if its table has
    another number of rows than its last run recorded, or if its files are gone.

    Args:
        instance: Where runs are recorded.
        graph: The project's assets.
        warehouse: The tables.
        *stages: Names of stages.

    Returns:
        The sorted keys, for a single run. If `review/queue` is among them, `review/decisions` is, too.
    """
    of_stages = dg.AssetSelection.groups(*stages)
    keys = of_stages.resolve(graph)
    stale = CachingStaleStatusResolver(instance, graph, _Loading(instance))
    # One query instead of one for each asset.
    records = stale.instance_queryer
    records.prefetch_asset_records(graph.get_all_asset_keys())
    last = {
        key: event.asset_materialization
        for key in keys
        if (record := records.get_asset_record(key))
        and (event := record.asset_entry.last_materialization)
    }
    shards = ManyShards(instance, graph)
    failed = _failed(instance, graph, keys)
    with warehouse.kept_open():
        lost = "evaluate" in stages and warehouse.count("evaluate.not_made") > 0
        roots = {
            key
            for key in keys
            if key in failed
            or (lost and key.path[0] == "evaluate")
            or stale.get_status(key).value != "FRESH"
            or _has_changed(
                warehouse, graph.get(key).metadata.get("dagster/table_name"), last.get(key)
            )
            or shards.have_changed(key, last.get(key))
        }
        roots |= {key for key in keys if _lacks_items(warehouse, key)}
    if not roots:
        return []
    outdated_keys = (dg.AssetSelection.assets(*roots).downstream() & of_stages).resolve(graph)
    return sorted(outdated_keys | ({decisions.key} if queue.key in outdated_keys else set()))


def _failed(
    instance: dg.DagsterInstance, graph: AssetGraph, keys: Collection[dg.AssetKey]
) -> set[dg.AssetKey]:
    """Find assets with a check that failed, or did not run, in their last run."""
    return {
        check.asset_key
        for check in graph.asset_check_keys
        if check.asset_key in keys and not _has_passed(instance, check)
    }


def _has_passed(instance: dg.DagsterInstance, check: dg.AssetCheckKey) -> bool:
    """Tell whether a check passed, or only warned, the last time. A check that was planned but not run,
    because the run was cut off, has not passed.
    """
    record = instance.get_latest_asset_check_evaluation_record(check)
    event = record.event.dagster_event if record and record.event else None
    if event is None or event.event_type != dg.DagsterEventType.ASSET_CHECK_EVALUATION:
        return False
    return not is_failed_check(event.asset_check_evaluation_data)


def _has_changed(
    warehouse: Warehouse, table: str | None, last: dg.AssetMaterialization | None
) -> bool:
    """Tell whether an asset never ran, had failed calls, or has other rows or files than its last run
    recorded.
    """
    if last is None:
        return True
    metadata = {name: each.value for name, each in last.metadata.items()}
    return (
        # Failed calls are made again.
        bool(metadata.get("failed calls"))
        or (table is not None and warehouse.count(table) != metadata.get(ROW_COUNT))
        or (table in FILES and not _has_files(warehouse, table))
        or (table == "choice.mmiu_items" and not _has_images(warehouse))
        or (table == "ledger.calls" and _n_calls() != metadata.get(ROW_COUNT))
    )


def _has_files(warehouse: Warehouse, table: str) -> bool:
    """Tell whether every file that a table names exists."""
    folder = FILES[table]()
    return all(
        (folder / row["path"]).exists() for row in warehouse.select(table, "path").to_pylist()
    )


def _has_images(warehouse: Warehouse) -> bool:
    """Tell whether every image that was made for MMIU's items is stored."""
    images = warehouse.select("choice.mmiu_images", "image_id")["image_id"].to_pylist()
    return all(map(open_images().has, images))


def _n_calls() -> int:
    """Return the number of calls in the ledger."""
    with closing(Ledger(ledger_path())) as ledger:
        return len(ledger)


def _lacks_items(warehouse: Warehouse, key: dg.AssetKey) -> bool:
    """Tell whether an asset is a review queue with items that the review store lacks."""
    table = ".".join(key.path)
    if table not in ("review.queue", *QUEUES):
        return False
    queued = Counter(warehouse.select(table, "kind")["kind"].to_pylist())
    stored = _items_in_store()
    return any(stored[kind] < n for kind, n in queued.items())


def _items_in_store() -> Counter[str]:
    """Count the items of each kind in the review store."""
    counts = Counter[str]()
    if is_there(review_path()):
        with closing(ReviewStore(review_path())) as store:
            for progress in store.progress():
                counts[progress.kind] += progress.n
    return counts


class ManyShards:
    """Finds changed shards in a corpus of `MANY_PARTITIONS` or more, for which Dagster does not compare
    data versions.
    """

    def __init__(self, instance: dg.DagsterInstance, graph: AssetGraph):
        self._instance, self._graph = instance, graph
        n_shards = len(instance.get_dynamic_partitions(str(wit_shards.name)))
        self._are_many = n_shards >= MANY_PARTITIONS
        self._has_changed = cache(self._has_changed_since)

    def have_changed(self, key: dg.AssetKey, last: dg.AssetMaterialization | None) -> bool:
        """Tell whether the data version of a shard changed since an asset that depends on it ran.

        Args:
            key: The asset.
            last: Its latest materialization.
        """
        if not self._are_many:
            return False
        tags: Mapping[str, str] = (last.tags if last else None) or {}
        parents = filter(self._is_partitioned, self._graph.get(key).parent_keys)
        events = {parent: tags.get(INPUT_EVENT_TAG + parent.to_user_string()) for parent in parents}
        return any(
            event.isdecimal() and self._has_changed(parent, int(event))
            for parent, event in events.items()
            if event
        )

    def _is_partitioned(self, key: dg.AssetKey) -> bool:
        return self._graph.get(key).is_partitioned

    def _has_changed_since(self, key: dg.AssetKey, storage_id: int) -> bool:
        """Tell whether the data version of any partition changed after an event."""
        current_versions: dict[str, str] = {}
        since = dg.AssetRecordsFilter(key, after_storage_id=storage_id)
        cursor, has_more = None, True
        while has_more:
            page = self._instance.fetch_materializations(since, EVENTS_AT_ONCE, cursor)
            # The newest event of a partition comes first.
            current_versions = {**_versions(page.records), **current_versions}
            cursor, has_more = page.cursor, page.has_more
        return any(
            version != self._version_before(key, partition, storage_id)
            for partition, version in current_versions.items()
        )

    def _version_before(self, key: dg.AssetKey, partition: str, storage_id: int) -> str | None:
        before = dg.AssetRecordsFilter(
            key, asset_partitions=[partition], before_storage_id=storage_id + 1
        )
        return _versions(self._instance.fetch_materializations(before, 1).records).get(partition)


def _versions(records: Sequence[dg.EventLogRecord]) -> dict[str, str]:
    """Return the newest data version of each partition; the events come newest first."""
    versions: dict[str, str] = {}
    for record in records:
        event = record.asset_materialization
        if event and event.partition and event.tags:
            versions.setdefault(event.partition, event.tags[DATA_VERSION_TAG])
    return versions


class _Loading(LoadingContext):
    """Dagster's loading context: reads events of the instance in batches and caches them."""

    def __init__(self, instance: dg.DagsterInstance):
        self._instance = instance
        self._loaders: dict[type, Any] = {}

    @property
    def instance(self) -> dg.DagsterInstance:
        """The Dagster instance."""
        return self._instance

    @property
    def loaders(self) -> dict[type, Any]:
        """Dagster's cached loaders, by type."""
        return self._loaders
