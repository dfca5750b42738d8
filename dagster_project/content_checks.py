"""The check `whole` of tables that models fill: their rows name rows that there are, and none is gone.

What belongs here: the factory, for the stages from dialogue to quality. Which row names which is in
`sql/<stage>/broken_references.sql`.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import dagster as dg

from assets.common.tables import SIDE_TABLES, recorded_rows
from dagster_project.check_results import asset_check, result, shown
from methods.naming import listed, number_of
from resources.warehouse import Warehouse

CHECKED_STAGES = ("dialogue", "rewrite", "choice", "quality")
"""Stages whose tables can be made again of the ledger, without asking a model."""


def content_checks(specs: Sequence[dg.AssetSpec]) -> list[dg.AssetChecksDefinition]:
    """One check for each asset of these stages."""
    return [_whole(spec) for spec in specs if spec.group_name in CHECKED_STAGES]


def _whole(spec: dg.AssetSpec) -> dg.AssetChecksDefinition:
    """Blocking: what follows would lack the rows without a word."""
    table = spec.metadata["dagster/table_name"]
    tables = [table, *spec.metadata.get(SIDE_TABLES, [])]

    @asset_check(
        asset=spec.key,
        name="whole",
        blocking=True,
        description="Every row that a row of the table names is there, and the table has as many rows "
        "as its latest materialization recorded.",
    )
    def check(
        context: dg.AssetCheckExecutionContext, warehouse: dg.ResourceParam[Warehouse]
    ) -> dg.AssetCheckResult:
        with warehouse.kept_open():
            n_rows = warehouse.count(table)
            broken = warehouse.read(f"{spec.group_name}/broken_references", {"tables": tables})
        recorded = recorded_rows(context.instance, table)
        wrong = [] if recorded in (None, n_rows) else [_other_count(table, n_rows, recorded)]
        wrong += _sentences(table, broken.to_pylist())
        return result(
            " ".join(wrong) or None,
            {
                "rows": n_rows,
                **({} if recorded is None else {"rows as recorded": recorded}),
                "rows that name missing ones": shown(broken),
            },
        )

    return check


def _other_count(table: str, n_rows: int, recorded: int) -> str:
    return (
        f"{table} has {number_of(n_rows, 'row')}, and its latest materialization recorded {recorded}: "
        f"materialize {_asset(table)} again; what the ledger has is not asked again."
    )


def _sentences(table: str, broken: Sequence[dict[str, Any]]) -> list[str]:
    """What is missing, table by table, with what is to be made again."""
    sentences = []
    for (named_in, missing_in), rows in groupby(sorted(broken, key=_tables), key=_tables):
        ids = [row["row_id"] for row in rows]
        first, then = _asset(missing_in), _asset(table)
        again = f"{first} again" if first == then else f"{first} again, then {then}"
        sentences.append(
            f"{named_in} has {number_of(len(ids), 'row')} without their row of {missing_in} "
            f"({listed(ids)}): materialize {again}."
        )
    return sentences


def _tables(row: dict[str, Any]) -> tuple[str, str]:
    return row["named_in"], row["missing_in"]


def _asset(table: str) -> str:
    return table.replace(".", "/")
