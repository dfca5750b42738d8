"""The main job of `vlm-loom build`: build, evaluate the profile's models, show the leaderboards.

The UI can launch the same jobs, and shows these runs.
"""

import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from uuid import uuid4

import dagster as dg

from assets.common.settings import SECTIONS
from dagster_project.build import build, only_build, run_of
from dagster_project.definitions import build_defs
from dagster_project.instance import open_instance
from dagster_project.progress import (
    failed_checks,
    message_of_made,
    only_made_failed,
    print_failed_checks,
    print_failure,
    print_lost_results,
    ui_command,
)
from dagster_project.resources import SAMPLE_CORPUS, corpus_folder, image_fetcher, make_gateway
from dagster_project.results import show_reports, show_results
from dagster_project.run_processes import end_dead_runs
from resources.embedding.embedder import Embedder
from resources.files import home
from resources.files.atomic import write_atomically
from resources.settings.asset_settings import read_sections
from resources.stores_of_home import bring_home_up_to_date, usable_home

UNFINISHED = ["demo"]
"""Id in the budget's records that stands for unfinished main jobs: the next main job continues with the
rest of their budget. After a main job has finished, the next one has a new budget. The text is stored,
so it must not change.
"""


def run_main_job(
    embedder: Embedder, everything: bool = False, sample_settings: bool = False
) -> int:
    """Run the main job: ingestion, then all assets that are out of date, or all assets.

    Args:
        embedder: The embedding model, which may be loading already.
        everything: Whether to run assets that are up to date, too.
        sample_settings: Whether a workspace without settings.yaml gets the file of the sample corpus.

    Returns:
        0 if everything succeeded; 1 if a run or a check failed, a shard was not ingested, a step of
        evaluation is incomplete, or too many turns of a model on a release failed.

    Raises:
        UserError: A setting is wrong.
    """
    bring_home_up_to_date()
    with ExitStack() as stack:
        with usable_home():
            if sample_settings and not home.settings_path().exists():
                sample = SAMPLE_CORPUS / "settings.yaml"
                write_atomically(home.settings_path(), sample.read_bytes())
            read_sections(SECTIONS)
            stack.enter_context(only_build(wait=False))
            gateway = make_gateway(f"build-{uuid4().hex[:8]}", ancestors=UNFINISHED)
        stack.callback(gateway.close)
        corpus_folder().shards()
        image_fetcher()
        started = time.monotonic()
        definitions = build_defs(resource_overrides={"llm": gateway, "embedder": embedder})
        with open_instance() as instance:
            end_dead_runs(instance)
            ended = _run(definitions, instance, embedder, everything)
        # An incomplete main job, for example after a spent budget, leaves the rest of its budget to
        # the next one.
        if not ended.failed and ended.made_all:
            gateway.budget.finish(UNFINISHED)
    if ended.failed:
        if ended.lost_shards:
            print(ended.lost_shards, file=sys.stderr)
        print_failure(ended.failed)
        return 1
    n_lost = show_results(gateway.profile.judges)
    complete = ended.made_all and not (ended.lost_shards or ended.checks or n_lost)
    how = "Done" if complete else "Ended, but not with everything (see below),"
    print(f"\n{how} in {time.monotonic() - started:.0f} s.")
    show_reports()
    print(f"Releases: {home.releases_path()}")
    print(f"UI:       {ui_command()}, then http://127.0.0.1:3000")
    if ended.lost_shards:
        print(f"\n{ended.lost_shards}", file=sys.stderr)
    if not ended.made_all:
        print_failure("evaluate")
    for job, names in ended.checks.items():
        print_failed_checks(job, names)
    if n_lost:
        print_lost_results(n_lost)
    return 0 if complete else 1


@dataclass
class _JobsResult:
    """The result of the jobs: the first failed job, a message about shards that were not ingested,
    whether all steps of evaluation are complete, and failed checks of successful runs, by job.
    """

    failed: str | None = None
    lost_shards: str = ""
    made_all: bool = True
    checks: dict[str, list[str]] = field(default_factory=dict)


def _run(
    definitions: dg.Definitions, instance: dg.DagsterInstance, embedder: Embedder, everything: bool
) -> _JobsResult:
    """Run the jobs in order, up to the first failure.

    Missing shards in a build, and failed isolated steps in an evaluation, do not stop the next jobs.
    """
    ended = _JobsResult()
    for name in ("build", "evaluate", "ledger"):
        print(f"== {name}", flush=True)
        if name == "build":
            built = build(definitions, instance, embedder, everything)
            result, ended.lost_shards = built.run, built.lost_shards
            if not built.ingested:
                ended.failed = "ingest"
                break
        else:
            result = run_of(definitions, instance, name, everything)
        if result is None:
            continue
        if result.success:
            if wrong := failed_checks(instance, result.run_id):
                ended.checks[name] = wrong
        elif only_made_failed(result):
            ended.made_all = False
        else:
            if message := message_of_made(result):
                print(message)
            ended.failed = name
            break
    return ended
