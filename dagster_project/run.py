"""One of the project's jobs in this process, as the Launchpad's button runs it, also that of an action.

The command with everything is `main_job.py`.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from dagster_project.action import Action
from dagster_project.action_jobs import to_be_made_again
from dagster_project.build import build, only_build
from dagster_project.definitions import build_defs, defs
from dagster_project.ingestion import (
    announce,
    chosen_shards,
    failed_shards,
    ingest_each,
    require_corpus_of_home,
    shards_of,
)
from dagster_project.instance import open_instance
from dagster_project.job_runs import run_job
from dagster_project.progress import (
    MADE,
    WITHOUT_FAILURES,
    console_of,
    failed_checks,
    only_failed,
    said_by,
    say_failed,
    say_failed_checks,
    say_not_taken,
)
from dagster_project.resources import corpus_folder
from dagster_project.results import show_costs, show_reports, show_results, show_site
from dagster_project.run_processes import end_dead_runs
from resources.embedding.process import text_embedder
from resources.llm.registry import active_profile, load_registry
from resources.stores_of_home import bring_home_up_to_date, usable_home
from resources.warehouse.configured import warehouse_of_home

ANSWERS = "evaluate.answers"


def run_alone(job: str, limit: int | None = None) -> int:
    """Run a job from a terminal, and print what it came to.

    Args:
        job: Name of the job.
        limit: Of the job evaluate, items of each release that models are asked about; None for all.

    Returns:
        0 when it succeeded, 1 when it or a check failed.

    Raises:
        UserError: A setting cannot be used.
    """
    bring_home_up_to_date()
    with usable_home():
        return _run(job, limit)


def run_build() -> int:
    """Ingest every shard and build releases; 0 when all was built, 1 when a run or a check failed.

    Raises UserError.
    """
    bring_home_up_to_date()
    with usable_home(), only_build(wait=True), open_instance() as instance:
        end_dead_runs(instance)
        embedder = text_embedder()
        definitions = build_defs(resource_overrides={"embedder": embedder})
        built = build(definitions, instance, embedder, everything=True)
    if built.lost_shards:
        print(built.lost_shards, file=sys.stderr)
    wrong = failed_checks(built.run) if built.run else []
    if not built.success:
        say_failed("build" if built.ingested else "ingest")
    elif wrong:
        say_failed_checks("build", wrong)
    return 0 if built.success and not built.lost_shards and not wrong else 1


def run_ingest(named: Sequence[str]) -> int:
    """Ingest shards, one run for each; 0 when all were ingested, 1 when a run or a check failed.

    Args:
        named: Names of shards and ranges `first...last`; none: every shard of the corpus.

    Returns:
        The exit code.

    Raises:
        UserError: There is no such shard, or the corpus has none.
    """
    bring_home_up_to_date()
    with usable_home():
        corpus = corpus_folder()
        shards = chosen_shards(named, shards_of(corpus))
        require_corpus_of_home(corpus, warehouse_of_home(), shards)
        with open_instance() as instance:
            end_dead_runs(instance)
            announce(instance, corpus, shards)
            if left_out := corpus.left_out():
                print(left_out, file=sys.stderr)
            job = build_defs().resolve_job_def("ingest")
            failed = ingest_each(job, instance, shards, lambda line: print(line, flush=True))
    if failed:
        print(failed_shards(failed, len(shards)), file=sys.stderr)
    return 1 if failed else 0


def _run(job: str, limit: int | None) -> int:
    definitions = build_defs()
    with open_instance() as instance:
        end_dead_runs(instance)
        result = run_job(
            definitions.resolve_job_def(job),
            instance,
            ops=limit_of_items(limit),
            console=console_of(job),
        )
        if job == "evaluate":
            # The tables of costs are current, however the run ended.
            run_job(definitions.resolve_job_def("ledger"), instance, console=console_of("ledger"))
        partial = f"The run {result.run_id} asked about up to {limit} items of each release."
        if limit and (event := to_be_made_again(instance, ANSWERS, partial)):
            instance.report_runless_asset_event(event)
    wrong = failed_checks(result)
    n_lost = 0
    if job == "evaluate" and (result.success or only_failed(result, MADE)):
        n_lost = show_results(load_registry().profile(active_profile()).judges)
        print()
        show_reports()
    elif job == "evaluate" and (sentence := said_by(result, MADE)):
        print(sentence)
    if job == "evaluate":
        show_costs(result.run_id)
    if job == "site" and result.success:
        show_site()
    if result.success and wrong:
        say_failed_checks(job, wrong)
    elif not result.success:
        say_failed(job)
    if n_lost:
        say_not_taken(n_lost)
    return 0 if result.success and not wrong and not n_lost else 1


def limit_of_items(limit: int | None) -> dict[str, Any]:
    """Run config of ops by which models are asked about some items of each release; None: about all."""
    return {ANSWERS.replace(".", "__"): {"config": {"limit": limit}}} if limit else {}


def perform_as_run(action: type[Action], arguments: Mapping[str, Any]) -> str | None:
    """Perform an action as a run that the UI shows.

    Args:
        action: The action.
        arguments: Values of the arguments by name.

    Returns:
        The result in sentences; None if the run failed, after the reason was printed on stderr.
    """
    with open_instance() as instance:
        result = run_job(
            defs.resolve_job_def(action.job()),
            instance,
            ops={action.op(): {"config": dict(arguments)}},
            console=WITHOUT_FAILURES,
        )
    if result.success:
        return str(result.output_for_node(action.op()))
    failed = next(event for event in result.all_events if event.is_step_failure)
    failure = failed.step_failure_data.user_failure_data
    print((failure and failure.description) or f"The run {result.run_id} failed.", file=sys.stderr)
    return None
