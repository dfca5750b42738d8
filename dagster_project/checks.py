"""Asset checks: the schema of every table, licences, empty tables, the ledger, incomplete steps.

A blocking check that fails stops downstream steps. Limits on dropped inputs are not checks but part of
the steps (`assets/common/drops.py`).
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import dagster as dg

from assets.common.isolation import ISOLATED_STAGES, incomplete_steps
from assets.common.settings import read_used_settings
from assets.common.tables import SIDE_TABLES
from assets.ingest.entries import EntriesSettings
from assets.release.built_dialogues import NAMES
from dagster_project.check_results import N_SHOWN, asset_check, result
from dagster_project.cluster_checks import CLUSTER_CHECKS
from dagster_project.progress import ALL_MADE
from dagster_project.shards import ingested
from dagster_project.stage_checks import (
    CHECKED_STAGES,
    content_check,
    decided_by_people,
    no_overlap,
    on_this_content,
)
from methods.naming import listed, number_of
from resources.llm.ledger import Ledger
from resources.warehouse import Warehouse, declared_columns


def schema_check(spec: dg.AssetSpec) -> dg.AssetChecksDefinition:
    """Make a blocking check that the asset's tables have the columns that `sql/` declares."""
    tables = [spec.metadata["dagster/table_name"], *spec.metadata.get(SIDE_TABLES, [])]

    @asset_check(
        asset=spec.key,
        name="schema",
        blocking=True,
        description=f"Columns, types and nullability of {', '.join(tables)} are as declared in sql/.",
    )
    def check(warehouse: dg.ResourceParam[Warehouse]) -> dg.AssetCheckResult:
        every, existing = declared_columns(), warehouse.columns()
        declared = {_column(table, *column) for table in tables for column in every[table]}
        present = {
            _column(table, *column) for table in tables for column in existing.get(table, [])
        }
        missing, unexpected = sorted(declared - present), sorted(present - declared)
        wrong = (
            f"The tables are not as sql/ declares them (missing: {listed(missing)}; unexpected: "
            f"{listed(unexpected)}): undo the change (ALTER TABLE), or restore a backup "
            "(vlm-loom workspace restore)."
        )
        return result(
            wrong if missing or unexpected else None,
            {"missing": missing, "unexpected": unexpected},
        )

    return check


def _column(table: str, name: str, kind: str, nullable: bool) -> str:
    return f"{table}.{name} {kind}{'' if nullable else ' NOT NULL'}"


