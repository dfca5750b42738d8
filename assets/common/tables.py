"""What every table asset has in common: its key, its columns, its group, its report, its errors.

An asset's key is its table: `cluster/image_sets` is `cluster.image_sets`, made in
`assets/cluster/image_sets.py`. A table without an asset is declared as a side table of the assets that
write it.
"""

import base64
import html
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import dagster as dg
import pyarrow as pa

from methods.errors import UserError
from resources.images.store import ImageStore
from resources.llm.usage import Usage
from resources.warehouse import arrow_schema, declared_columns

SIDE_TABLES = "loom/side_tables"
"""Metadata of an asset: the tables and views beside its own that it writes or stands for."""
PREVIEW_ROWS = 6
PREVIEW_CHARACTERS = 110
OWNERS = {
    "ingest": "team:data-engineering",
    "cluster": "team:data-engineering",
    "dialogue": "team:data-engineering",
    "rewrite": "team:data-engineering",
    "review": "team:annotation",
    "release": "team:annotation",
    "evaluate": "team:evaluation",
    "ledger": "team:data-engineering",
}
WHEN_READY = (
    dg.AutomationCondition.eager() & dg.AutomationCondition.all_deps_blocking_checks_passed()
)
"""Follow the upstream as soon as it is there and has passed its blocking checks."""

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
    columns = [
        dg.TableColumn(column, kind, constraints=dg.TableColumnConstraints(nullable=nullable))
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
    """Turn a UserError into a failure whose one sentence is shown in the run's log and in the UI."""
    try:
        yield
    except UserError as error:
        raise dg.Failure(description=str(error), allow_retries=False) from None


def table_asset(
    table: str,
    *,
    kinds: AbstractSet[str] = frozenset(),
    side_tables: Sequence[str] = (),
    **spec: Any,
) -> Callable[[Callable[..., dg.MaterializeResult]], dg.AssetsDefinition]:
    """Decorator for an asset that fills one table; its docstring is what the UI shows."""

    def decorate(function: Callable[..., dg.MaterializeResult]) -> dg.AssetsDefinition:
        asset_spec = table_spec(
            table,
            kinds=kinds,
            side_tables=side_tables,
            description=inspect.getdoc(function),
            **spec,
        )
        return dg.multi_asset(specs=[asset_spec], name="__".join(asset_spec.key.path))(
            plain_errors()(function)
        )

    return decorate


def rows_to_arrow(table: str, rows: Sequence[Mapping[str, object]]) -> pa.Table:
    """Rows as Arrow in the columns and types of `table`; what a row lacks is NULL, more is dropped."""
    return pa.Table.from_pylist([dict(row) for row in rows], schema=arrow_schema(table))


def map_of(entries: Sequence[Mapping[str, Any]] | None) -> dict[str, Any] | None:
    """A MAP column's entries (key, value) as a dict; None for NULL."""
    return None if entries is None else {entry["key"]: entry["value"] for entry in entries}


def report(
    rows: pa.Table,
    details: Mapping[str, Any] | None = None,
    *,
    n_rows: int | None = None,
    key: dg.AssetKey | None = None,
    usage: Usage | None = None,
    images: ImageStore | None = None,
) -> dg.MaterializeResult:
    """What the UI shows of a materialization: row count, preview, what the models cost, `details`.

    `n_rows` where `rows` are only the first of them.
    """
    shown: dict[str, Any] = {
        "dagster/row_count": rows.num_rows if n_rows is None else n_rows,
        "preview": dg.MetadataValue.md(preview(rows, images)),
        **(details or {}),
    }
    if usage is not None:
        shown |= usage.metadata()
    return dg.MaterializeResult(asset_key=key, metadata=shown)


def preview(rows: pa.Table, images: ImageStore | None = None, n_rows: int = PREVIEW_ROWS) -> str:
    """The first rows as a Markdown table; texts are cut and escaped, image ids become thumbnails."""
    columns = [name for name in rows.column_names if name != "vector"]
    lines = [" | ".join(columns), " | ".join("---" for _ in columns)]
    for row in rows.slice(0, n_rows).to_pylist():
        lines.append(" | ".join(_cell(name, row[name], images) for name in columns))
    return "\n".join(f"| {line} |" for line in lines)


def picture(name: str, png: bytes) -> dg.MarkdownMetadataValue:
    """A picture that the UI shows in place."""
    return dg.MetadataValue.md(f"![{name}](data:image/png;base64,{base64.b64encode(png).decode()})")


def _cell(column: str, value: object, images: ImageStore | None) -> str:
    if images is not None and column == "image_id" and value:
        return _thumbnail(images, str(value))
    if images is not None and column == "image_ids" and isinstance(value, list):
        return " ".join(_thumbnail(images, image_id) for image_id in value[:5])
    if isinstance(value, list):
        value = " · ".join(_plain(each) for each in value)
    text = "" if value is None else " ".join(_plain(value).split())
    if len(text) > PREVIEW_CHARACTERS:
        text = text[: PREVIEW_CHARACTERS - 1] + "…"
    return html.escape(text, quote=False).replace("|", "\\|")


def _plain(value: object) -> str:
    """A value as people would write it: a record by its texts, not by its names."""
    return " / ".join(map(str, value.values())) if isinstance(value, dict) else str(value)


def _thumbnail(images: ImageStore, image_id: str) -> str:
    encoded = base64.b64encode(images.thumbnail(image_id, 64)).decode()
    return f"![{image_id[:8]}](data:image/jpeg;base64,{encoded})"
