"""What every table asset has in common: key, columns, group, settings, versions, report, errors.

An asset's key is its table: `cluster/image_sets` is `cluster.image_sets`, made in
`assets/cluster/image_sets.py`. A table without an asset is declared as a side table of the assets that
write it.
"""

import inspect
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from functools import wraps
from types import ModuleType
from typing import Any, NamedTuple, Protocol

import dagster as dg
import pyarrow as pa

from assets.common.apart import NOT_MADE, STAGES, WHOLE, Apart
from assets.common.previews import PREVIEW_ROWS, preview
from assets.common.settings import SECTIONS, choose, config_fields, last_reported
from assets.common.unchanged import DECIDED, kept_as_it_is, read_by
from methods.errors import Unfinished, UserError
from methods.ids import content_id
from resources.files.system_errors import exhausted, is_refused_home, refused_by_system
from resources.images.store import ImageStore
from resources.settings.asset_settings import Settings
from resources.settings.extras import tables_before
from resources.settings.packages import package_missing
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
WAITS = "waits for batches"
"""Metadata of the failure by which a step stops to wait."""
POOLS = {"llm": "models", "image_fetcher": "fetching", "embedder": "memory"}
"""Resource that a step uses -> the pool in which Dagster may limit how many such steps are at work."""
RETRIES = 2
"""How often a step is tried again after a failure that may pass."""
FIRST_WAIT = 60.0
"""Seconds before it is tried again, doubled before the second time."""
unattended = threading.Event()
"""Set in a process that executes a launched run: steps are tried again there. Who runs a command in a
terminal sees the sentence at once."""


class ModelUsage(Protocol):
    """The calls of models that a step made."""

    stage: str
    """The stage of the calls in the ledger; empty where no model was called."""

    def metadata(self) -> Mapping[str, int | float | str]:
        """Counts, tokens and costs by their names in the UI."""
        ...


class Source(NamedTuple):
    """What an asset's code version is made of, beside the prompts and SQL that its module names."""

    module: ModuleType | None
    version: str


SOURCES: dict[str, Source] = {}
"""Table of each asset that is run, and what it is made by."""

FRESH_EVERY_WEEK = dg.FreshnessPolicy.time_window(
    fail_window=timedelta(days=15), warn_window=timedelta(days=8)
)
"""Wikipedia changes: what was not looked at for more than a week is shown as stale."""


