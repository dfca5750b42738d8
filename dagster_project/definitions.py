"""All definitions, in one place; `build_defs` lets a test or a script swap any resource.

What belongs here: putting together what the modules beside this one define. A sixth benchmark is one
folder under `methods/` and one line in `BENCHMARKS`.
"""

from collections.abc import Mapping, Sequence

import dagster as dg

from assets import cluster, dialogue, ingest, ledger, release, review, rewrite
from assets.evaluate.benchmark import evaluation_assets
from assets.evaluate.leaderboard import leaderboard_assets
from assets.review.agreement import agreement_assets
from dagster_project import jobs
from dagster_project.checks import make_checks
from dagster_project.progress import progress_logger
from dagster_project.resources import make_resources
from dagster_project.schedules import SCHEDULES
from dagster_project.sensors import SENSORS, batch_sensor
from methods.evaluation.benchmark import Benchmark
from methods.mmdu import Mmdu

BENCHMARKS: Sequence[Benchmark] = (Mmdu(),)


def build_defs(*, resource_overrides: Mapping[str, object] | None = None) -> dg.Definitions:
    """The project's definitions, with `resource_overrides` in the place of resources by name."""
    evaluations = [evaluation_assets(benchmark) for benchmark in BENCHMARKS]
    judgments = [judgments for _, judgments, _ in evaluations]
    score_queue = review.score_queue_asset(
        {benchmark.name: benchmark for benchmark in BENCHMARKS}, judgments
    )
    assets: list[dg.AssetsDefinition | dg.AssetSpec] = [
        *ingest.ASSETS,
        *cluster.ASSETS,
        *dialogue.ASSETS,
        *rewrite.ASSETS,
        *review.ASSETS,
        *release.ASSETS,
        *(asset for evaluation in evaluations for asset in evaluation),
        *leaderboard_assets([evaluation[-1] for evaluation in evaluations]),
        score_queue,
        *agreement_assets([*judgments, score_queue]),
        *ledger.ASSETS,
    ]
    specs = [
        spec for asset in assets if isinstance(asset, dg.AssetsDefinition) for spec in asset.specs
    ]
    all_jobs = jobs.all_jobs(lambda name: definitions.resolve_job_def(name))
    definitions = dg.Definitions(
        assets=assets,
        asset_checks=make_checks(specs, [benchmark.name for benchmark in BENCHMARKS]),
        jobs=all_jobs,
        schedules=SCHEDULES,
        sensors=[*SENSORS, batch_sensor(all_jobs)],
        resources={**make_resources(), **(resource_overrides or {})},
        executor=dg.in_process_executor,
        loggers={"console": progress_logger},
    )
    return definitions


defs = build_defs()
