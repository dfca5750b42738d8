"""Sensors: what happens outside Dagster and matters inside.

What belongs here: polling the corpus folder, models.yaml and the review store.
"""

import dagster as dg

from assets.partitions import models, wit_shards
from dagster_project.resources import corpus_folder
from resources.home import review_path
from resources.llm.registry import RegistryError, active_profile, load_registry
from resources.review_store import ReviewStore
from resources.wit_source import WitSourceError

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
    except RegistryError as error:
        return dg.SkipReason(str(error))


@dg.sensor(
    minimum_interval_seconds=30,
    default_status=RUNNING,
    description="A new shard in the corpus folder becomes a wit_shard partition.",
)
def new_shards(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
    """Adds the shards of the corpus folder; ingesting them is up to a person or the schedule."""
    try:
        return _additions(context, wit_shards, corpus_folder().shards())
    except WitSourceError as error:
        return dg.SkipReason(str(error))


@dg.sensor(
    minimum_interval_seconds=30,
    default_status=RUNNING,
    description="New review decisions become a materialization of review/decisions.",
)
def review_decisions(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
    """Reports people's decisions, made outside Dagster, since the cursor's event."""
    if not review_path().exists():
        return dg.SkipReason("Nobody has decided anything yet.")
    last = int(context.cursor or 0)
    decisions = ReviewStore(review_path()).decisions()
    new = [event for event in decisions if (event.event_id or 0) > last]
    if not new:
        return dg.SkipReason("No new decisions.")
    return dg.SensorResult(
        asset_events=[
            dg.AssetMaterialization(
                asset_key=["review", "decisions"],
                metadata={
                    "dagster/row_count": len(decisions),
                    "new decisions": len(new),
                    "reviewers": ", ".join(sorted({event.reviewer for event in new})),
                },
            )
        ],
        cursor=str(max(event.event_id or 0 for event in new)),
    )


SENSORS = [new_models, new_shards, review_decisions]
