"""Dagster sensors for changes outside Dagster: corpus shards, review decisions, model batches."""

import json
import warnings
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import dagster as dg

from assets.common.dagster_internals import IMPLICIT_ASSET_JOB_NAME
from assets.common.partitions import wit_shards
from assets.common.settings import read_used_settings
from assets.review.approved import ReviewSettings
from assets.review.queue import KINDS_MADE
from dagster_project.decisions import forget_materializations, observation_of_decisions
from dagster_project.jobs import ASK_MODELS
from dagster_project.resources import corpus_folder, require_same_corpus
from dagster_project.run_processes import end_dead_runs
from dagster_project.run_tags import BUDGET, CHAIN, PARTITION, PROFILE, WAITED
from dagster_project.shards import ingested_now, observation, observation_of_files, stale_shards
from methods.choice.answer_extraction import QUEUED_KIND
from methods.errors import UserError
from methods.json_text import from_json
from methods.review.flagged_items import FLAGGED
from methods.review.process import DONE
from methods.review.ratings import PAIR, SCORE
from resources.corpus.observation import ShardState, observe, observe_files
from resources.files.home import ledger_path, review_path
from resources.llm.batches import poll_open_batches
from resources.llm.ledger import Ledger
from resources.llm.ledger.batch_state import BatchState
from resources.llm.registry import load_registry
from resources.migrations import StoreError
from resources.mock_server.process import MockServerProcess
from resources.review.store import ReviewStore
from resources.stores.address import is_there
from resources.warehouse.configured import warehouse_of_home

# Dagster copies a sensor when it resolves the sensor's jobs, and warns of the copy's own parameters.
warnings.filterwarnings("ignore", message="Parameter `owners` of initializer `SensorDefinition")
warnings.filterwarnings("ignore", message="Parameter `use_user_code_server` of initializer")

OBSERVE_SECONDS = 20
"""How long a tick reads shards: Dagster ends a tick after 60 s, and one shard takes some seconds."""
_FILES, _WRONG = "/files", "/check"
"""Keys of the cursor next to the names of shards, which contain no slash."""
REPORTED = (*KINDS_MADE, SCORE, PAIR, FLAGGED, QUEUED_KIND)
"""Kinds of items whose decisions are reported."""
RUNNING = dg.DefaultSensorStatus.RUNNING
"""Sensors that only add partitions or report what happened cost nothing, so they run from the start."""