def table_spec(
    table: str, *, kinds: AbstractSet[str], side_tables: Sequence[str] = (), **spec: Any
) -> dg.AssetSpec:
    """Spec of the asset whose table is `table` (`stage.name`), with all that follows from the name.

    `side_tables` are tables and views without an asset that this one writes or stands for.
    """
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
    return dg.AssetSpec(
        key=[stage, name],
        group_name=stage,
        owners=[OWNERS[stage]],
        kinds={"duckdb", *kinds},
        metadata={
            "dagster/column_schema": dg.TableSchema(columns),
            "dagster/table_name": table,
            **({SIDE_TABLES: list(side_tables)} if side_tables else {}),
        },
        **spec,
    )


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn a UserError, a disk or a limit that ran out, or a home that cannot be written into a failure
    whose one sentence is shown in the run's log and in the UI. It allows retries if the error is a
    passing one."""
    try:
        yield
    except Unfinished as error:
        if not isinstance(error, UserError):
            raise
        raise dg.Failure(str(error), metadata={WAITS: True}, allow_retries=False) from None
    except Exception as error:
        message = exhausted(error) or package_missing(error) or error
        if isinstance(message, OSError) and is_refused_home(message):
            message = refused_by_system(message)
        if not isinstance(message, UserError):
            raise
        raise dg.Failure(description=str(message), allow_retries=message.passing) from None


def may_pass(error: Exception) -> bool:
    """Whether a step that failed so may succeed some minutes later."""
    if isinstance(error, dg.Failure):
        return error.allow_retries
    return isinstance(error, UserError) and error.passing


def _is_tried_again(context: dg.AssetExecutionContext) -> bool:
    return unattended.is_set() and context.op_execution_context.retry_number < RETRIES


@contextmanager
def _tried_again(context: dg.AssetExecutionContext) -> Iterator[None]:
    """Ask Dagster to run the step again after a failure that allows it, if nobody looks on.

    What was answered, fetched or stored before the failure is there the next time.
    """
    try:
        yield
    except dg.Failure as failure:
        if not _is_tried_again(context) or not may_pass(failure):
            raise
        wait = FIRST_WAIT * 2**context.op_execution_context.retry_number
        context.log.warning(f"{failure.description} This step is tried again in {wait:g} s.")
        raise dg.RetryRequested(RETRIES, wait) from failure


def table_asset(
    table: str,
    *,
    settings: type[Settings] | None = None,
    version: str = "1",
    kinds: AbstractSet[str] = frozenset(),
    side_tables: Sequence[str] = (),
    deps: Sequence[Any] = (),
    pool: str | None = None,
    **spec: Any,
) -> Callable[[Callable[..., dg.MaterializeResult]], dg.AssetsDefinition]:
    """Decorator for an asset that fills one table; its docstring is what the UI shows.

    `settings` is the class of the asset's settings: the function gets them as its argument of that
    name, and the Launchpad offers them. `version` is raised when the same input gives other rows. The
    data version is a hash of the table's rows, so equal rows make nothing that follows stale. An asset
    of a stage whose steps fail by themselves (`apart.py`) may have an argument `apart`. `pool` is named
    where it does not follow from a resource (`POOLS`).
    """
    if table.partition(".")[0] in STAGES:
        side_tables = [*side_tables, NOT_MADE]

    def decorate(function: Callable[..., dg.MaterializeResult]) -> dg.AssetsDefinition:
        of_extras = [dg.AssetKey(name.split(".")) for name in tables_before(table)]
        asset_spec = table_spec(
            table,
            kinds=kinds,
            side_tables=side_tables,
            description=inspect.getdoc(function),
            deps=[*deps, *of_extras],
            **spec,
        )
        SOURCES[table] = Source(inspect.getmodule(function), version)
        uses = inspect.signature(function).parameters
        if settings is not None:
            SECTIONS[table] = settings
        return dg.multi_asset(
            specs=[asset_spec],
            name="__".join(asset_spec.key.path),
            config_schema=config_fields(table, settings) if settings else None,
            # In a run of several stages, a step of the earliest stage is next.
            op_tags={"dagster/priority": str(-list(OWNERS).index(table.partition(".")[0]))},
            pool=pool or next((POOLS[name] for name in uses if name in POOLS), None),
        )(_step(table, side_tables, function, settings))

    return decorate


def _step(
    table: str,
    side_tables: Sequence[str],
    function: Callable[..., dg.MaterializeResult],
    settings: type[Settings] | None,
) -> Callable[..., dg.MaterializeResult]:
    """The function as Dagster calls it: with a context first, without `settings` and `apart`."""
    signature = inspect.signature(function)
    asked = [name for name in signature.parameters if name not in ("context", "settings", "apart")]

    @wraps(function)
    def step(context: dg.AssetExecutionContext, **resources: Any) -> dg.MaterializeResult:
        with _tried_again(context), plain_errors():
            shown: dict[str, Any] = {}
            given: dict[str, Any] = dict(resources)
            if settings is not None:
                chosen = choose(table, context.op_execution_context.op_config)
                for name, value in chosen.overridden.items():
                    context.log.info(f"{name} is {value} in this run only")
                shown = chosen.metadata()
                if "settings" in signature.parameters:
                    given["settings"] = chosen.settings
            if "context" in signature.parameters:
                given["context"] = context
            # Before anything is read: who decides meanwhile is read by the next run.
            review = resources.get("review_store")
            decided = None if review is None else review.decided()
            if kept := kept_as_it_is(context, table, resources["warehouse"], decided):
                return kept
            if decided is not None:
                shown[DECIDED] = decided
            slice_of_run = {}
            if context.has_partition_key or context.has_partition_key_range:
                slice_of_run = {"wit_shard": list(context.partition_keys)}
            with ExitStack() as recording:
                # A shard is read again whenever its file has changed.
                if not slice_of_run:
                    reads = recording.enter_context(resources["warehouse"].recorded())
                result = _made(table, function, given, _is_tried_again(context))
            if context.has_partition_key_range:
                _show_each_partition(context, table, resources)
            # An asset gives a version of its own where more than its table decides what follows.
            version = result.data_version or dg.DataVersion(
                resources["warehouse"].fingerprint(table, slice_of_run)
            )
            if not slice_of_run:
                shown |= read_by(reads, [table, *side_tables])
                shown |= _counted(result, resources["warehouse"].count(table))
        return dg.MaterializeResult(
            metadata={**(result.metadata or {}), **shown}, data_version=version
        )

    context = inspect.Parameter(
        "context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=dg.AssetExecutionContext
    )
    kept = [signature.parameters[name] for name in asked]
    step.__signature__ = signature.replace(parameters=[context, *kept])  # type: ignore[attr-defined]
    step.__annotations__ = {
        "context": dg.AssetExecutionContext,
        **{name: function.__annotations__[name] for name in asked},
        "return": dg.MaterializeResult,
    }
    return step


def _counted(result: dg.MaterializeResult, n_rows: int) -> dict[str, Any]:
    """The rows that the table has, and beside them those of the run, where it reported others: a table
    keeps the rows of releases that are not in force any more."""
    reported = (result.metadata or {}).get(ROW_COUNT, n_rows)
    return {ROW_COUNT: n_rows} | ({} if reported == n_rows else {ROWS_OF_RUN: reported})


def _made(
    table: str,
    function: Callable[..., dg.MaterializeResult],
    given: dict[str, Any],
    again: bool,
) -> dg.MaterializeResult:
    """What the function makes; `again`: whether the step is tried again after what may pass.

    Where a step that fails by itself raises, the table keeps its rows, and the reason is written down.
    The data version has the reasons, too: they are news to what follows.
    """
    if table.partition(".")[0] not in STAGES:
        return function(**given)
    warehouse: Warehouse = given["warehouse"]
    apart = Apart(table)
    if "apart" in inspect.signature(function).parameters:
        given = {**given, "apart": apart}
    try:
        result = function(**given)
    except Unfinished:
        raise
    except Exception as error:
        if again and may_pass(error):
            raise
        apart.lose(WHOLE, error)
        result = dg.MaterializeResult(metadata={ROW_COUNT: warehouse.count(table)})
    apart.write(warehouse)
    if not apart.lost:
        return result
    version = content_id(warehouse.fingerprint(table), sorted(apart.lost.items()))
    return dg.MaterializeResult(
        metadata={**(result.metadata or {}), **apart.metadata()},
        data_version=dg.DataVersion(version),
    )


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
    """The number of rows that the last materialization of `table` reported; None before the first."""
    count: int | None = last_reported(instance, table, ROW_COUNT)
    return count


def rows_to_arrow(table: str, rows: Sequence[Mapping[str, object]]) -> pa.Table:
    """Rows as Arrow in the columns and types of `table`; what a row lacks is NULL, more is dropped."""
    return pa.Table.from_pylist([dict(row) for row in rows], schema=arrow_schema(table))


def report(
    rows: pa.Table,
    details: Mapping[str, Any] | None = None,
    *,
    n_rows: int | None = None,
    usage: ModelUsage | None = None,
    images: ImageStore | None = None,
) -> dg.MaterializeResult:
    """What the UI shows of a materialization: row count, preview, what the models cost, `details`.

    `n_rows` where `rows` are only the first of them.
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
