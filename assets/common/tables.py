"""Shared code of all table assets: key, columns, group, settings, versions, report and errors.

The key of an asset is its table: `cluster/image_sets` is `cluster.image_sets`, defined in
`assets/cluster/image_sets.py`. A table without an asset is declared as a side table of the assets that
write it.
"""

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import timedelta
from functools import wraps
from types import ModuleType
from typing import Any, NamedTuple, Protocol

import dagster as dg
import pyarrow as pa

from assets.common.failures import plain_errors, retries_left, retry_transient_failures
from assets.common.isolation import LOST, NOT_MADE, STAGES, Isolation
from assets.common.pools import pools_of, slots
from assets.common.previews import PREVIEW_ROWS, preview
from assets.common.settings import check_run, current_settings, last_reported, use_settings
from resources.images.store import ImageStore
from resources.settings.extras import tables_before
from resources.warehouse import Warehouse, arrow_schema, column_descriptions, declared_columns
from resources.web.addresses import calls_of

ROW_COUNT = "dagster/row_count"
"""Metadata of a materialization: how many rows the table had then."""
ROWS_OF_RUN = "rows of this run"
"""How many of them the run made, where the table has those of earlier runs, too."""
SIDE_TABLES = "loom/side_tables"
"""Metadata of an asset: the tables and views beside its own that it writes or stands for."""
OWNERS = {
    "ingest": "team:data-engineering",
    "cluster": "team:data-engineering",
    "dialogue": "team:data-engineering",
    "rewrite": "team:data-engineering",
    "choice": "team:data-engineering",
    "quality": "team:data-engineering",
    "review": "team:annotation",
    "release": "team:annotation",
    "evaluate": "team:evaluation",
    "ledger": "team:data-engineering",
}


class ModelUsage(Protocol):
    """The calls of models that a step made."""

    stage: str
    """The stage of the calls in the ledger; empty where no model was called."""

    def metadata(self) -> Mapping[str, int | float | str]:
        """Counts, tokens and costs by their names in the UI."""
        ...


class AssetSource(NamedTuple):
    """The sources of an asset's code version, in addition to the prompts and SQL that its module
    names.
    """

    module: ModuleType | None
    version: str


SOURCES: dict[str, AssetSource] = {}
"""Table of each asset that is run, and what it is made by."""

FRESH_EVERY_WEEK = dg.FreshnessPolicy.time_window(
    fail_window=timedelta(days=15), warn_window=timedelta(days=8)
)
"""Wikipedia changes: what was not looked at for more than a week is shown as stale."""


def table_spec(
    table: str, *, kinds: AbstractSet[str], side_tables: Sequence[str] = (), **spec: Any
) -> dg.AssetSpec:
    """Make the spec of an asset that Dagster does not run, with the table `table`.

    Args:
        table: The table, `stage.name`.
        kinds: The kinds that the UI shows in addition to `duckdb`.
        side_tables: Tables and views without an asset that this one writes or represents.
        **spec: Further arguments of `dg.AssetSpec`.

    Returns:
        The spec.
    """
    return dg.AssetSpec(**_attributes(table, kinds, side_tables), **spec)


def _attributes(table: str, kinds: AbstractSet[str], side_tables: Sequence[str]) -> dict[str, Any]:
    """What an asset has because of its table's name, as arguments of `dg.asset` and `dg.AssetSpec`."""
    stage, name = table.split(".")
    descriptions = column_descriptions(table)
    columns = [
        dg.TableColumn(
            column,
            kind,
            description=descriptions[column],
            constraints=dg.TableColumnConstraints(nullable=nullable),
        )
        for column, kind, nullable in declared_columns()[table]
    ]
    return {
        "key": [stage, name],
        "group_name": stage,
        "owners": [OWNERS[stage]],
        "kinds": {"duckdb", *kinds},
        "metadata": {
            "dagster/column_schema": dg.TableSchema(columns),
            "dagster/table_name": table,
            **({SIDE_TABLES: list(side_tables)} if side_tables else {}),
        },
    }


