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

from assets.common.automation import WHEN_READY, Condition
from assets.common.failures import plain_errors, retries_left, retry_transient_failures
from assets.common.isolation import ISOLATED_STAGES, LOST, NOT_MADE, Isolation
from assets.common.partitions import require_partitions
from assets.common.pools import pools_of, slots
from assets.common.previews import PREVIEW_ROWS, preview
from assets.common.settings import check_run, current_settings, use_settings
from resources.images.store import ImageStore
from resources.settings.extras import tables_before
from resources.warehouse import (
    STAGES,
    TableWrite,
    Warehouse,
    arrow_schema,
    column_descriptions,
    declared_columns,
)
from resources.warehouse.writes import Partition
from resources.web.addresses import calls_of

ROW_COUNT = "dagster/row_count"
"""Metadata of a materialization: the number of rows of the table after it."""
ROWS_OF_RUN = "rows of this run"
"""Metadata: the rows that this run wrote, if the table also has rows of earlier runs."""
SIDE_TABLES = "loom/side_tables"
"""Metadata of an asset: further tables that it writes, and views that it represents."""
OWNERS = {
    **dict.fromkeys(STAGES, "team:data-engineering"),
    **dict.fromkeys(("review", "release"), "team:annotation"),
    "evaluate": "team:evaluation",
}


class ModelUsage(Protocol):
    """The model calls of a step."""

    stage: str
    """The stage of the calls in the ledger; empty if no model was called."""

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
"""Table of each asset that Dagster runs -> the sources of its code version."""

FRESH_EVERY_WEEK = dg.FreshnessPolicy.time_window(
    fail_window=timedelta(days=15), warn_window=timedelta(days=8)
)
"""Wikipedia changes, so a copy that was not observed for over a week gets a warning in the UI."""


def table_spec(
    table: str, *, kinds: AbstractSet[str], side_tables: Sequence[str] = (), **spec: Any
) -> dg.AssetSpec:
    """Make the spec of an asset that Dagster does not run, with the table `table`.

    Args:
        table: The table, `stage.name`.
        kinds: The kinds that the UI shows in addition to `duckdb`.
        side_tables: Tables and views without an asset that this one writes or represents.
        **spec: Further arguments of `dg.AssetSpec`.
    """
    return dg.AssetSpec(**_attributes(table, kinds, side_tables), **spec)


def _attributes(table: str, kinds: AbstractSet[str], side_tables: Sequence[str]) -> dict[str, Any]:
    """Derive arguments of `dg.asset` and `dg.AssetSpec` from the name of the table."""
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
    automation_condition: Condition | None = WHEN_READY,
    **spec: Any,
) -> Callable[[Callable[..., dg.MaterializeResult]], dg.AssetsDefinition]:
    """Decorate the function of an asset that fills one table, like `dg.asset`.

    The UI shows the function's docstring.

    The function has the resource `warehouse`, and a parameter `config` if the asset has settings. The
    data version is a hash of the table's rows, so downstream assets are not stale if the rows are
    equal. In the stages of `isolation.py`, a failed step keeps its table and does not stop downstream
    steps.

    Args:
        table: The table, `stage.name`; the asset's key.
        version: The code version. Raise it if the same input gives other rows.
        kinds: The kinds that the UI shows in addition to `duckdb`.
        side_tables: Tables and views without an asset that this one writes.
        deps: Assets that it reads.
        pool: A pool that does not follow from its resources (`pools.py`).
        automation_condition: When Dagster runs it by itself; None for never.
        **spec: Further arguments of `dg.asset`.
    """
    if table.partition(".")[0] in ISOLATED_STAGES:
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
            automation_condition=automation_condition,
            deps=[*deps, *of_extras],
            description=inspect.getdoc(function),
            # In a run of several stages, a step of the earliest stage is next.
            op_tags={"dagster/priority": str(-list(OWNERS).index(table.partition(".")[0]))},
            pool=pools[0] if pools else None,
        )(_step(table, side_tables, function, pools[1:]))

    return decorate


