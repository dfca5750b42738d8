"""A build from a terminal: a run for each shard of the corpus, then one of the job `build`.

In the UI the same is a backfill of the group `ingest` and the job `build`, or "Materialize all".
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import dagster as dg
from filelock import FileLock, Timeout

from dagster_project.decisions import observe_decisions
from dagster_project.ingestion import (
    failed_shards,
    ingest_each,
    register_shards,
    require_same_corpus,
    shards_of,
)
from dagster_project.instance import prepare_dagster_home
from dagster_project.job_runs import run_job
from dagster_project.jobs import BUILT
from dagster_project.outdated import outdated
from dagster_project.progress import console_of
from dagster_project.resources import corpus_folder
from dagster_project.run_processes import end_dead_runs
from dagster_project.run_tags import BUILD
from methods.errors import UserError
from resources.embedding.embedder import Embedder
from resources.files.home import home
from resources.files.waiting import TimedWait
from resources.warehouse.configured import warehouse_of_home

POLL_SECONDS, FIRST_LINE, EVERY_LINE = 1.0, 0.0, 300.0
"""How often a build looks whether another one has ended, and prints that it waits."""
AT_WORK = [
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


@dataclass
class BuildResult:
    """The result of a build: its run (None if no shard was ingested or nothing was outdated), and a
    message about shards that could not be ingested.
    """

    run: dg.ExecuteInProcessResult | None
    lost_shards: str
    ingested: bool

    @property
    def success(self) -> bool:
        """Whether all but some of several shards was built."""
        return self.ingested and (self.run is None or self.run.success)


@contextmanager
def only_build(wait: bool) -> Iterator[None]:
    """Keep other terminals from building this workspace during the block.

    Args:
        wait: Wait for a build of another terminal.

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

    A shard that fails stops no other; nothing is built if all of them fail.

    Args:
        definitions: The project's definitions.
        instance: Where runs are recorded.
        embedder: Begins to load before texts that are new are embedded.
        everything: Run also what is up to date after ingestion.

    Raises:
        UserError: The corpus has no shards, or the workspace is of another corpus.
    """
    _wait_for_builds(instance)
    corpus, warehouse = corpus_folder(), warehouse_of_home()
    shards = shards_of(corpus)
    require_same_corpus(corpus, warehouse, shards)
    observed = register_shards(instance, corpus, shards)
    if left_out := corpus.left_out():
        _print(left_out)
    fingerprints = warehouse.select("ingest.shards", "fingerprint")["fingerprint"].to_pylist()
    has_new_texts = bool({seen.fingerprint for seen in observed.values()} - {*fingerprints})
    if has_new_texts or not warehouse.count("cluster.embeddings"):
        # It takes seconds to load.
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
    """Run a job, or the assets of it that are out of date.

    Args:
        definitions: The project's definitions.
        instance: Where the run is recorded.
        name: The name of a stage, or `build`.
        everything: Also run what is up to date.

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
    print(line, flush=True)


def _wait_for_builds(instance: dg.DagsterInstance) -> None:
    """Wait until the builds that the UI launched have ended; the UI's queue waits for this one."""
    waiting = TimedWait(math.inf, _print, FIRST_LINE, EVERY_LINE)
    of_builds = dg.RunsFilter(tags={BUILD: "yes"}, statuses=AT_WORK)
    while runs := instance.get_runs(of_builds, limit=1):
        waiting.goes_on(f"the build of run {runs[0].run_id} is at work on this home")
        time.sleep(POLL_SECONDS)
        end_dead_runs(instance)
