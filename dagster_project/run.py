"""Runs Dagster jobs of the project, or the job of an action, in this process, as the Launchpad does.

`main_job.py` runs everything.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from assets.common.settings import SECTIONS
from dagster_project.action import Action
from dagster_project.action_jobs import mark_unsynced
from dagster_project.build import build, only_build
from dagster_project.definitions import build_defs, defs
from dagster_project.ingestion import (
    chosen_shards,
    failed_shards,
    ingest_each,
    register_shards,
    shards_of,
    why_failed,
)
from dagster_project.instance import open_instance
from dagster_project.job_runs import run_job
from dagster_project.progress import (
    WITHOUT_FAILURES,
    console_of,
    failed_checks,
    message_of_made,
    only_made_failed,
    print_failed_checks,
    print_failure,
    print_lost_results,
)
from dagster_project.resources import (
    corpus_folder,
    ingested_shards,
    require_same_corpus,
    require_settings,
)
from dagster_project.results import show_costs, show_reports, show_results, show_site
from dagster_project.run_processes import end_dead_runs
from methods.errors import printable
from resources.embedding.process import text_embedder
from resources.llm.ledger.calls import current_time
from resources.llm.registry import active_profile, load_registry
from resources.settings.asset_settings import read_sections
from resources.stores_of_home import bring_home_up_to_date, usable_home
from resources.warehouse.configured import warehouse_of_home

ANSWERS = "evaluate.answers"


def run_alone(job: str, limit: int | None = None) -> int:
    """Run a job from a terminal and print its result.

    Args:
        job: The name of the job.
        limit: For the job evaluate, the number of items of each release to ask about; None for all.

    Returns:
        0 if it succeeded, 1 if the run or a check failed.

    Raises:
        UserError: A setting is not valid.
    """
    bring_home_up_to_date()
    with usable_home():
        read_sections(SECTIONS)
        require_settings()
        return _run(job, limit)


def run_build() -> int:
    """Ingest every shard and build releases. Returns 0 if all was built, 1 if a run or a check failed.

    Raises UserError.
    """
    bring_home_up_to_date()
    with usable_home(), only_build(wait=True), open_instance() as instance:
        read_sections(SECTIONS)
        require_settings()
        end_dead_runs(instance)
        embedder = text_embedder()
        definitions = build_defs(resource_overrides={"embedder": embedder})
        built = build(definitions, instance, embedder, everything=True)
        wrong = failed_checks(instance, built.run.run_id) if built.run else []
    if built.lost_shards:
        print(built.lost_shards, file=sys.stderr)
    if not built.success:
        print_failure("build" if built.ingested else "ingest")
    elif wrong:
        print_failed_checks("build", wrong)
    return 0 if built.success and not built.lost_shards and not wrong else 1


def run_ingest(named: Sequence[str]) -> int:
    """Ingest shards, one run for each. Returns 0 if all were ingested, 1 if a run or a check failed.

    Args:
        named: Names of shards and ranges `first...last`; if empty, every shard of the corpus.

    Raises:
        UserError: There is no such shard, or the corpus has none.
    """
    bring_home_up_to_date()
    with usable_home():
        corpus = corpus_folder()
        shards = chosen_shards(named, shards_of(corpus))
        require_same_corpus(corpus, ingested_shards(warehouse_of_home()))
        with open_instance() as instance:
            end_dead_runs(instance)
            register_shards(instance, corpus, shards)
            if left_out := corpus.left_out():
                print(printable(left_out), file=sys.stderr)
            job = build_defs().resolve_job_def("ingest")
            failed = ingest_each(job, instance, shards, lambda line: print(line, flush=True))
    if failed:
        print(failed_shards(failed, len(shards)), file=sys.stderr)
    return 1 if failed else 0


def _run(job: str, limit: int | None) -> int:
    definitions = build_defs()
    # Now, as somebody may change models.yaml while the run works.
    judges = load_registry().profile(active_profile()).judges if job == "evaluate" else []
    with open_instance() as instance:
        end_dead_runs(instance)
        started_at = current_time()
        result = run_job(
            definitions.resolve_job_def(job),
            instance,
            ops=limit_of_items(limit),
            console=console_of(job),
        )
        if job == "evaluate":
            # The tables of costs are updated even if the run failed.
            run_job(definitions.resolve_job_def("ledger"), instance, console=console_of("ledger"))
        partial = f"The run {result.run_id} asked about up to {limit} items of each release."
        if limit and (event := mark_unsynced(instance, ANSWERS, partial)):
            instance.report_runless_asset_event(event)
        wrong = failed_checks(instance, result.run_id)
    n_lost = 0
    if job == "evaluate" and (result.success or only_made_failed(result)):
        n_lost = show_results(judges)
        print()
        show_reports()
    elif job == "evaluate" and (sentence := message_of_made(result)):
        print(sentence)
    if job == "evaluate":
        show_costs(result.run_id, started_at)
    if job == "site" and result.success:
        show_site()
    if result.success and wrong:
        print_failed_checks(job, wrong)
    elif not result.success:
        print_failure(job)
    if n_lost:
        print_lost_results(n_lost)
    return 0 if result.success and not wrong and not n_lost else 1


def limit_of_items(limit: int | None) -> dict[str, Any]:
    """Build the run config that limits the items of each release; empty to ask about all items."""
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
    print(printable(why_failed(result)), file=sys.stderr)
    return None
