"""Sensors: changes outside Dagster that assets depend on.

What belongs here: polling the corpus folder, models.yaml, the review store and providers' batches.
"""

import json
import warnings
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING

import dagster as dg
from dagster._core.definitions.assets.job.asset_job import IMPLICIT_ASSET_JOB_NAME

from assets.common.partitions import buckets, models, wit_shards
from dagster_project.jobs import ASK_MODELS, RANGE_END, RANGE_START
from dagster_project.resources import CHAIN, corpus_folder
from methods.errors import UserError
from resources.home import ledger_path, review_path
from resources.llm.batches import poll_open_batches
from resources.llm.ledger import Ledger
from resources.llm.ledger.batch_state import BatchState
from resources.llm.registry import active_profile, load_registry
from resources.migrations import StoreError
from resources.offline.process import OfflineServer
from resources.review.buckets import Bucket
from resources.review.store import ReviewStore

if TYPE_CHECKING:
    from dagster_project.jobs import Job

# Dagster copies a sensor when it resolves the sensor's jobs, and warns of the copy's own parameters.
warnings.filterwarnings("ignore", message="Parameter `owners` of initializer `SensorDefinition")

WAITED = "loom/waited"
"""Tag of a run that goes on for another one, which stopped to wait for batches."""
RUNNING = dg.DefaultSensorStatus.RUNNING
"""Sensors that only add partitions or report what happened cost nothing, so they run from the start."""


def _additions(
    context: dg.SensorEvaluationContext, definition: dg.DynamicPartitionsDefinition, keys: list[str]
) -> dg.SensorResult | dg.SkipReason:
    known = set(context.instance.get_dynamic_partitions(str(definition.name)))
    new = [key for key in keys if key not in known]
    if not new:
        return dg.SkipReason(f"No new {definition.name}.")
    return dg.SensorResult(dynamic_partitions_requests=[definition.build_add_request(new)])


@dg.sensor(
    minimum_interval_seconds=30,
    default_status=RUNNING,
    description="A new entry in models.yaml becomes a model partition.",
)
def new_models(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
    """Adds the models that the active profile evaluates."""
    try:
        return _additions(context, models, load_registry().profile(active_profile()).evaluate)
    except UserError as error:
        return dg.SkipReason(str(error))


@dg.sensor(
    minimum_interval_seconds=30,
    default_status=RUNNING,
    description="A new shard, in the corpus folder or its corpus.yaml, becomes a partition.",
)
def new_shards(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
    """Adds the shards of the corpus; ingesting them is up to a person or the schedule."""
    try:
        return _additions(context, wit_shards, corpus_folder().shards())
    except UserError as error:
        return dg.SkipReason(str(error))


@dg.sensor(
    minimum_interval_seconds=30,
    default_status=RUNNING,
    description="A bucket whose items await no decision any more is materialized in review/decisions.",
)
def review_decisions(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
    """Reports a bucket each time that people have completed it.

    A bucket without items awaits nobody, once anything was queued at all. The cursor has what was
    reported of each bucket.
    """
    if not review_path().exists():
        return dg.SkipReason("Nothing was put before people yet.")
    try:
        with closing(ReviewStore(review_path())) as store:
            found = {each.bucket: each for each in store.buckets()}
    except UserError as error:
        return dg.SkipReason(str(error))
    if not found:
        return dg.SkipReason("Nothing was put before people yet.")
    states = [found.get(key, Bucket(key)) for key in sorted(buckets.get_partition_keys())]
    done = {each.bucket: each.fingerprint for each in states if not each.n_open}
    before = _cursor(context)
    new = [each for each in states if done.get(each.bucket) not in (None, before.get(each.bucket))]
    n_open = sum(each.n_open for each in states)
    if not new:
        return dg.SkipReason(f"{n_open} items await people; no bucket was completed since.")
    return dg.SensorResult(
        asset_events=[
            dg.AssetMaterialization(
                asset_key=["review", "decisions"],
                partition=each.bucket,
                metadata={"items": each.n_items, "decisions": each.n_decisions},
            )
            for each in new
        ],
        cursor=json.dumps(before | done),
    )


def _cursor(context: dg.SensorEvaluationContext) -> dict[str, str]:
    """The state in which each bucket was reported; an older cursor, a number, counts as none."""
    cursor = json.loads(context.cursor or "{}")
    return cursor if isinstance(cursor, dict) else {}


def batch_sensors(jobs: "Sequence[Job]") -> list[dg.SensorDefinition]:
    """`model_batches`, which may run `jobs` again, and `model_batches_of_selections`.

    A sensor starts runs of named jobs or of selected assets, not of both.
    """

    @dg.sensor(
        jobs=jobs,
        minimum_interval_seconds=60,
        default_status=RUNNING,
        description="Polls batches of model calls; a run that waited for them is started again.",
    )
    def model_batches(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        """Reads the results of ended batches; runs whose batches have all ended are started again."""
        if not ledger_path().exists():
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
        description="Starts runs of assets selected by hand again when their batches have ended.",
    )
    def model_batches_of_selections(
        context: dg.SensorEvaluationContext,
    ) -> dg.SensorResult | dg.SkipReason:
        """Starts runs again whose batches have all ended; `model_batches` polls the batches."""
        if not ledger_path().exists():
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
            troubles = poll_open_batches(load_registry(), ledger, OfflineServer())
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
    """Runs to start again, of assets that were selected by hand or of named jobs."""
    requests = [_again(context, state, run_id, selected) for run_id in state.ready_runs()]
    return [request for request in requests if request]


def _again(
    context: dg.SensorEvaluationContext, state: BatchState, run_id: str, selected: bool
) -> dg.RunRequest | None:
    """The run once more, with what it was run with; None unless the run stopped to wait."""
    run = context.instance.get_run_by_id(run_id)
    if run is not None and not run.is_finished:
        return None  # The run is still at work.
    if run is not None and run.job_name.startswith(IMPLICIT_ASSET_JOB_NAME) != selected:
        return None  # The other sensor starts it.
    started_again = context.instance.get_runs(dg.RunsFilter(tags={WAITED: run_id}), limit=1)
    if run is None or run.status != dg.DagsterRunStatus.FAILURE or started_again:
        state.resumed(run_id)
        return None
    tags = {name: value for name, value in run.tags.items() if name in (RANGE_START, RANGE_END)}
    keys = sorted(run.asset_selection or [], key=str)
    if selected:
        keys = [key for key in keys if key.path[0] in ASK_MODELS]
    return dg.RunRequest(
        # The run is requested on every tick until it has started; Dagster starts one run for a key.
        run_key=run_id,
        job_name=None if selected else run.job_name,
        run_config=dict(run.run_config),
        asset_selection=keys or None,
        partition_key=run.tags.get("dagster/partition"),
        tags={**tags, WAITED: run_id, CHAIN: f"{run.tags.get(CHAIN, '')} {run_id}".strip()},
    )


SENSORS = [new_models, new_shards, review_decisions]
