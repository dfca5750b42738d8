"""What is out of date in a home: the assets that `vlm-loom demo` runs again, and no others.

What belongs here: why an asset is run again. Whether its code, settings, prompts, models or data have
changed is for Dagster's data versions (`code_versions.py`); the other reasons are outside of its graph.
"""

from collections import Counter
from collections.abc import Collection
from contextlib import closing
from typing import Any, NamedTuple

import dagster as dg

from assets.common.dagster_internals import (
    CachingStaleStatusResolver,
    LoadingContext,
)
from assets.common.tables import ROW_COUNT
from assets.common.unchanged import MAY_BE_KEPT, has_decisions_since, reads_the_same
from dagster_project.progress import is_wrong
from resources.files.home import home, ledger_path, releases_path, review_path
from resources.llm.ledger import Ledger
from resources.review.store import ReviewStore
from resources.stores.address import is_there
from resources.warehouse import Warehouse
from review.commands import QUEUES

OUTSIDE = frozenset({"ledger", "corpus"})
"""Resources that have other rows at another time, of which an asset's own fingerprints do not tell."""
FILES = {
    "cluster.pictures": home,
    "evaluate.reports": home,
    "evaluate.site": home,
    "release.exports": releases_path,
}
"""Tables that name files by their path, and the folder that it begins in."""


AssetGraph = Any
"""The asset graph of the definitions (`Definitions.get_repository_def().asset_graph`)."""


class Outdated(NamedTuple):
    """Assets to be run, and those of them that are kept if what they read is unchanged."""

    run: list[dg.AssetKey]
    may_be_kept: list[dg.AssetKey]


def outdated(
    instance: dg.DagsterInstance, graph: AssetGraph, warehouse: Warehouse, *stages: str
) -> Outdated:
    """Assets of stages that are out of date, with all of these stages that is made of them.

    An asset is out of date if it is stale or was never made, has another number of rows than it
    recorded, would read other rows than it read, lost calls, was not made of every release, failed a
    check, or its files are gone. One that reads the review store is run where people decided
    since, and what is made of it follows if its rows change.

    Where rows may be the only reason, the asset may be kept as it is: whether the rows that it reads
    have changed is known when it is its turn. This holds for what is made of changed rows, and for
    assets of later stages.
    """
    group = dg.AssetSelection.groups(*stages)
    keys = group.resolve(graph)
    stale = CachingStaleStatusResolver(instance, graph, _Loading(instance))
    not_made = "evaluate" in stages and warehouse.count("evaluate.not_made") > 0
    failed = _failed(instance, graph, keys)
    anew = {
        key
        for key in keys
        if (not_made and key.path[0] == "evaluate")
        or key in failed
        or stale.get_status(key).value == "MISSING"
        or any(cause.category.value != "DATA" for cause in stale.get_stale_causes(key))
        or _has_changed(instance, graph, warehouse, key)
    }
    with warehouse.kept_open():
        rows = {
            key
            for key in keys - anew
            if stale.get_status(key).value != "FRESH"
            or not _reads_the_same(instance, warehouse, key)
        }

    def with_what_follows(
        roots: Collection[dg.AssetKey], of: dg.AssetSelection
    ) -> set[dg.AssetKey]:
        """The roots, and all of a selection that is made of them."""
        if not roots:
            return set()
        return {*(dg.AssetSelection.assets(*roots).downstream() & of).resolve(graph)}

    must = _reviewed_since(instance, graph, warehouse, keys)
    for stage in stages:
        of_stage = {key for key in anew if key.path[0] == stage}
        must |= with_what_follows(of_stage, dg.AssetSelection.groups(stage))
    found = must | with_what_follows(must | rows, group)
    return Outdated(
        sorted(found), sorted(key for key in found - must if not _reads_outside(graph, key))
    )


def run_tags(found: Outdated) -> dict[str, str]:
    """Tags of a run of assets that are out of date: which of them may be kept."""
    return {MAY_BE_KEPT: " ".join(".".join(key.path) for key in found.may_be_kept)}


