"""Asset checks: one on the schema of every table, and those of each stage's own meaning.

What belongs here: the factory that makes schema checks from `sql/`, and checks on shares lost with
their limits. A blocking check that fails stops what follows.
"""

import warnings
from collections.abc import Sequence

import dagster as dg
from pydantic import Field

from assets.partitions import buckets, models, wit_shards
from resources.warehouse import Warehouse, declared_columns

# Partitions of a check are marked as a preview in the pinned release; what is used of them is tested.
warnings.filterwarnings("ignore", message="Specifying a partitions_def on an AssetCheckSpec")


class ShareLimit(dg.Config):
    """The largest share that may be lost before the check fails."""

    max_share: float = Field(0.2, ge=0, le=1)


def schema_check(key: dg.AssetKey) -> dg.AssetChecksDefinition:
    """Blocking: the table in the warehouse has the columns that `sql/` declares."""
    table = ".".join(key.path[:2])

    @dg.asset_check(
        asset=key,
        name="schema",
        blocking=True,
        description=f"Columns, types and nullability of {table} are those declared in sql/.",
    )
    def check(warehouse: dg.ResourceParam[Warehouse]) -> dg.AssetCheckResult:
        declared = declared_columns()[table]
        found = warehouse.columns().get(table, [])
        return dg.AssetCheckResult(
            passed=found == declared,
            metadata={
                "missing": sorted(map(str, set(declared) - set(found))),
                "unexpected": sorted(map(str, set(found) - set(declared))),
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

    Only the run's own partitions are looked at: a bad shard stops what stands on it, not the others.
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


def empty_check(key: dg.AssetKey, description: str) -> dg.AssetChecksDefinition:
    """Blocking: the table is not empty, since nothing can be built on nothing."""
    table = ".".join(key.path[:2])

    @dg.asset_check(asset=key, name="not_empty", blocking=True, description=description)
    def check(warehouse: dg.ResourceParam[Warehouse]) -> dg.AssetCheckResult:
        rows = warehouse.count(table)
        return dg.AssetCheckResult(passed=rows > 0, metadata={"rows": rows})

    return check


def make_checks(keys: Sequence[dg.AssetKey]) -> list[dg.AssetChecksDefinition]:
    """All checks for the assets in `keys` and their tables."""
    generation = {
        "dialogue/summaries": "summaries",
        "dialogue/questions": "questions",
        "dialogue/answers": "answers",
        "dialogue/dialogues": "dialogues",
        "rewrite/prompts": "prompts",
    }
    return [
        *(schema_check(key) for key in keys),
        share_check(
            dg.AssetKey(["ingest", "wit_rows"]),
            "rejected_rows",
            "ingest/rejected_share",
            {"kind": "row"},
            wit_shards,
            "The share of each shard's lines that are no rows stays under the limit.",
        ),
        share_check(
            dg.AssetKey(["ingest", "images"]),
            "lost_images",
            "ingest/rejected_share",
            {"kind": "image"},
            wit_shards,
            "The share of each shard's images that were refused stays under the limit.",
        ),
        *(
            share_check(
                dg.AssetKey(path.split("/")),
                "failed",
                "dialogue/failed_share",
                {"stage": stage},
                buckets,
                "The share of what was asked for and lost stays under the limit.",
            )
            for path, stage in generation.items()
        ),
        *(
            share_check(
                key,
                "failed",
                "evaluate/failed_share",
                {"stage": key.path[1], "benchmark": key.path[2]},
                models,
                "The share of each model's turns that were lost stays under the limit.",
            )
            for key in keys
            if key.path[:2] in (["evaluate", "answers"], ["evaluate", "judgments"])
        ),
        empty_check(
            dg.AssetKey(["cluster", "image_sets"]), "Clusters gave at least one image set."
        ),
        empty_check(dg.AssetKey(["release", "items"]), "At least one dialogue is released."),
    ]
