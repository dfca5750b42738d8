"""Schedules: new and changing shards weekly, models without scores nightly, `ledger.calls` hourly.

What belongs here: the calendar. A schedule that asks models is stopped until someone turns it on in the
UI; copying the ledger asks none, so that schedule runs from the start.
"""

from collections.abc import Sequence
from contextlib import closing

import dagster as dg

from assets.common.dagster_internals import PARTITION_NAME_TAG
from assets.common.partitions import wit_shards
from assets.common.tables import recorded_rows
from dagster_project import jobs
from dagster_project.resources import corpus_folder
from methods.errors import UserError
from resources import home
from resources.llm.ledger import Ledger
from resources.llm.registry import active_profile, load_registry
from resources.stores.address import is_there
from resources.warehouse_of_home import warehouse_of_home


@dg.schedule(
    job=jobs.STAGES["ingest"],
    cron_schedule="0 3 * * 1",
    description="The next shard that is not ingested yet, and remote shards that may have changed.",
)
def ingest_weekly(context: dg.ScheduleEvaluationContext) -> list[dg.RunRequest] | dg.SkipReason:
    """Monday 03:00: the first shard, by name, that was never materialized, and every materialized shard
    that is not a file of the folder; only what has changed of those is read again. A shard that failed
    comes after those that no run has tried."""
    try:
        corpus = corpus_folder()
        shards, changing = corpus.shards(), corpus.changing()
    except UserError as error:
        return dg.SkipReason(str(error))
    done = context.instance.get_materialized_partitions(dg.AssetKey(["ingest", "entries"]))
    waiting = [shard for shard in shards if shard not in done]
    again = [shard for shard in changing if shard in done]
    if not waiting and not again:
        return dg.SkipReason("Every shard of the corpus is ingested.")
    following = [_least_tried(context.instance, waiting)] if waiting else []
    due = [*following, *again]
    # Those that are there stay; one that a person deleted would make every tick fail.
    context.instance.add_dynamic_partitions(str(wit_shards.name), due)
    # Dagster starts one run for a key: a tick that is repeated starts nothing twice, and no next shard.
    tick = context.scheduled_execution_time.isoformat()
    keys = [*(f"{tick} next" for _ in following), *(f"{tick} {shard}" for shard in again)]
    return [
        dg.RunRequest(run_key=key, partition_key=shard)
        for key, shard in zip(keys, due, strict=True)
    ]


def _least_tried(instance: dg.DagsterInstance, shards: Sequence[str]) -> str:
    """The first shard that no run has tried to ingest, else the first of those tried least often."""
    n_runs: dict[str, int] = {}
    for shard in shards:
        of_shard = dg.RunsFilter(
            job_name=jobs.STAGES["ingest"].name, tags={PARTITION_NAME_TAG: shard}
        )
        n_runs[shard] = instance.get_runs_count(of_shard)
        if not n_runs[shard]:
            break
    return min(n_runs, key=n_runs.__getitem__)


@dg.schedule(
    job=jobs.STAGES["evaluate"],
    cron_schedule="0 2 * * *",
    description="Models of the active profile without scores on the releases in force.",
)
def evaluate_missing_models(
    context: dg.ScheduleEvaluationContext,
) -> dg.RunRequest | dg.SkipReason:
    """Nightly 02:00: one run if a model of the profile has no scores on a release in force.

    Models that have them cost nothing: their answers are in the ledger.
    """
    try:
        profile = load_registry().profile(active_profile())
        unscored = warehouse_of_home().read("evaluate/unscored", {"models": profile.evaluate})
    except UserError as error:
        return dg.SkipReason(str(error))
    names = sorted(set(unscored["model"].to_pylist()))
    if not names:
        return dg.SkipReason("Every model of the profile has scores on the releases in force.")
    tick = context.scheduled_execution_time.isoformat()
    return dg.RunRequest(run_key=tick, tags={"loom/without_scores": ", ".join(names)})


@dg.schedule(
    job=jobs.STAGES["ledger"],
    cron_schedule="0 * * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="What model calls cost, when there were any since the last run.",
)
def mirror_ledger(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
    """Hourly: copy the ledger into the warehouse, unless the copy has every call already."""
    if not is_there(home.ledger_path()):
        return dg.SkipReason("No model was asked anything yet.")
    try:
        with closing(Ledger(home.ledger_path())) as ledger:
            n_calls = ledger.count_paid_calls()
    except UserError as error:
        return dg.SkipReason(str(error))
    n_shown = recorded_rows(context.instance, "ledger.calls") or 0
    # The ledger only grows, so an equal count means the same calls.
    if n_calls == n_shown:
        return dg.SkipReason(f"All {n_calls} calls of the ledger are in the warehouse.")
    return dg.RunRequest(run_key=context.scheduled_execution_time.isoformat())


SCHEDULES = [ingest_weekly, evaluate_missing_models, mirror_ledger]