def _failed(
    instance: dg.DagsterInstance, graph: AssetGraph, keys: Collection[dg.AssetKey]
) -> set[dg.AssetKey]:
    """Assets of which a check failed, or was not made, when they were last run."""
    return {
        check.asset_key
        for check in graph.asset_check_keys
        if check.asset_key in keys and not _has_passed(instance, check)
    }


def _has_passed(instance: dg.DagsterInstance, check: dg.AssetCheckKey) -> bool:
    """Whether a check passed, or warned, when it was last begun; a run that was cut off has only
    planned it."""
    record = instance.get_latest_asset_check_evaluation_record(check)
    event = record.event.dagster_event if record and record.event else None
    if event is None or event.event_type != dg.DagsterEventType.ASSET_CHECK_EVALUATION:
        return False
    return not is_wrong(event.asset_check_evaluation_data)


def _has_changed(
    instance: dg.DagsterInstance, graph: AssetGraph, warehouse: Warehouse, key: dg.AssetKey
) -> bool:
    """Whether an asset lacks something that its latest materialization has, or that it lost."""
    event = instance.get_latest_materialization_event(key)
    if event is None or event.asset_materialization is None:
        return True
    metadata = {name: each.value for name, each in event.asset_materialization.metadata.items()}
    table = graph.get(key).metadata.get("dagster/table_name")
    return (
        # What was not answered is asked again.
        bool(metadata.get("failed calls"))
        or (table is not None and warehouse.count(table) != metadata.get(ROW_COUNT))
        or (table in FILES and not _has_files(warehouse, table))
        or (table == "ledger.calls" and _n_calls() != metadata.get(ROW_COUNT))
    )


def _reads_the_same(instance: dg.DagsterInstance, warehouse: Warehouse, key: dg.AssetKey) -> bool:
    """Whether an asset, if it was made once, would find in the warehouse what it found then.

    Whether a shard is read again is for the build.
    """
    event = instance.get_latest_materialization_event(key)
    last = event.asset_materialization if event else None
    return last is None or last.partition is not None or reads_the_same(last, warehouse)


def _has_files(warehouse: Warehouse, table: str) -> bool:
    """Whether every file that a table names is there."""
    folder = FILES[table]()
    return all(
        (folder / row["path"]).exists() for row in warehouse.select(table, "path").to_pylist()
    )


def _n_calls() -> int:
    """How many calls the ledger has by now."""
    with closing(Ledger(ledger_path())) as ledger:
        return len(ledger)


def _reads_outside(graph: AssetGraph, key: dg.AssetKey) -> bool:
    """Whether an asset reads what people and other runs write beside the warehouse."""
    return bool(OUTSIDE & graph.get(key).assets_def.required_resource_keys)


def _reviewed_since(
    instance: dg.DagsterInstance,
    graph: AssetGraph,
    warehouse: Warehouse,
    keys: Collection[dg.AssetKey],
) -> set[dg.AssetKey]:
    """Assets that read the review store, and since which people decided there; or which put more into
    the queue than the store has."""
    made = {
        key: event.asset_materialization
        for key in keys
        if "review_store" in graph.get(key).assets_def.required_resource_keys
        and (event := instance.get_latest_materialization_event(key))
        and event.asset_materialization
    }
    if not made or not is_there(review_path()):
        return {*made}
    with closing(ReviewStore(review_path())) as store:
        decided, in_store = store.decided(), Counter[str]()
        for progress in store.progress():
            in_store[progress.kind] += progress.n

    def lacks(table: str) -> bool:
        queued = Counter(warehouse.select(table, "kind")["kind"].to_pylist())
        return any(in_store[kind] < n for kind, n in queued.items())

    tables = {key: ".".join(key.path) for key in made}
    return {
        key
        for key, last in made.items()
        if has_decisions_since(last, decided)
        or (tables[key] in ("review.queue", *QUEUES) and lacks(tables[key]))
    }


class _Loading(LoadingContext):
    """Reads events of the instance in batches, and each once."""

    def __init__(self, instance: dg.DagsterInstance):
        self._instance = instance
        self._loaders: dict[type, Any] = {}

    @property
    def instance(self) -> dg.DagsterInstance:
        """Where the events are."""
        return self._instance

    @property
    def loaders(self) -> dict[type, Any]:
        """What Dagster keeps of them, by type."""
        return self._loaders
