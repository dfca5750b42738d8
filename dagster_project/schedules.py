"""Schedules: the next shard weekly, models without scores nightly, `ledger.calls` hourly.

What belongs here: the calendar. A schedule that asks models is stopped until someone turns it on in the
UI; copying the ledger asks none, so that schedule runs from the start.
"""

from collections.abc import Iterator
from contextlib import closing

import dagster as dg

from assets.common.partitions import models, wit_shards
from dagster_project import jobs
from dagster_project.resources import corpus_folder
from methods.errors import UserError
from resources.home import ledger_path
from resources.llm.ledger import Ledger
from resources.llm.registry import active_profile, load_registry


@dg.schedule(
    job=jobs.STAGES["ingest"],
    cron_schedule="0 3 * * 1",
    description="The next shard that is not ingested yet, and remote shards that may have changed.",
)
def ingest_weekly(
    context: dg.ScheduleEvaluationContext,
) -> Iterator[dg.RunRequest | dg.SkipReason]:
    """Monday 03:00: the first shard, by name, that was never materialized, and every materialized shard
    that is not a file of the folder; only what has changed of those is read again."""
    try:
        corpus = corpus_folder()
        shards, changing = corpus.shards(), corpus.changing()
    except UserError as error:
        yield dg.SkipReason(str(error))
        return
    done = context.instance.get_materialized_partitions(dg.AssetKey(["ingest", "entries"]))
    waiting = [shard for shard in shards if shard not in done]
    again = [shard for shard in changing if shard in done]
    if not waiting and not again:
        yield dg.SkipReason("Every shard of the corpus is ingested.")
        return
    context.instance.add_dynamic_partitions(str(wit_shards.name), waiting[:1])
    for shard in [*waiting[:1], *again]:
        yield dg.RunRequest(partition_key=shard)


@dg.schedule(
    job=jobs.STAGES["evaluate"],
    cron_schedule="0 2 * * *",
    description="Models of the active profile without scores on the release in force.",
)
def evaluate_missing_models(
    context: dg.ScheduleEvaluationContext,
) -> Iterator[dg.RunRequest | dg.SkipReason]:
    """Nightly 02:00: a run for each model whose scores are older than the release, or not there."""
    try:
        profile = load_registry().profile(active_profile())
    except UserError as error:
        yield dg.SkipReason(str(error))
        return
    missing = models_without_scores(context.instance, profile.evaluate)
    if not missing:
        yield dg.SkipReason("Every model of the profile has scores on the release in force.")
        return
    context.instance.add_dynamic_partitions(str(models.name), missing)
    for model in missing:
        yield dg.RunRequest(partition_key=model)


def models_without_scores(instance: dg.DagsterInstance, names: list[str]) -> list[str]:
    """Those of `names` whose last scores are not newer than the last release."""
    released = instance.get_latest_materialization_event(dg.AssetKey(["release", "releases"]))
    if released is None:
        return []
    missing = []
    for name in names:
        records = instance.fetch_materializations(
            dg.AssetRecordsFilter(
                asset_key=dg.AssetKey(["evaluate", "scores"]),
                asset_partitions=[name],
                after_timestamp=released.timestamp,
            ),
            limit=1,
        ).records
        if not records:
            missing.append(name)
    return missing


@dg.schedule(
    job=jobs.STAGES["ledger"],
    cron_schedule="0 * * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="What model calls cost, when there were any since the last run.",
)
def mirror_ledger(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
    """Hourly: copy the ledger into the warehouse, unless the copy has every call already."""
    if not ledger_path().exists():
        return dg.SkipReason("No model was asked anything yet.")
    try:
        with closing(Ledger(ledger_path())) as ledger:
            n_calls = ledger.count_paid_calls()
    except UserError as error:
        return dg.SkipReason(str(error))
    last = context.instance.get_latest_materialization_event(dg.AssetKey(["ledger", "calls"]))
    shown = last.asset_materialization.metadata if last and last.asset_materialization else {}
    n_shown = shown["dagster/row_count"].value if "dagster/row_count" in shown else 0
    # The ledger only grows, so an equal count means the same calls.
    if n_calls == n_shown:
        return dg.SkipReason(f"All {n_calls} calls of the ledger are in the warehouse.")
    return dg.RunRequest()


SCHEDULES = [ingest_weekly, evaluate_missing_models, mirror_ledger]
