"""One of the project's jobs in this process, as the Launchpad's button runs it.

What belongs here: running it, and how it ends in a terminal. The job with everything is `demo.py`.
"""

from dagster_project.dead_runs import end_dead_runs
from dagster_project.definitions import build_defs
from dagster_project.instance import open_instance
from dagster_project.job_runs import run_job
from dagster_project.progress import (
    MADE,
    console_of,
    failed_checks,
    only_failed,
    said_by,
    say_failed,
    say_failed_checks,
)
from dagster_project.results import show_reports, show_results, show_site
from resources.llm.registry import active_profile, load_registry
from resources.stores_of_home import bring_home_up_to_date, usable_home


def run_alone(job: str) -> int:
    """Run a job; 0 when it succeeded, 1 when it or a check failed. Raises UserError."""
    bring_home_up_to_date()
    with usable_home():
        return _run(job)


def _run(job: str) -> int:
    with open_instance() as instance:
        end_dead_runs(instance)
        result = run_job(build_defs().resolve_job_def(job), instance, console=console_of(job))
        wrong = failed_checks(instance, result.run_id)
    if job == "evaluate" and (result.success or only_failed(result, MADE)):
        show_results(load_registry().profile(active_profile()).judges)
        print()
        show_reports()
    elif job == "evaluate" and (sentence := said_by(result, MADE)):
        print(sentence)
    if job == "site" and result.success:
        show_site()
    if result.success and wrong:
        say_failed_checks(job, wrong)
    elif not result.success:
        say_failed(job)
    return 0 if result.success and not wrong else 1