def table_asset(
    table: str,
    *,
    version: str = "1",
    kinds: AbstractSet[str] = frozenset(),
    side_tables: Sequence[str] = (),
    deps: Sequence[Any] = (),
    pool: str | None = None,
    **spec: Any,
) -> Callable[[Callable[..., dg.MaterializeResult]], dg.AssetsDefinition]:
    """`dg.asset` for an asset that fills one table; the function's docstring is what the UI shows.

    The function has the resource `warehouse`, and a parameter `config` if the asset has settings. The
    data version is a hash of the table's rows, so equal rows make nothing that follows stale. In the
    stages of `isolation.py`, a failed step keeps its table and does not stop the steps that follow.

    Args:
        table: The table, `stage.name`; the asset's key.
        version: To be raised when the same input gives other rows.
        kinds: What the UI shows beside `duckdb`.
        side_tables: Tables and views without an asset that this one writes.
        deps: Assets that it reads.
        pool: A pool that does not follow from its resources (`pools.py`).
        **spec: Further arguments of `dg.asset`.

    Returns:
        The decorator.
    """
    if table.partition(".")[0] in STAGES:
        side_tables = [*side_tables, NOT_MADE]

    def decorate(function: Callable[..., dg.MaterializeResult]) -> dg.AssetsDefinition:
        SOURCES[table] = AssetSource(inspect.getmodule(function), version)
        use_settings(table, function)
        pools = pools_of(function, pool)
        of_extras = [dg.AssetKey(name.split(".")) for name in tables_before(table)]
        attributes = _attributes(table, kinds, side_tables)
        attributes["metadata"]["dagster/code_references"] = _source_of(function)
        return dg.asset(
            **attributes,
            **spec,
            deps=[*deps, *of_extras],
            description=inspect.getdoc(function),
            # In a run of several stages, a step of the earliest stage is next.
            op_tags={"dagster/priority": str(-list(OWNERS).index(table.partition(".")[0]))},
            pool=pools[0] if pools else None,
        )(_step(table, side_tables, function, pools[1:]))

    return decorate


def _source_of(function: Callable[..., Any]) -> dg.CodeReferencesMetadataValue:
    """Where a function stands, which the UI links to.

    `dg.with_source_code_references` gives the same, but reads every source file when definitions load.
    """
    code = inspect.unwrap(function).__code__
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.BetaWarning)
        place = dg.LocalFileCodeReference(
            file_path=code.co_filename, line_number=code.co_firstlineno
        )
        return dg.CodeReferencesMetadataValue(code_references=[place])


def _step(
    table: str,
    side_tables: Sequence[str],
    function: Callable[..., dg.MaterializeResult],
    more_pools: Sequence[str],
) -> Callable[..., dg.MaterializeResult]:
    """The function with what every step does: settings, retries, isolation, data version, counts."""

    @wraps(function)
    def step(*context_if_asked: Any, **arguments: Any) -> dg.MaterializeResult:
        context = dg.AssetExecutionContext.get()
        warehouse: Warehouse = arguments["warehouse"]
        with retry_transient_failures(context), plain_errors(), slots(context, more_pools):
            shown: dict[str, Any] = {}
            check_run(context.run.run_config)
            if "config" in arguments:
                chosen = current_settings(table, arguments["config"])
                for name, value in chosen.overridden.items():
                    context.log.info(f"{name} is {value} in this run only")
                arguments["config"], shown = chosen.settings, chosen.metadata()

            def make() -> dg.MaterializeResult:
                return function(*context_if_asked, **arguments)

            if table.partition(".")[0] in STAGES:
                result = _isolated(table, warehouse, retries_left(context), make)
            else:
                result = make()
            if context.has_partition_key or context.has_partition_key_range:
                rows = {"wit_shard": list(context.partition_keys)}
            else:
                rows = {}
                shown |= _counted(result, warehouse.count(table))
            if context.has_partition_key_range:
                _show_each_partition(context, table, arguments)
            # An asset gives another version where more than its table decides what follows.
            version = result.data_version or dg.DataVersion(warehouse.fingerprint(table, rows))
        return dg.MaterializeResult(
            metadata={**(result.metadata or {}), **shown}, data_version=version
        )

    return step


