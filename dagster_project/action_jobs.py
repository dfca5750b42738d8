"""Dagster jobs of actions, with one op each, and the events that make downstream assets stale."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import create_model

from assets.common.dagster_internals import CODE_VERSION_TAG, DATA_VERSION_TAG
from assets.common.failures import plain_errors
from assets.common.partitions import wit_shards
from assets.common.tables import ROW_COUNT
from dagster_project.action import Action
from dagster_project.actions import ACTIONS
from dagster_project.progress import TO_BE_MADE_AGAIN, progress_logger
from dagster_project.release_actions import RELEASES
from methods.ids import content_id
from resources.files.import_limits import import_limits
from resources.warehouse import Warehouse

BEFORE_RELEASES = ("cluster.splits", "rewrite.candidates")
"""Tables of assets that read which releases are current. They are upstream of `release/releases`, so
they cannot depend on it, and are marked as stale here.
"""
MADE_OF_SHARDS = (
    *("cluster.duplicates", "cluster.embeddings", "cluster.splits", "cluster.image_sets"),
    *("dialogue.instructions", "rewrite.candidates", "choice.mmiu_items", "quality.checks"),
    *("release.releases", "evaluate.reports"),
)
"""Tables of assets that depend on shards. They are marked as stale here if a shard is removed, because
Dagster does not count that as a change.
"""
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
"""Metadata of a materialization that describes the run and not the rows, so it is not repeated."""


def job_of(action: type[Action]) -> dg.JobDefinition:
    """Make the job that performs an action. The config of its op has the action's fields."""
    as_config: Any = create_model(action.__name__, __base__=(action, dg.Config))
    resources = [name for name in action.uses() if name != "say"]

    @dg.op(
        name=action.op(),
        description=action.help(),
        required_resource_keys={*resources},
        out=dg.Out(str, description="The result in sentences."),
    )
    def perform(context: dg.OpExecutionContext, config: as_config) -> str:
        arguments = {name: getattr(context.resources, name) for name in resources}
        if "say" in action.uses():
            arguments["say"] = context.log.info
        file = getattr(config, "file", None)
        with plain_errors(), import_limits(Path(file)) if file else nullcontext():
            result = config.perform(**arguments)
            if result.changed == RELEASES:
                context.log_event(
                    _releases_now(context.instance, arguments["warehouse"], result.text)
                )
            elif result.changed:
                context.log_event(_table_now(result.changed, arguments["warehouse"]))
            outdated = [*result.outdated, *(BEFORE_RELEASES if result.changed == RELEASES else ())]
            if result.removed_shard:
                context.instance.delete_dynamic_partition(
                    str(wit_shards.name), result.removed_shard
                )
                outdated += MADE_OF_SHARDS
            for table in outdated:
                if event := mark_unsynced(context.instance, table, result.text):
                    context.log_event(event)
        context.add_output_metadata({"result": result.text, **result.metadata})
        return result.text

    @dg.job(name=action.job(), description=action.help(), logger_defs={"console": progress_logger})
    def job() -> None:
        perform()

    return job


def _table_now(asset: str, warehouse: Warehouse) -> dg.AssetMaterialization:
    """Make a materialization of an asset's current table, so that downstream assets see a change."""
    table = asset.replace("/", ".")
    return dg.AssetMaterialization(
        asset.split("/"),
        metadata={ROW_COUNT: warehouse.count(table)},
        tags={DATA_VERSION_TAG: content_id(warehouse.fingerprint(table))},
    )


def mark_unsynced(
    instance: dg.DagsterInstance, table: str, why: str
) -> dg.AssetMaterialization | None:
    """Repeat the last materialization of an asset without its code version, which makes it Unsynced.

    Args:
        instance: The Dagster instance.
        table: The table of the asset.
        why: The reason, for the metadata.

    Returns:
        The materialization to report; None if the asset was never materialized.
    """
    key = dg.AssetKey(table.split("."))
    event = instance.get_latest_materialization_event(key)
    last = event.asset_materialization if event else None
    if last is None:
        return None
    metadata = {name: value for name, value in last.metadata.items() if name not in OF_ITS_RUN}
    return dg.AssetMaterialization(
        key,
        metadata={**metadata, "warning": why},
        tags={**(last.tags or {}), CODE_VERSION_TAG: TO_BE_MADE_AGAIN},
    )


def _releases_now(
    instance: dg.DagsterInstance, warehouse: Warehouse, text: str
) -> dg.AssetMaterialization:
    """Make a materialization of `release/releases`, so that downstream assets see the current releases.

    No release was frozen, so the metadata are those of the last materialization, except for row count,
    settings and versions.
    """
    from assets.common.settings import current_settings
    from assets.release import releases
    from assets.release.current_releases import TABLE, version_of_releases
    from dagster_project.code_versions import code_version

    event = instance.get_latest_materialization_event(releases.key)
    last = event.asset_materialization if event else None
    (spec,) = releases.specs
    version = code_version(spec)
    return dg.AssetMaterialization(
        releases.key,
        metadata={
            **(last.metadata if last else {}),
            ROW_COUNT: warehouse.count(TABLE),
            **current_settings(TABLE).metadata(),
            "warning": f"{text} None was frozen.",
        },
        tags={
            **((last.tags or {}) if last else {}),
            **({CODE_VERSION_TAG: version} if version else {}),
            DATA_VERSION_TAG: version_of_releases(warehouse).value,
        },
    )


ACTION_JOBS = [job_of(action) for action in ACTIONS]
"""A job for each action."""
