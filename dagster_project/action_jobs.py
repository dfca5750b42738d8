"""Jobs of one op, made of the table of actions.

What belongs here: the form of op and job, and the event by which assets that follow see the change.
"""

import dagster as dg

from assets.common.dagster_internals import CODE_VERSION_TAG, DATA_VERSION_TAG
from assets.common.failures import plain_errors
from assets.common.tables import ROW_COUNT
from dagster_project.actions import ACTIONS, RELEASES, Action, Argument
from dagster_project.progress import progress_logger
from methods.ids import content_id
from resources.warehouse import Warehouse


def job_of(action: Action) -> dg.JobDefinition:
    """The job of one op that performs an action; its config has the arguments."""

    @dg.op(
        name=action.op,
        description=action.does,
        config_schema={argument.name: _field(argument) for argument in action.arguments},
        required_resource_keys=set(action.uses),
        out=dg.Out(str, description="What came of it, in sentences."),
    )
    def perform(context: dg.OpExecutionContext) -> str:
        resources = {name: getattr(context.resources, name) for name in action.uses}
        told_how_far = {"say": context.log.info} if action.takes_long else {}
        with plain_errors():
            done = action.perform(**resources, **context.op_config, **told_how_far)
            if done.changed == RELEASES:
                context.log_event(
                    _releases_now(context.instance, resources["warehouse"], done.told)
                )
            elif done.changed:
                context.log_event(_table_now(done.changed, resources["warehouse"]))
        context.add_output_metadata({"told": done.told, **done.metadata})
        return done.told

    @dg.job(name=action.job, description=action.does, logger_defs={"console": progress_logger})
    def job() -> None:
        perform()

    return job


def _field(argument: Argument) -> dg.Field:
    if argument.kind == "flag":
        return dg.Field(bool, default_value=False, description=argument.help)
    if argument.may_lack:
        return dg.Field(str, default_value="", description=argument.help)
    return dg.Field(str, description=argument.help)


def _table_now(asset: str, warehouse: Warehouse) -> dg.AssetMaterialization:
    """An asset as its table is now, so that what follows sees whether it has changed."""
    table = asset.replace("/", ".")
    return dg.AssetMaterialization(
        asset.split("/"),
        metadata={ROW_COUNT: warehouse.count(table)},
        tags={DATA_VERSION_TAG: content_id(warehouse.fingerprint(table))},
    )


def _releases_now(
    instance: dg.DagsterInstance, warehouse: Warehouse, told: str
) -> dg.AssetMaterialization:
    """`release/releases` as it is now, so that what follows sees that another release is in force.

    No release was frozen: all but the settings and the versions is as it was last shown.
    """
    from assets.common.settings import choose
    from assets.release import releases
    from assets.release.in_force import TABLE, version_of_releases
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
            **choose(TABLE).metadata(),
            "warning": f"{told} None was frozen.",
        },
        tags={
            **((last.tags or {}) if last else {}),
            **({CODE_VERSION_TAG: version} if version else {}),
            DATA_VERSION_TAG: version_of_releases(warehouse).value,
        },
    )


ACTION_JOBS = [job_of(action) for action in ACTIONS]
"""A job for each action."""
