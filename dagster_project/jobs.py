"""Jobs: one for each stage, and `build` for all of them up to a release.

What belongs here: which assets run together, and the order of stages in `build`; actions on releases,
results and models are `actions.py`. Ingestion is partitioned by shard and the other stages are not, so
`build` is a job of its own that runs the stages' jobs one after the other in its process
(docs/decisions/0003).
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence

import dagster as dg
from dagster import AssetSelection, DagsterRunStatus

from assets.common.dagster_internals import AssetGraph, UnresolvedAssetJobDefinition
from assets.common.tables import plain_errors
from dagster_project.action_jobs import ACTION_JOBS
from dagster_project.dead_runs import end_dead_runs
from dagster_project.ingestion import NAME_FAILED_SHARDS, announce, failed_shards, ingest_each
from dagster_project.job_runs import run_job
from dagster_project.outdated import job_of_outdated
from dagster_project.progress import progress_logger
from dagster_project.resources import SAMPLE_CORPUS
from dagster_project.run_tags import BUILD, LOST_SHARDS, ONLY_OUTDATED
from dagster_project.settings_job import settings_job
from methods.errors import UserError
from methods.naming import listed
from resources.corpus.corpus import Corpus
from resources.embedding.embedder import Embedder
from resources.files.waiting import Waiting
from resources.llm.gateway import Gateway
from resources.warehouse import Warehouse

Job = dg.JobDefinition | UnresolvedAssetJobDefinition
ResolveJob = Callable[[str], dg.JobDefinition]

POLL_SECONDS = 1.0
SAID_AFTER, SAID_EVERY = 0.0, 300.0
"""When a build that waits for another one looks again, and says so."""

DESCRIPTIONS = {
    "ingest": "Shards to entries.",
    "cluster": "Entries of all shards to image sets.",
    "dialogue": "Image sets to dialogues; single pictures to conversations of three turns.",
    "rewrite": "Questions of dialogues to rewrites; pictures to open questions in several wordings.",
    "choice": "Entries and metadata to multiple-choice items, and these to other languages.",
    "quality": "Question-answer pairs of dialogues through checks: pass, review first, drop.",
    "review": "Dialogues, rewrites and multiple-choice items through review; how far people agree.",
    "release": "What is approved to frozen releases and their exports.",
    "evaluate": "Models on the releases in force: answers, judgments, scores; leaderboard, reports.",
    "ledger": "What model calls cost, as the ledger has it now.",
}
"""The stages, each a group of assets and a job of the same name."""
STAGES = {
    stage: dg.define_asset_job(stage, AssetSelection.groups(stage), description=description)
    for stage, description in DESCRIPTIONS.items()
}
CHECKS = dg.define_asset_job(
    "checks",
    AssetSelection.all_asset_checks(),
    description="Every check on the tables as they are now; nothing is made or asked.",
)
SITE = dg.define_asset_job(
    "site",
    AssetSelection.assets("evaluate/site", "evaluate/reports"),
    description="The static site: leaderboards and every item of every release; nothing is asked.",
)
ASK_MODELS = ("dialogue", "rewrite", "choice", "quality", "evaluate")
"""Stages that may stop to wait for a batch of model calls."""


def build_job(resolve_job: ResolveJob, asset_graph: Callable[[], AssetGraph]) -> dg.JobDefinition:
    """The job `build`: ingest every shard of the corpus, cluster, generate, release, and show what it
    cost.

    `resolve_job` gives the stages' jobs by name and `asset_graph` all assets; both are called when the
    build runs.
    """

    def run_stage(
        context: dg.OpExecutionContext,
        name: str,
        resources: Mapping[str, object] | None = None,
    ) -> None:
        """Run a stage's job, or what is out of date of it. Raises dg.Failure when it fails."""
        whole, only = resolve_job(name), ONLY_OUTDATED in context.run.tags
        job = job_of_outdated(whole, context.instance, asset_graph()) if only else whole
        if job is None:
            context.log.info(f"stage {name} is up to date")
            return
        context.log.info(f"stage {name}")
        result = run_job(job, context.instance, tags={BUILD: context.run_id}, resources=resources)
        if not result.success:
            raise _failed_stage(name, result)

    @dg.op(
        description="Add the corpus's shards as partitions and ingest them all; one that fails does "
        "not stop the others.",
        out=dg.Out(dg.Nothing),
    )
    def ingest_shards(
        context: dg.OpExecutionContext,
        corpus: dg.ResourceParam[Corpus],
        warehouse: dg.ResourceParam[Warehouse],
        embedder: dg.ResourceParam[Embedder],
    ) -> None:
        _wait_for_earlier_builds(context)
        with plain_errors():
            shards = shards_of(corpus)
            require_corpus_of_home(corpus, warehouse, shards)
        if not warehouse.count("cluster.embeddings"):
            # The first build will need the model, which takes seconds to load.
            embedder.load_ahead()
        observed = announce(context.instance, corpus, shards)
        if left_out := corpus.left_out():
            context.log.warning(left_out)
        read = warehouse.select("ingest.shards", "fingerprint")["fingerprint"].to_pylist()
        if {seen.fingerprint for seen in observed.values()} - {*read}:
            # And one that has new texts.
            embedder.load_ahead()
        failed = ingest_each(
            resolve_job("ingest"),
            context.instance,
            shards,
            context.log.info,
            {BUILD: context.run_id},
        )
        said = failed_shards(failed, len(shards)) if failed else ""
        if len(failed) == len(shards):
            raise dg.Failure(said, allow_retries=False)
        # No output: a run that is executed again from its failure has its parent's tags alone.
        context.instance.add_run_tags(context.run_id, {LOST_SHARDS: said})

    @dg.op(
        description="Embed the entries, cluster them, sample image sets.",
        ins={"after": dg.In(dg.Nothing)},
    )
    def cluster_entries(
        context: dg.OpExecutionContext, embedder: dg.ResourceParam[Embedder]
    ) -> None:
        run_stage(context, "cluster", resources={"embedder": embedder})

    @dg.op(
        description="Generate dialogues, rewrites, open questions and multiple-choice items; checks. A "
        "stage that fails does not stop the others, and nothing is released then.",
        ins={"after": dg.In(dg.Nothing)},
    )
    def generate_dialogues(
        context: dg.OpExecutionContext,
        llm: dg.ResourceParam[Gateway],
        embedder: dg.ResourceParam[Embedder],
    ) -> None:
        failed = []
        for stage in ("dialogue", "rewrite", "choice", "quality"):
            try:
                run_stage(context, stage, resources={"llm": llm, "embedder": embedder})
            except dg.Failure as failure:
                failed.append(str(failure.description))
        if failed:
            raise dg.Failure(" ".join(failed), allow_retries=False)

    @dg.op(
        description="Take what was generated through review and freeze what is approved.",
        ins={"after": dg.In(dg.Nothing)},
    )
    def release_approved(context: dg.OpExecutionContext) -> None:
        for stage in ("review", "release"):
            run_stage(context, stage)

    @dg.op(
        description="Show what the ledger holds, the calls of this build among it.",
        ins={"after": dg.In(dg.Nothing)},
    )
    def mirror_ledger(context: dg.OpExecutionContext) -> None:
        run_stage(context, "ledger")

    @dg.op(
        name=NAME_FAILED_SHARDS,
        description="Fail, when all else is done, if shards could not be ingested; say which and why.",
        ins={"after": dg.In(dg.Nothing)},
    )
    def name_failed_shards(context: dg.OpExecutionContext) -> None:
        run = context.instance.get_run_by_id(context.run_id)
        if run and (said := run.tags.get(LOST_SHARDS)):
            raise dg.Failure(said, allow_retries=False)

    @dg.job(
        description="From WIT rows to frozen releases: all stages from ingest to release, then ledger.",
        logger_defs={"console": progress_logger},
    )
    def build() -> None:
        ingested = ingest_shards()
        done = mirror_ledger(release_approved(generate_dialogues(cluster_entries(ingested))))
        name_failed_shards(done)

    return build


