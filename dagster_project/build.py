"""Build from a terminal: a run for each shard of the corpus, then a run of the job `build`.

The equivalent in the UI is a backfill of the group `ingest` and the job `build`, or "Materialize all".
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import dagster as dg
from filelock import FileLock, Timeout

from dagster_project.decisions import observe_decisions
from dagster_project.ingestion import failed_shards, ingest_each, register_shards, shards_of
from dagster_project.instance import prepare_dagster_home
from dagster_project.job_runs import run_job
from dagster_project.jobs import BUILT
from dagster_project.outdated import outdated
from dagster_project.progress import console_of
from dagster_project.resources import corpus_folder, ingested_shards, require_same_corpus
from dagster_project.run_processes import AT_WORK, end_dead_runs
from dagster_project.run_tags import BUILD
from methods.errors import UserError, printable
from resources.embedding.embedder import Embedder
from resources.files.home import home
from resources.files.waiting import TimedWait
from resources.warehouse.configured import warehouse_of_home

POLL_SECONDS, FIRST_LINE, EVERY_LINE = 1.0, 0.0, 300.0
"""Seconds between two looks whether another build has ended, before the first line about waiting, and
between two such lines.
"""


@dataclass
class BuildResult:
    """The result of a build: the run of the job `build` (None if no shard was ingested or nothing was
    outdated), and a message about shards that could not be ingested.
    """

    run: dg.ExecuteInProcessResult | None
    lost_shards: str
    ingested: bool

    @property
    def success(self) -> bool:
        """Whether at least one shard was ingested and the run succeeded, if there was one."""
        return self.ingested and (self.run is None or self.run.success)


@contextmanager
def only_build(wait: bool) -> Iterator[None]:
    """Lock the workspace against builds of other terminals inside the block.

    Args:
        wait: Whether to wait for a build of another terminal.

    Raises:
        UserError: Another terminal builds this workspace, and `wait` is false.
    """
    lock = FileLock(prepare_dagster_home() / "build.lock")
    at_work = f"Another build is at work on {home()}: "
    try:
        lock.acquire(blocking=False)
    except Timeout:
        if not wait:
            raise UserError(f"{at_work}wait until it has ended.") from None
        print(f"{at_work}this one begins when it has ended.", flush=True)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def build(
    definitions: dg.Definitions, instance: dg.DagsterInstance, embedder: Embedder, everything: bool
) -> BuildResult:
    """Ingest every shard of the corpus, then run the job `build`.

    A failed shard does not stop the others. If all shards fail, nothing is built.

    Args:
        definitions: The project's definitions.
        instance: Where runs are recorded.
        embedder: The embedding model, which is loaded in the background if there are new texts.
        everything: Whether to run the assets downstream of ingestion even if they are up to date.

    Raises:
        UserError: The corpus has no shards, or the workspace belongs to another corpus.
    """
    _wait_for_builds(instance)
    corpus, warehouse = corpus_folder(), warehouse_of_home()
    shards = shards_of(corpus)
    ingested = ingested_shards(warehouse)
    require_same_corpus(corpus, ingested)
    observed = register_shards(instance, corpus, shards)
    if left_out := corpus.left_out():
        _print(left_out)
    has_new_texts = bool({seen.fingerprint for seen in observed.values()} - {*ingested.values()})
    if has_new_texts or not warehouse.count("cluster.embeddings"):
        # The model takes seconds to load, which overlap with ingestion.
        embedder.load_ahead()
    job = definitions.resolve_job_def("ingest")
    failed = ingest_each(job, instance, shards, _print, {BUILD: "yes"})
    lost = failed_shards(failed, len(shards)) if failed else ""
    if len(failed) == len(shards):
        return BuildResult(None, lost, ingested=False)
    _wait_for_builds(instance)
    observe_decisions(instance)
    return BuildResult(run_of(definitions, instance, "build", everything), lost, ingested=True)


def run_of(
    definitions: dg.Definitions, instance: dg.DagsterInstance, name: str, everything: bool
) -> dg.ExecuteInProcessResult | None:
    """Run the assets of a job that are out of date, or the whole job.

    Args:
        definitions: The project's definitions.
        instance: Where the run is recorded.
        name: The name of a stage, or `build`.
        everything: Whether to run the whole job.

    Returns:
        The result of the run; None if nothing is out of date.
    """
    job, console = definitions.resolve_job_def(name), console_of(name)
    if everything:
        return run_job(job, instance, console=console)
    stages = BUILT if name == "build" else (name,)
    graph = definitions.get_repository_def().asset_graph
    keys = outdated(instance, graph, warehouse_of_home(), *stages)
    for stage in stages:
        if all(key.path[0] != stage for key in keys):
            print(f"stage {stage} is up to date", flush=True)
    if not keys:
        return None
    return run_job(job, instance, assets=keys, console=console)


def _print(line: str) -> None:
    print(printable(line), flush=True)


def _wait_for_builds(instance: dg.DagsterInstance) -> None:
    """Wait until builds launched by the UI have ended; the UI's queue waits for this build in turn."""
    waiting = TimedWait(math.inf, _print, FIRST_LINE, EVERY_LINE)
    of_builds = dg.RunsFilter(tags={BUILD: "yes"}, statuses=AT_WORK)
    while runs := instance.get_runs(of_builds, limit=1):
        waiting.goes_on(f"the build of run {runs[0].run_id} is at work on this home")
        time.sleep(POLL_SECONDS)
        end_dead_runs(instance)
