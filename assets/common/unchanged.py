"""Assets that are kept as they are because what they were made of is unchanged.

What belongs here: what a materialization records of the tables that it read, and keeping an asset in a
run that says that it may be kept (`dagster_project/outdated.py` decides which). Nothing is computed or
asked then: Dagster is told that the asset has the rows that it had.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dagster as dg

from assets.common.dagster_internals import DATA_VERSION_TAG
from resources.warehouse import Warehouse
from resources.warehouse.recorded_reads import would_read_the_same

READ = "tables read"
"""Metadata of a materialization: what it read of which tables, as fingerprints."""
DECIDED = "decisions read"
"""Metadata of a materialization that reads the review store: a hash of what people had decided."""
UNCHANGED_SINCE = "unchanged since"
"""Metadata of an asset that was kept: the run that made it."""
MAY_BE_KEPT = "loom/may_be_kept"
"""Tag of a run: the tables, one after another, that are kept where what they read is unchanged."""
OF_ITS_RUN = frozenset(
    {
        "calls",
        "cache hits",
        "prompt tokens",
        "completion tokens",
        "cost (USD)",
        "cost of the run so far (USD)",
    }
)
"""Metadata that is of the run that made an asset, and not of its rows."""


def made_or_kept(
    context: dg.AssetExecutionContext,
    tables: Sequence[str],
    resources: Mapping[str, Any],
    make: Callable[[], dg.MaterializeResult],
) -> dg.MaterializeResult:
    """The result of `make` with what it read, or the last materialization if it may be kept.

    Args:
        context: The step's context.
        tables: The step's own table, and its side tables.
        resources: The step's resources by name.
        make: Runs the step.

    Returns:
        The result, with what the step read in its metadata.
    """
    warehouse: Warehouse = resources["warehouse"]
    review = resources.get("review_store")
    # Before anything is read: a decision that is made meanwhile is read by the next run.
    decided = None if review is None else review.decided()
    if kept := kept_as_it_is(context, tables[0], warehouse, decided):
        return kept
    with warehouse.recorded() as reads:
        result = make()
    read: dict[str, Any] = {READ: dg.MetadataValue.json(reads.fingerprints(tables))}
    if decided is not None:
        read[DECIDED] = decided
    return dg.MaterializeResult(
        metadata={**(result.metadata or {}), **read}, data_version=result.data_version
    )


def kept_as_it_is(
    context: dg.AssetExecutionContext,
    table: str,
    warehouse: Warehouse,
    decided: str | None,
) -> dg.MaterializeResult | None:
    """The last materialization of `table` once more, if it may be kept and would read the same.

    `decided` is a hash of what people have decided, where it reads that.
    """
    if table not in context.run.tags.get(MAY_BE_KEPT, "").split():
        return None
    event = context.instance.get_latest_materialization_event(dg.AssetKey(table.split(".")))
    last = event.asset_materialization if event else None
    if event is None or last is None or not reads_the_same(last, warehouse):
        return None
    if decided is not None and has_decisions_since(last, decided):
        return None
    kept = {name: value for name, value in last.metadata.items() if name not in OF_ITS_RUN}
    return dg.MaterializeResult(
        metadata={UNCHANGED_SINCE: event.run_id, **kept},
        data_version=dg.DataVersion((last.tags or {})[DATA_VERSION_TAG]),
    )


def has_decisions_since(last: dg.AssetMaterialization, decided: str) -> bool:
    """Whether people had decided something else when an asset that reads the review store was made."""
    return DECIDED not in last.metadata or last.metadata[DECIDED].value != decided


def reads_the_same(last: dg.AssetMaterialization, warehouse: Warehouse) -> bool:
    """Whether what a materialization read stands in the warehouse as it did then."""
    if READ not in last.metadata or DATA_VERSION_TAG not in (last.tags or {}):
        return False
    read = last.metadata[READ].value
    return isinstance(read, Mapping) and would_read_the_same(
        warehouse.recording, {key: str(fingerprint) for key, fingerprint in read.items()}
    )