def _source_of(function: Callable[..., Any]) -> dg.CodeReferencesMetadataValue:
    """Return the file and line of a function, which the UI links to.

    `dg.with_source_code_references` does the same, but reads every source file when definitions load.
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
    """Wrap the function with settings, retries, isolation, data version and row counts."""

    @wraps(function)
    def step(*context_if_asked: Any, **arguments: Any) -> dg.MaterializeResult:
        context = dg.AssetExecutionContext.get()
        warehouse: Warehouse = arguments["warehouse"]
        with retry_transient_failures(context), plain_errors(), slots(context, more_pools):
            shown: dict[str, Any] = {}
            check_run(context.run.run_config)
            require_partitions(context)
            if "config" in arguments:
                chosen = current_settings(table, arguments["config"])
                for name, value in chosen.overridden.items():
                    context.log.info(f"{name} is {value} in this run only")
                arguments["config"], shown = chosen.settings, chosen.metadata()

            def make() -> dg.MaterializeResult:
                return function(*context_if_asked, **arguments)

            if table.partition(".")[0] in ISOLATED_STAGES:
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
            # An asset may set its own data version, if more than its table matters downstream.
            version = result.data_version or dg.DataVersion(warehouse.fingerprint(table, rows))
        return dg.MaterializeResult(
            metadata={**(result.metadata or {}), **shown}, data_version=version
        )

    return step


def _isolated(
    table: str, warehouse: Warehouse, retried: bool, make: Callable[[], dg.MaterializeResult]
) -> dg.MaterializeResult:
    """Return the result of `make`. If it fails, the table stays, and the result has the reason."""
    isolation = Isolation(table)
    with isolation.step(retried=retried):
        result = make()
        # A step that isolates its releases has already recorded its failures.
        return result if LOST in (result.metadata or {}) else isolation.finish(warehouse, result)
    return isolation.finish(
        warehouse, dg.MaterializeResult(metadata={ROW_COUNT: warehouse.count(table)})
    )


def _counted(result: dg.MaterializeResult, n_rows: int) -> dict[str, Any]:
    """Return the row count of the table and, if the run reported another number, that number: a table
    keeps the rows of releases that are no longer current.
    """
    reported = (result.metadata or {}).get(ROW_COUNT, n_rows)
    return {ROW_COUNT: n_rows} | ({} if reported == n_rows else {ROWS_OF_RUN: reported})


def _show_each_partition(
    context: dg.AssetExecutionContext, table: str, resources: Mapping[str, Any]
) -> None:
    """Add a row count and preview to each partition, as the run's metadata are of all of them."""
    for key in context.partition_keys:
        of_key = {"wit_shard": key}
        rows = resources["warehouse"].first_rows(table, of_key, PREVIEW_ROWS)
        own = {
            ROW_COUNT: resources["warehouse"].count(table, of_key),
            "preview": dg.MetadataValue.md(preview(rows, resources.get("image_store"))),
            "all other counts are of": ", ".join(context.partition_keys),
        }
        context.add_asset_metadata(own, partition_key=key)


def rows_to_arrow(table: str, rows: Sequence[Mapping[str, object]]) -> pa.Table:
    """Convert rows to the columns and types of a table.

    Args:
        table: The table's name, such as `evaluate.scores`.
        rows: The rows. A missing column becomes NULL, and other keys are dropped.
    """
    return pa.Table.from_pylist([dict(row) for row in rows], schema=arrow_schema(table))


def write_rows(
    warehouse: Warehouse,
    rows_of: Mapping[str, Sequence[Mapping[str, object]]],
    partition: Partition | None = None,
) -> pa.Table:
    """Replace the rows of tables in one transaction.

    Args:
        warehouse: The tables.
        rows_of: The new rows by table.
        partition: The partition of each table that they replace; None for whole tables.

    Returns:
        The rows of the first table, as written.

    Raises:
        WarehouseError: A row violates a constraint of its table.
    """
    written = {table: rows_to_arrow(table, rows) for table, rows in rows_of.items()}
    warehouse.replace_all(
        [TableWrite(table, rows, partition or {}) for table, rows in written.items()]
    )
    return next(iter(written.values()))


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
        usage: The model calls and their cost.
        images: The images, for thumbnails in the preview.
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