def _isolated(
    table: str, warehouse: Warehouse, retried: bool, make: Callable[[], dg.MaterializeResult]
) -> dg.MaterializeResult:
    """What `make` makes; if it fails, the table as it is, with the reason."""
    isolation = Isolation(table)
    with isolation.step(retried=retried):
        result = make()
        # A step that isolates its releases has finished this itself.
        return result if LOST in (result.metadata or {}) else isolation.finish(warehouse, result)
    return isolation.finish(
        warehouse, dg.MaterializeResult(metadata={ROW_COUNT: warehouse.count(table)})
    )


def _counted(result: dg.MaterializeResult, n_rows: int) -> dict[str, Any]:
    """The rows that the table has, and beside them those of the run, where it reported others: a table
    keeps the rows of releases that are no longer current."""
    reported = (result.metadata or {}).get(ROW_COUNT, n_rows)
    return {ROW_COUNT: n_rows} | ({} if reported == n_rows else {ROWS_OF_RUN: reported})


def _show_each_partition(
    context: dg.AssetExecutionContext, table: str, resources: Mapping[str, Any]
) -> None:
    """A run of several partitions shows rows of all of them: each partition's page has its own."""
    for key in context.partition_keys:
        of_key = {"wit_shard": key}
        rows = resources["warehouse"].first_rows(table, of_key, PREVIEW_ROWS)
        own = {
            ROW_COUNT: resources["warehouse"].count(table, of_key),
            "preview": dg.MetadataValue.md(preview(rows, resources.get("image_store"))),
            "all other counts are of": ", ".join(context.partition_keys),
        }
        context.add_asset_metadata(own, partition_key=key)


def recorded_rows(instance: dg.DagsterInstance, table: str) -> int | None:
    """Read the row count that the last materialization of a table reported.

    Args:
        instance: Dagster's instance.
        table: The table.

    Returns:
        The number of rows; None if there is no materialization.
    """
    count: int | None = last_reported(instance, table, ROW_COUNT)
    return count


def rows_to_arrow(table: str, rows: Sequence[Mapping[str, object]]) -> pa.Table:
    """Convert rows to the columns and types of a table.

    Args:
        table: The table's name, such as `evaluate.scores`.
        rows: The rows. A missing column becomes NULL, and other keys are dropped.

    Returns:
        The rows as an Arrow table.
    """
    return pa.Table.from_pylist([dict(row) for row in rows], schema=arrow_schema(table))


def report(
    rows: pa.Table,
    details: Mapping[str, Any] | None = None,
    *,
    n_rows: int | None = None,
    usage: ModelUsage | None = None,
    images: ImageStore | None = None,
) -> dg.MaterializeResult:
    """Report a materialization: its row count, a preview, the cost of the models and details.

    Args:
        rows: The new rows, or the first of them.
        details: More metadata by name.
        n_rows: The number of all rows, if `rows` are only the first ones.
        usage: What the models were asked and what it cost.
        images: Where the preview's thumbnails come from.

    Returns:
        The result of the asset.
    """
    shown: dict[str, Any] = {
        ROW_COUNT: rows.num_rows if n_rows is None else n_rows,
        "preview": dg.MetadataValue.md(preview(rows, images)),
        **(details or {}),
    }
    if usage is not None:
        shown |= usage.metadata()
        if usage.stage:
            shown["calls in the ledger"] = dg.MetadataValue.url(calls_of(usage.stage))
    return dg.MaterializeResult(metadata=shown)
