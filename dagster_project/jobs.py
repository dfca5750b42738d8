"""Jobs: one for each stage, and `build` for all of them up to a release.

What belongs here: which assets run together, and the order of stages in `build`. A job of assets has
one partition dimension at most, so `build` is a job of its own that runs the stages' jobs one after
the other in its process (docs/decisions/0003).
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import dagster as dg
from dagster import AssetSelection

from assets.common.partitions import buckets, wit_shards
from assets.common.tables import plain_errors
from dagster_project.progress import SHOW_PROGRESS, progress_logger
from resources.corpus.corpus import Corpus
from resources.llm.gateway import Gateway

if TYPE_CHECKING:
    from dagster._core.definitions.unresolved_asset_job_definition import (
        UnresolvedAssetJobDefinition,
    )

    Job = dg.JobDefinition | UnresolvedAssetJobDefinition

ResolveJob = Callable[[str], dg.JobDefinition]

RANGE_START, RANGE_END = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"

DESCRIPTIONS = {
    "ingest": "Shards to entries.",
    "cluster": "Entries of all shards to image sets.",
    "dialogue": "Image sets to dialogues.",
    "rewrite": "Questions of dialogues to rewrites.",
    "review": "Dialogues and rewrites through review; how far people agree.",
    "release": "What is approved to frozen releases and their exports.",
    "evaluate": "A model on the releases in force: answers, judgments, scores; leaderboard, reports.",
    "ledger": "What model calls cost, as the ledger has it now.",
}
"""The stages, each a group of assets and a job of the same name."""
STAGES = {
    stage: dg.define_asset_job(stage, AssetSelection.groups(stage), description=description)
    for stage, description in DESCRIPTIONS.items()
}
ASK_MODELS = ("dialogue", "rewrite", "evaluate")
"""Stages that may stop to wait for a batch of model calls."""
OF_A_MODEL = [dg.AssetKey(["evaluate", name]) for name in ("answers", "judgments", "scores")]
"""Assets of the stage `evaluate` that are partitioned by model; the others are of all models."""


def run_stage(
    context: dg.OpExecutionContext,
    resolve_job: ResolveJob,
    name: str,
    tags: Mapping[str, str],
    resources: Mapping[str, object],
) -> None:
    """Run a stage's job here and now as a run of its own. Raises dg.Failure when it fails."""
    partition = tags.get("dagster/partition", "")
    context.log.info(f"stage {name} {partition}".rstrip())
    result = resolve_job(name).execute_in_process(
        instance=context.instance,
        run_config=SHOW_PROGRESS,
        tags={**tags, "loom/build": context.run_id},
        resources=dict(resources),
        raise_on_error=False,
    )
    if not result.success:
        raise dg.Failure(
            f"The stage {name} failed; see its run {result.run_id}.", allow_retries=False
        )


def build_job(resolve_job: ResolveJob) -> dg.JobDefinition:
    """The job `build`: ingest every shard of the corpus, cluster, generate every bucket, release,
    and show what it cost.

    `resolve_job` gives the stages' jobs by name; it is called when the build runs.
    """

    @dg.op(description="Add the corpus's shards as partitions and ingest them all.")
    def ingest_shards(context: dg.OpExecutionContext, corpus: dg.ResourceParam[Corpus]) -> None:
        with plain_errors():
            shards = corpus.shards()
        if not shards:
            raise dg.Failure(
                f"There are no shards (*.tsv, *.tsv.gz, *.parquet) in {corpus.path}.",
                allow_retries=False,
            )
        context.instance.add_dynamic_partitions(str(wit_shards.name), shards)
        for shard in shards:
            run_stage(context, resolve_job, "ingest", {"dagster/partition": shard}, {})

    @dg.op(
        description="Embed the entries, cluster them, draw image sets.",
        ins={"after": dg.In(dg.Nothing)},
    )
    def cluster_entries(context: dg.OpExecutionContext) -> None:
        run_stage(context, resolve_job, "cluster", {}, {})

    @dg.op(
        description="Generate dialogues and rewrites, all buckets in one run each.",
        ins={"after": dg.In(dg.Nothing)},
    )
    def generate_dialogues(context: dg.OpExecutionContext, llm: dg.ResourceParam[Gateway]) -> None:
        keys = buckets.get_partition_keys()
        for stage in ("dialogue", "rewrite"):
            run_stage(
                context,
                resolve_job,
                stage,
                {RANGE_START: keys[0], RANGE_END: keys[-1]},
                {"llm": llm},
            )

    @dg.op(
        description="Take dialogues through review and freeze what is approved.",
        ins={"after": dg.In(dg.Nothing)},
    )
    def release_approved(context: dg.OpExecutionContext) -> None:
        for stage in ("review", "release"):
            run_stage(context, resolve_job, stage, {}, {})

    @dg.op(
        description="Show what the ledger holds, the calls of this build among it.",
        ins={"after": dg.In(dg.Nothing)},
    )
    def mirror_ledger(context: dg.OpExecutionContext) -> None:
        run_stage(context, resolve_job, "ledger", {}, {})

    @dg.job(
        description="From WIT rows to frozen releases: all stages from ingest to release, then ledger.",
        logger_defs={"console": progress_logger},
    )
    def build() -> None:
        mirror_ledger(release_approved(generate_dialogues(cluster_entries(ingest_shards()))))

    return build


def all_jobs(resolve_job: ResolveJob) -> "list[Job]":
    """Every job of the project; `resolve_job` as for `build_job`."""
    return [*STAGES.values(), build_job(resolve_job)]
