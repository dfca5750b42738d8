"""Dagster schedules: new shards weekly, models without scores nightly, `ledger.calls` hourly.

A schedule that calls models is stopped until someone turns it on in the UI. Copying the ledger calls no
model, so that schedule runs from the start.
"""

from collections.abc import Sequence
from contextlib import closing

import dagster as dg

from assets.common.partitions import wit_shards
from assets.common.settings import last_reported
from assets.common.tables import ROW_COUNT
from dagster_project import jobs
from dagster_project.resources import corpus_folder, ingested_shards, require_same_corpus
from dagster_project.run_tags import PARTITION
from dagster_project.shards import observed_fingerprints
from methods.errors import UserError
from resources.files import home
from resources.llm.ledger import Ledger
from resources.llm.registry import active_profile, load_registry
from resources.stores.address import is_there
from resources.warehouse.configured import warehouse_of_home


@dg.schedule(
    job=jobs.STAGES["ingest"],
    cron_schedule="0 3 * * 1",
    description="New and changed shards, as many as weekly_shards of corpus.yaml allows, and remote "
    "shards that may have changed.",
)
def ingest_weekly(context: dg.ScheduleEvaluationContext) -> list[dg.RunRequest] | dg.SkipReason:
    """Monday 03:00: new shards, shards whose file changed, and every ingested shard that is not a local
    file.

    Unchanged content is not read again. If more shards wait than are allowed, those with the fewest
    attempts come first, by name.
    """
    try:
        corpus = corpus_folder()
        shards, changing, most = corpus.shards(), corpus.changing(), corpus.settings.weekly_shards
        ingested = ingested_shards(warehouse_of_home())
        require_same_corpus(corpus, ingested)
    except UserError as error:
        return dg.SkipReason(str(error))
    done = context.instance.get_materialized_partitions(dg.AssetKey(["ingest", "entries"]))
    observed = observed_fingerprints(context.instance, shards)
    waiting = [
        shard
        for shard in shards
        if shard not in done or (shard in observed and observed[shard] != ingested.get(shard))
    ]
    again = [shard for shard in changing if shard in done]
    due = list(dict.fromkeys([*_least_tried_first(context.instance, waiting)[:most], *again]))
    if not due:
        return dg.SkipReason("Every shard of the corpus is ingested as it is now.")
    # Existing partitions stay. A missing one, which a person deleted, would make every tick fail.
    context.instance.add_dynamic_partitions(str(wit_shards.name), due)
    # Dagster starts one run for a key: a tick that is repeated starts nothing twice.
    tick = context.scheduled_execution_time.isoformat()
    return [dg.RunRequest(run_key=f"{tick} {shard}", partition_key=shard) for shard in due]


def _least_tried_first(instance: dg.DagsterInstance, shards: Sequence[str]) -> list[str]:
    """Sort shards by attempts to ingest them, so that a failing one keeps none waiting."""
    tried = {
        shard: instance.get_runs_count(
            dg.RunsFilter(job_name=jobs.STAGES["ingest"].name, tags={PARTITION: shard})
        )
        for shard in shards
    }
    return sorted(shards, key=tried.__getitem__)


@dg.schedule(
    job=jobs.STAGES["evaluate"],
    cron_schedule="0 2 * * *",
    description="Models of the active profile without scores on the current releases.",
)
def evaluate_missing_models(
    context: dg.ScheduleEvaluationContext,
) -> dg.RunRequest | dg.SkipReason:
    """Nightly 02:00: one run if a model of the profile has no scores on a current release.

    Models that have them cost nothing: their answers are in the ledger.
    """
    try:
        profile = load_registry().profile(active_profile())
        unscored = warehouse_of_home().read("evaluate/unscored", {"models": profile.evaluate})
    except UserError as error:
        return dg.SkipReason(str(error))
    names = sorted(set(unscored["model"].to_pylist()))
    if not names:
        return dg.SkipReason("Every model of the profile has scores on the current releases.")
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
    n_shown = last_reported(context.instance, "ledger.calls", ROW_COUNT) or 0
    # The ledger only grows, so an equal count means the same calls.
    if n_calls == n_shown:
        return dg.SkipReason(f"All {n_calls} calls of the ledger are in the warehouse.")
    return dg.RunRequest(run_key=context.scheduled_execution_time.isoformat())


SCHEDULES = [ingest_weekly, evaluate_missing_models, mirror_ledger]
