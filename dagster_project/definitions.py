"""Dagster definitions of the project. `build_defs` lets tests and scripts replace resources."""

from collections.abc import Mapping
from importlib import import_module

import dagster as dg

from assets import (
    choice,
    cluster,
    dialogue,
    evaluate,
    ingest,
    ledger,
    own,
    quality,
    release,
    review,
    rewrite,
)
from assets.common.automation import WHEN_READY, Condition
from assets.common.settings import SECTIONS
from assets.review.approved import ReviewSettings
from dagster_project import jobs
from dagster_project.alerts import ALERTS
from dagster_project.checks import make_checks
from dagster_project.code_versions import code_version
from dagster_project.progress import progress_logger
from dagster_project.resources import make_resources
from dagster_project.run_processes import executor
from dagster_project.schedules import SCHEDULES
from dagster_project.sensors import SENSORS, batch_sensors
from methods.errors import UserError
from resources.settings.asset_settings import read_sections
from resources.settings.extras import extras

STAGES = (
    *(ingest, cluster, dialogue, rewrite, choice, quality),
    *(review, release, evaluate, ledger),
)
OF_EXTRAS = [import_module(extra.definitions) for extra in extras() if extra.definitions]


def build_defs(*, resource_overrides: Mapping[str, object] | None = None) -> dg.Definitions:
    """Build the project's definitions, with the assets and checks of `assets/own`.

    Args:
        resource_overrides: Resources that replace those of the same name.
    """
    conditions = _without_decisions()
    assets = dg.map_asset_specs(
        lambda spec: spec.replace_attributes(
            code_version=code_version(spec),
            automation_condition=conditions.get(spec.key, spec.automation_condition),
        ),
        [
            *(asset for stage in STAGES for asset in stage.ASSETS),
            *(asset for module in OF_EXTRAS for asset in module.ASSETS),
        ],
    )
    specs = [
        spec for asset in assets if isinstance(asset, dg.AssetsDefinition) for spec in asset.specs
    ]
    all_jobs = jobs.all_jobs()
    return dg.Definitions(
        assets=[
            *assets,
            *ingest.OBSERVABLE,
            *review.OBSERVABLE,
            *dg.load_assets_from_package_module(own),
        ],
        asset_checks=[
            *make_checks(specs),
            *(check for module in OF_EXTRAS for check in module.CHECKS),
            *dg.load_asset_checks_from_package_module(own),
        ],
        jobs=all_jobs,
        schedules=SCHEDULES,
        sensors=[*SENSORS, *ALERTS, *batch_sensors(all_jobs)],
        resources={**make_resources(), **(resource_overrides or {})},
        executor=executor,
        loggers={"console": progress_logger},
    )


def _without_decisions() -> Mapping[dg.AssetKey, Condition]:
    """Return other automation conditions for the assets that usually wait for people's decisions.

    It is empty if settings.yaml requires decisions.
    """
    try:
        policy = read_sections(SECTIONS)["review.approved"]
    except UserError:
        # The next run reports the error in the file.
        return {}
    if ReviewSettings.model_validate(policy).require != "none":
        return {}
    return {review.approved.key: WHEN_READY, release.releases.key: WHEN_READY}


defs = build_defs()
