"""Asset checks: the schema of every table, and limits on what each stage may lose.

What belongs here: the factory that makes schema checks from `sql/`, and checks on shares lost with
their limits. A blocking check that fails stops what follows.
"""

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Literal

import dagster as dg
from pydantic import Field

from assets.common.partitions import buckets, models, wit_shards
from assets.common.tables import SIDE_TABLES
from dagster_project.cluster_checks import cluster_checks
from dagster_project.review_checks import review_checks
from resources.llm.ledger import Ledger
from resources.warehouse import Warehouse, declared_columns

# Dagster marks partitions of a check as a preview feature; the tests cover what is used of it.
warnings.filterwarnings("ignore", message="Specifying a partitions_def on an AssetCheckSpec")


class ShareLimit(dg.Config):
    """The largest share that may be lost before the check fails."""

    max_share: float = Field(0.2, ge=0, le=1)


def schema_check(spec: dg.AssetSpec) -> dg.AssetChecksDefinition:
    """Blocking: the asset's tables in the warehouse have the columns that `sql/` declares."""
    tables = [spec.metadata["dagster/table_name"], *spec.metadata.get(SIDE_TABLES, [])]

    @dg.asset_check(
        asset=spec.key,
        name="schema",
        blocking=True,
        description=f"Columns, types and nullability of {', '.join(tables)} are as declared in sql/.",
    )
    def check(warehouse: dg.ResourceParam[Warehouse]) -> dg.AssetCheckResult:
        every, existing = declared_columns(), warehouse.columns()
        declared = {(table, *column) for table in tables for column in every[table]}
        found = {(table, *column) for table in tables for column in existing.get(table, [])}
        return dg.AssetCheckResult(
            passed=found == declared,
            metadata={
                "missing": [" ".join(map(str, column)) for column in sorted(declared - found)],
                "unexpected": [" ".join(map(str, column)) for column in sorted(found - declared)],
            },
        )

    return check


def share_check(
    key: dg.AssetKey,
    name: str,
    query: str,
    params: dict[str, object],
    partitions_def: dg.PartitionsDefinition,
    description: str,
) -> dg.AssetChecksDefinition:
    """Blocking: no row of `query` for the run's partitions has a `share` over the limit.

    Only the run's own partitions are checked: a bad shard blocks its downstream, not other shards'.
    """

    @dg.asset_check(
        asset=key,
        name=name,
        blocking=True,
        description=description,
        partitions_def=partitions_def,
    )
    def check(
        context: dg.AssetCheckExecutionContext,
        config: ShareLimit,
        warehouse: dg.ResourceParam[Warehouse],
    ) -> dg.AssetCheckResult:
        partitions = list(context.partition_keys)
        shares = warehouse.read(query, {**params, "partitions": partitions}).to_pylist()
        over = [row for row in shares if row["share"] > config.max_share]
        worst = max((row["share"] for row in shares), default=0.0)
        return dg.AssetCheckResult(
            passed=not over,
            metadata={
                "largest share": worst,
                "limit": config.max_share,
                "over the limit": [str(row) for row in over[:20]],
            },
        )

    return check


class LicenceLimit(ShareLimit):
    """How many entries may lack a licence, and whether more of them stop what follows."""

    max_share: float = Field(0.0, ge=0, le=1)
    severity: Literal["warn", "error"] = "warn"


def licence_check() -> dg.AssetChecksDefinition:
    """Blocking if it is set to: every entry's image has a licence. A warning by default."""

    @dg.asset_check(
        asset=dg.AssetKey(["ingest", "entries"]),
        name="licensed",
        blocking=True,
        description="No entry without a known licence of its image.",
        partitions_def=wit_shards,
    )
    def check(
        context: dg.AssetCheckExecutionContext,
        config: LicenceLimit,
        warehouse: dg.ResourceParam[Warehouse],
    ) -> dg.AssetCheckResult:
        partitions = list(context.partition_keys)
        shares = warehouse.read("ingest/without_licence", {"partitions": partitions}).to_pylist()
        return dg.AssetCheckResult(
            passed=all(row["share"] <= config.max_share for row in shares),
            severity=dg.AssetCheckSeverity[config.severity.upper()],
            metadata={
                "without licence": sum(row["n_without"] for row in shares),
                "limit": config.max_share,
                "by shard": [str(row) for row in shares if row["n_without"]][:20],
            },
        )

    return check