def shards_of(corpus: Corpus) -> list[str]:
    """The names of the corpus's shards. Raises UserError where it has none."""
    shards = corpus.shards()
    if not shards:
        none = f"There are no shards (*.tsv, *.tsv.gz, *.parquet) in {corpus.path}."
        raise UserError(" ".join(filter(None, [none, corpus.left_out()])))
    return shards


def require_corpus_of_home(corpus: Corpus, warehouse: Warehouse, shards: Sequence[str]) -> None:
    """Raise UserError where the home has another corpus than the sample, which nobody named."""
    known = warehouse.select("ingest.shards", "wit_shard", order="wit_shard")[
        "wit_shard"
    ].to_pylist()
    if corpus.path == SAMPLE_CORPUS and known and not {*known} & {*shards}:
        raise UserError(
            f"The tables of this home are of another corpus ({listed(known, 3)}) than the sample, "
            f"which is built where none is named: say --corpus with the folder of {known[0]} "
            "(LOOM_CORPUS), or --home with another home (LOOM_HOME)."
        )


def _wait_for_earlier_builds(context: dg.OpExecutionContext) -> None:
    """Wait until the builds of this home that began earlier have ended: they do the same work."""
    waiting = Waiting(math.inf, context.log.info, SAID_AFTER, SAID_EVERY)
    at_work = dg.RunsFilter(job_name=context.job_name, statuses=[DagsterRunStatus.STARTED])
    while True:
        end_dead_runs(context.instance)
        began = {
            record.dagster_run.run_id: (record.start_time or math.inf, record.dagster_run.run_id)
            for record in context.instance.get_run_records(at_work)
        }
        own = began.get(context.run_id, (math.inf, context.run_id))
        earlier = [run_id for run_id, since in began.items() if since < own]
        if not earlier:
            return
        waiting.goes_on(
            f"the build of run {earlier[0]} is at work on this home, and makes the same"
        )
        time.sleep(POLL_SECONDS)


def _failed_stage(name: str, result: dg.ExecuteInProcessResult) -> dg.Failure:
    return dg.Failure(f"The stage {name} failed; see its run {result.run_id}.", allow_retries=False)


def all_jobs(resolve_job: ResolveJob, asset_graph: Callable[[], AssetGraph]) -> list[Job]:
    """Every job of the project; the parameters are those of `build_job`."""
    return [
        *STAGES.values(),
        CHECKS,
        SITE,
        build_job(resolve_job, asset_graph),
        settings_job(),
        *ACTION_JOBS,
    ]