@asset_check(
    asset=dg.AssetKey(["ingest", "entries"]),
    blocking=True,
    description="No more entries than allowed without a known licence of their image.",
)
def licensed(
    context: dg.AssetCheckExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.AssetCheckResult:
    """Images have a known licence. By default it only warns."""
    settings = read_used_settings(context.instance, "ingest.entries", EntriesSettings)
    limit = settings.max_share_without_licence
    shares = warehouse.read("ingest/without_licence").to_pylist()
    passed = all(row["share"] <= limit for row in shares)
    n_without, n = (sum(row[name] for row in shares) for name in ("n_without", "n_entries"))
    instruct = NAMES["instruction"]
    advice = (
        f"{n_without} of {n} entries have no licence of their image, and {instruct} leaves out "
        "what is about them: state the licence as images.licence in the corpus's corpus.yaml and "
        f"ingest again, or let them in with licences_left_out: {{{instruct}: []}} under "
        "release.releases in settings.yaml."
    )
    return result(
        None if passed else advice,
        {
            "without licence": n_without,
            "limit": limit,
            "by shard": [
                f"{row['wit_shard']}: {row['n_without']} of {row['n_entries']}"
                for row in shares
                if row["n_without"]
            ][:N_SHOWN],
        },
        dg.AssetCheckSeverity[settings.without_licence.upper()],
    )


NOT_MADE_YET = (
    "This home has never made {asset}: launch the job build (vlm-loom run build), which goes on with "
    "what there is."
)


def _empty_check(
    key: dg.AssetKey, counted: str, query: str, if_none: str
) -> dg.AssetChecksDefinition:
    """Make a blocking check that an asset is not empty; `query` has its numbers by kind."""

    @asset_check(
        asset=key,
        name="not_empty",
        blocking=True,
        description=f"There are {counted}. If there are none: {if_none}",
    )
    def check(
        context: dg.AssetCheckExecutionContext, warehouse: dg.ResourceParam[Warehouse]
    ) -> dg.AssetCheckResult:
        rows = warehouse.read(query).to_pylist()
        counts = dict.fromkeys(NAMES, 0) | {row["kind"]: row["n"] for row in rows}
        # In a workspace that never ran the asset, no setting is at fault.
        materialization = context.instance.get_latest_materialization_event(key)
        todo = if_none if materialization else NOT_MADE_YET.format(asset=key.to_user_string())
        return result(
            None if any(counts.values()) else f"There are no {counted}. {todo}",
            {f"{counted}, {kind}": n for kind, n in counts.items()},
        )

    return check


CALLS = dg.AssetKey(["ledger", "calls"])
"""Its checks do not block, because blocking cannot restore a missing call."""


@asset_check(
    asset=CALLS,
    description="Every call whose answer stands in a table is in the ledger, as answered.",
)
def calls_known(
    warehouse: dg.ResourceParam[Warehouse], ledger: dg.ResourceParam[Ledger]
) -> dg.AssetCheckResult:
    """Compare the calls that tables name with the ledger."""
    missing = warehouse.read("ledger/unknown_calls").to_pylist()
    # Calls that were answered after ledger.calls was copied are in the ledger itself.
    late = ledger.find([row["call_key"] for row in missing])
    unknown = [row for row in missing if row["call_key"] not in late]
    naming = Counter(row["named_by"] for row in unknown)
    keys = list(dict.fromkeys(row["call_key"] for row in unknown))
    wrong = (
        f"The ledger lacks {number_of(len(keys), 'call')} of {listed(naming)} ({listed(keys)}): "
        "restore a backup that has them (vlm-loom workspace restore), or materialize these "
        "tables again, which asks and pays for them again."
    )
    return result(
        wrong if unknown else None,
        {"unknown": len(keys), **naming, "first of them": keys[:N_SHOWN]},
    )


@asset_check(asset=CALLS, description="No request is in it as answered twice.")
def answered_once(warehouse: dg.ResourceParam[Warehouse]) -> dg.AssetCheckResult:
    """Look for keys of several answered calls."""
    twice = warehouse.read("ledger/answered_twice").column("key").to_pylist()
    wrong = (
        f"ledger.calls has {number_of(len(twice), 'request')} as answered twice ({listed(twice)}): "
        "materialize ledger/calls again; vlm-loom workspace check-ledger looks at the ledger "
        "itself."
    )
    return result(wrong if twice else None, {"twice": len(twice), "first of them": twice[:N_SHOWN]})


RUN_AGAIN = "Then run the job evaluate again: re-execution from failure runs only this check."


def made_check(specs: Sequence[dg.AssetSpec]) -> dg.AssetChecksDefinition:
    """Make the check that the last run of each isolated step was complete.

    Isolated steps (`assets/common/isolation.py`) do not stop others when they fail. This check is one
    step after all of them. It does not block, but it fails the run, so that the list of runs shows the
    failure.
    """
    tables = {spec.key: spec.metadata["dagster/table_name"] for spec in specs}

    @dg.multi_asset_check(
        name=ALL_MADE,
        specs=[
            dg.AssetCheckSpec(
                ALL_MADE,
                asset=key,
                description="The last run computed everything; table evaluate.not_made lists what is "
                "missing, with reasons.",
            )
            for key, table in tables.items()
            if table.partition(".")[0] in ISOLATED_STAGES
        ],
        can_subset=True,
    )
    def check(
        context: dg.AssetCheckExecutionContext, warehouse: dg.ResourceParam[Warehouse]
    ) -> Iterator[dg.AssetCheckResult]:
        lost = incomplete_steps(warehouse)
        reasons: dict[str, None] = {}
        for key, name in sorted(context.selected_asset_check_keys):
            why = lost.get(tables[key], [])
            reasons |= dict.fromkeys(why)
            yield dg.AssetCheckResult(
                passed=not why,
                asset_key=key,
                check_name=name,
                description=" ".join(why) or None,
                metadata={"not made": why} if why else {},
            )
        if reasons:
            raise dg.Failure(" ".join([*reasons, RUN_AGAIN]), allow_retries=False)

    return check


def make_checks(specs: Sequence[dg.AssetSpec]) -> list[dg.AssetChecksDefinition]:
    """Return all checks; `specs` are those of the assets that Dagster runs."""
    return [
        *(schema_check(spec) for spec in specs),
        made_check(specs),
        ingested,
        licensed,
        _empty_check(
            dg.AssetKey(["cluster", "image_sets"]),
            "image sets in cluster.image_sets",
            "cluster/sets_by_kind",
            "Ingest more shards, lower tau of cluster/clusters, or let a set have several pictures of "
            "a page (repeat_pages of cluster/image_sets); table cluster.set_counts says why each "
            "missing set is missing.",
        ),
        # The tables keep earlier releases; only items of current releases are counted.
        _empty_check(
            dg.AssetKey(["release", "releases"]),
            "items of the current releases in release.items",
            "release/items_by_kind",
            "Review what was generated (vlm-loom review demo) or demand fewer decisions "
            "(setting require of "
            "review/approved), then materialize review/approved and release/releases again.",
        ),
        *CLUSTER_CHECKS,
        *(content_check(spec) for spec in specs if spec.group_name in CHECKED_STAGES),
        *(no_overlap, decided_by_people, on_this_content),
        *(calls_known, answered_once),
    ]