def empty_check(
    key: dg.AssetKey, description: str, table: str | None = None
) -> dg.AssetChecksDefinition:
    """Blocking: the asset's table, or the given one, has rows: none are never a silent success."""
    table = table or ".".join(key.path[:2])

    @dg.asset_check(asset=key, name="not_empty", blocking=True, description=description)
    def check(warehouse: dg.ResourceParam[Warehouse]) -> dg.AssetCheckResult:
        rows = warehouse.count(table)
        return dg.AssetCheckResult(passed=rows > 0, metadata={"rows": rows})

    return check


def ledger_checks() -> list[dg.AssetChecksDefinition]:
    """On `ledger.calls`: every call that a table names is in it, and none is in it twice.

    The checks do not block: waiting does not bring back a call that the ledger has lost.
    """
    calls = dg.AssetKey(["ledger", "calls"])

    @dg.asset_check(
        asset=calls,
        name="calls_known",
        description="Every call whose answer stands in a table is in the ledger, as answered.",
    )
    def calls_known(
        warehouse: dg.ResourceParam[Warehouse], ledger: dg.ResourceParam[Ledger]
    ) -> dg.AssetCheckResult:
        missing = warehouse.read("ledger/unknown_calls").to_pylist()
        # A call that was answered while the table was written is in the ledger already.
        late = ledger.find([row["call_key"] for row in missing])
        unknown = [row for row in missing if row["call_key"] not in late]
        return dg.AssetCheckResult(
            passed=not unknown,
            metadata={
                "unknown": len(unknown),
                **Counter(row["named_by"] for row in unknown),
                "first of them": [row["call_key"] for row in unknown[:20]],
            },
        )

    @dg.asset_check(
        asset=calls, name="answered_once", description="No request is in it as answered twice."
    )
    def answered_once(warehouse: dg.ResourceParam[Warehouse]) -> dg.AssetCheckResult:
        twice = warehouse.read("ledger/answered_twice").column("key").to_pylist()
        return dg.AssetCheckResult(
            passed=not twice, metadata={"twice": len(twice), "first of them": twice[:20]}
        )

    return [calls_known, answered_once]


def make_checks(specs: Sequence[dg.AssetSpec]) -> list[dg.AssetChecksDefinition]:
    """All checks; `specs` are the assets that are run."""
    generation = [
        ["dialogue", "summaries"],
        ["dialogue", "questions"],
        ["dialogue", "answers"],
        ["dialogue", "dialogues"],
        ["rewrite", "rewrites"],
    ]
    return [
        *(schema_check(spec) for spec in specs),
        share_check(
            dg.AssetKey(["ingest", "wit_rows"]),
            "rejected_rows",
            "ingest/rejected_share",
            {"kind": "row"},
            wit_shards,
            "The share of each shard's lines that could not be read as rows stays under the limit.",
        ),
        share_check(
            dg.AssetKey(["ingest", "images"]),
            "lost_images",
            "ingest/rejected_share",
            {"kind": "image"},
            wit_shards,
            "The share of each shard's images that were refused stays under the limit.",
        ),
        licence_check(),
        *(
            share_check(
                dg.AssetKey([stage, name]),
                "failed",
                f"{stage}/failed_share",
                {"stage": name},
                buckets,
                "The share of requests without a usable reply stays under the limit.",
            )
            for stage, name in generation
        ),
        *(
            share_check(
                dg.AssetKey(["evaluate", name]),
                "failed",
                "evaluate/failed_share",
                {"stage": name},
                models,
                "The share of each model's turns without a result stays under the limit.",
            )
            for name in ("answers", "judgments")
        ),
        empty_check(
            dg.AssetKey(["cluster", "image_sets"]), "Clusters gave at least one image set."
        ),
        # The tables keep earlier releases, so the check asks whether a release is in force.
        empty_check(
            dg.AssetKey(["release", "releases"]),
            "At least one dialogue is released.",
            "release.current",
        ),
        *cluster_checks(),
        *review_checks(),
        *ledger_checks(),
    ]