@dg.sensor(
    minimum_interval_seconds=30,
    default_status=RUNNING,
    description="Shards of the corpus become partitions; changed ones, and a changed corpus.yaml or "
    "categories.jsonl, make what follows Unsynced. Shards that are gone fail the check ingested.",
)
def shards(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
    """Adds new shards as partitions, and reports files whose content has changed.

    Ingesting them is up to a person, the schedule or the automation. The cursor has the reported state.
    """
    before = from_json(context.cursor or "{}")
    files_before, wrong_before = before.pop(_FILES, None), before.pop(_WRONG, None)
    try:
        corpus, ingested = corpus_folder(), _ingested_shards()
        require_same_corpus(corpus, ingested)
        names = corpus.shards()
        observed = observe(corpus, before, OBSERVE_SECONDS)
        files = observe_files(corpus, files_before)
        wrong = stale_shards(corpus, observed, ingested)
    except UserError as error:
        return dg.SkipReason(str(error))
    partitions = set(context.instance.get_dynamic_partitions(str(wit_shards.name)))
    new = [shard for shard in names if shard not in partitions]
    reported = {shard: ShardState(*seen).fingerprint for shard, seen in before.items()}
    changed = [shard for shard, seen in observed.items() if reported.get(shard) != seen.fingerprint]
    # Updated even if nothing is reported, so that a touched file is read once, not in every tick.
    # Shards that are gone stay in the cursor, as the file may come back.
    context.update_cursor(json.dumps({**before, **observed, _FILES: files, _WRONG: wrong}))
    edited = files_before is None or ShardState(*files_before).fingerprint != files.fingerprint
    events: list[dg.AssetObservation | dg.AssetCheckEvaluation] = [
        *(observation(shard, observed[shard]) for shard in changed),
        *([observation_of_files(files)] if edited else []),
        *([] if wrong == wrong_before else [ingested_now(wrong)]),
    ]
    if not new and not events:
        return dg.SkipReason(f"No shard is new or changed; the corpus has {len(names)}.")
    others = [shard for shard in changed if shard in reported and shard not in new]
    others += ["corpus.yaml or a file about shards"] if edited and files_before else []
    done = f"new: {', '.join(new) or 'none'}; changed: {', '.join(others) or 'none'}"
    done = f"{done}. {wrong}" if wrong else done
    context.log.info(done)
    return dg.SensorResult(
        # The tick shows it; without a run Dagster would say that the sensor did nothing.
        skip_reason=dg.SkipReason(done),
        dynamic_partitions_requests=[wit_shards.build_add_request(new)] if new else [],
        asset_events=events,
    )


def _ingested_shards() -> dict[str, str]:
    """The fingerprint of each shard with rows. Raises WarehouseError if they cannot be read now."""
    tables = warehouse_of_home()
    if not tables.is_there():
        return {}
    rows = tables.snapshot_read("ingest/shards_read", {}).to_pylist()
    return {row["wit_shard"]: row["fingerprint"] for row in rows}


@dg.sensor(
    minimum_interval_seconds=30,
    default_status=RUNNING,
    description="Decisions are reported in review/decisions when no item needs one any more.",
)
def review_decisions(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
    """Reports when people have reviewed all items that go into releases.

    Scores, letters and decisions on flagged items are reported, too, once they are complete. The cursor
    holds the reported state.
    """
    if not is_there(review_path()):
        return dg.SkipReason("Nothing was put before people yet.")
    try:
        require = read_used_settings(context.instance, "review.approved", ReviewSettings).require
        with closing(ReviewStore(review_path())) as store:
            n_items, n_open = Counter[str](), Counter[str]()
            for count in store.progress():
                n_items[count.kind] += count.n
                n_open[count.kind] += count.n * (count.status not in DONE)
            complete = [kind for kind in REPORTED if kind in n_items and not n_open[kind]]
            n_decisions, state = store.decided(complete)
            # Last, so that the observation has at least the decisions of the cursor.
            observed = observation_of_decisions(store)
    except UserError as error:
        return dg.SkipReason(str(error))
    if not n_items.keys() & set(KINDS_MADE):
        return dg.SkipReason("Nothing was put before people yet.")
    n_awaiting = sum(n_open[kind] for kind in KINDS_MADE)
    if n_awaiting:
        items = "1 item is" if n_awaiting == 1 else f"{n_awaiting} items are"
        awaited = "releases await none of them" if require == "none" else "releases await them"
        return dg.SkipReason(
            f"{items} open for people, and {awaited} (require of review.approved: {require})."
        )
    if context.cursor == state:
        return dg.SkipReason("No item awaits people, and nothing was decided since.")
    forget_materializations(context.instance)
    n_complete = sum(n_items[kind] for kind in complete)
    return dg.SensorResult(
        skip_reason=dg.SkipReason(f"Reported {n_decisions} decisions on {n_complete} items."),
        asset_events=[observed],
        cursor=state,
    )


def batch_sensors(jobs: Sequence[Any]) -> list[dg.SensorDefinition]:
    """Build `model_batches`, which restarts runs of `jobs`, and `model_batches_of_selections`.

    One sensor can start runs of named jobs or of selected assets, but not of both.
    """

    @dg.sensor(
        jobs=jobs,
        minimum_interval_seconds=60,
        default_status=RUNNING,
        description="Polls batches of model calls; a run that waited for them is started again.",
    )
    def model_batches(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        """Reads the results of ended batches, and restarts runs whose batches have all ended."""
        if not is_there(ledger_path()):
            return dg.SkipReason("No model was ever asked.")
        try:
            with closing(Ledger(ledger_path())) as ledger:
                return _look_after(context, ledger)
        except StoreError as error:
            return dg.SkipReason(str(error))

    @dg.sensor(
        asset_selection=dg.AssetSelection.groups(*ASK_MODELS),
        minimum_interval_seconds=60,
        default_status=RUNNING,
        description="Restarts runs of manually selected assets when their batches have ended.",
    )
    def model_batches_of_selections(
        context: dg.SensorEvaluationContext,
    ) -> dg.SensorResult | dg.SkipReason:
        """Restarts runs whose batches have all ended; `model_batches` polls the batches."""
        if not is_there(ledger_path()):
            return dg.SkipReason("No model was ever asked.")
        try:
            with closing(Ledger(ledger_path())) as ledger:
                requests = _ready(context, BatchState(ledger), selected=True)
        except StoreError as error:
            return dg.SkipReason(str(error))
        if requests:
            return dg.SensorResult(run_requests=requests)
        return dg.SkipReason("No run of selected assets has batches that are back.")

    return [model_batches, model_batches_of_selections]


def _look_after(
    context: dg.SensorEvaluationContext, ledger: Ledger
) -> dg.SensorResult | dg.SkipReason:
    state = BatchState(ledger)
    troubles: list[str] = []
    if state.batches(still_open=True):
        try:
            troubles = poll_open_batches(load_registry(), ledger, MockServerProcess())
        except UserError as error:
            troubles = [str(error)]
    for trouble in troubles:
        context.log.warning(trouble)
    requests = _ready(context, state, selected=False)
    if requests:
        return dg.SensorResult(run_requests=requests)
    waiting = state.batches(still_open=True)
    n_waiting = sum(batch.n_requests for batch in waiting)
    in_work = f"{len(waiting)} batches with {n_waiting} requests are in work."
    return dg.SkipReason(" ".join(troubles) or (in_work if waiting else "No batch is under way."))


def _ready(
    context: dg.SensorEvaluationContext, state: BatchState, *, selected: bool
) -> list[dg.RunRequest]:
    """Runs to restart: of assets that were selected by hand, or of named jobs."""
    requests = [_again(context, state, run_id, selected) for run_id in state.ready_runs()]
    return [request for request in requests if request]


def _again(
    context: dg.SensorEvaluationContext, state: BatchState, run_id: str, selected: bool
) -> dg.RunRequest | None:
    """Request the run again with the same configuration; None unless it stopped to wait for batches."""
    run = context.instance.get_run_by_id(run_id)
    if run is not None and not run.is_finished:
        return None  # The run is still at work.
    if run is not None and run.job_name.startswith(IMPLICIT_ASSET_JOB_NAME) != selected:
        return None  # The other sensor starts it.
    started_again = context.instance.get_runs(dg.RunsFilter(tags={WAITED: run_id}), limit=1)
    if run is None or run.status != dg.DagsterRunStatus.FAILURE or started_again:
        state.forget_run(run_id)
        return None
    is_done = _is_done_by_later_runs(context.instance, state, run)
    if is_done:
        state.forget_run(run_id)
    if is_done or is_done is None:
        return None
    keys = sorted(run.asset_selection or [], key=str)
    if selected:
        keys = [key for key in keys if key.path[0] in ASK_MODELS]
    return dg.RunRequest(
        # The run is requested on every tick until it has started; Dagster starts one run for a key.
        run_key=run_id,
        job_name=None if selected else run.job_name,
        run_config=dict(run.run_config),
        asset_selection=keys or None,
        partition_key=run.tags.get(PARTITION),
        tags={
            **{name: run.tags[name] for name in (PROFILE, BUDGET) if name in run.tags},
            WAITED: run_id,
            CHAIN: f"{run.tags.get(CHAIN, '')} {run_id}".strip(),
        },
    )


def _is_done_by_later_runs(
    instance: dg.DagsterInstance, state: BatchState, run: dg.DagsterRun
) -> bool | None:
    """Whether runs that were launched later materialized all that a stopped run did not.

    None while such a run is queued, runs or waits for batches itself.
    """
    planned, materialized = (
        {entry.get_dagster_event().asset_key for entry in instance.all_logs(run.run_id, of_type)}
        for of_type in (
            dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED,
            dg.DagsterEventType.ASSET_MATERIALIZATION,
        )
    )
    own_record = instance.get_run_record_by_id(run.run_id)
    missing = [key for key in planned - materialized if key]
    is_done = bool(missing)
    for record in instance.get_asset_records(missing):
        asset = record.asset_entry
        later = instance.get_run_record_by_id(asset.last_run_id or "")
        if later is None or own_record is None or later.storage_id <= own_record.storage_id:
            is_done = False
        elif not later.dagster_run.is_finished or state.is_waiting(later.dagster_run.run_id):
            return None
        else:
            entry = asset.last_materialization
            is_done &= entry is not None and entry.run_id == asset.last_run_id
    return is_done


@dg.sensor(
    minimum_interval_seconds=30,
    default_status=RUNNING,
    description="Runs whose process is gone end as failed. A shared installation launches them again.",
)
def dead_runs(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Ends runs whose process is gone.

    Not left to Dagster's run monitoring, which would not wait for the code server: only if that answers
    can the daemon launch a run again. It also has the processes of the runs.
    """
    ended = end_dead_runs(context.instance)
    return dg.SkipReason(f"Ended: {', '.join(ended)}." if ended else "No run lost its process.")


automation = dg.AutomationConditionSensorDefinition(
    "default_automation_condition_sensor",
    target=dg.AssetSelection.all(),
    use_user_code_server=True,
    description="Runs what is Unsynced or missing, up to releases and their evaluation, once for each "
    "change; also what had changed before it was turned on.",
)
"""The sensor of all conditions. It has the name of Dagster's own, so it stays on if that was on."""

SENSORS = [automation, shards, review_decisions, dead_runs]
