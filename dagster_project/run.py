"""Running one of the project's jobs from a terminal, as the Launchpad's button does: `make run`.

What belongs here: which jobs can be run so, and the sentence where one cannot. The job with everything
in it is `make demo`'s.
"""

import sys
from collections.abc import Sequence

from methods.errors import UserError
from methods.naming import nearest
from resources.command_line import CommandParser
from resources.llm.registry import active_profile, load_registry
from resources.stores import bring_home_up_to_date, usable_home

JOBS = (
    "build",
    "cluster",
    "dialogue",
    "rewrite",
    "choice",
    "quality",
    "review",
    "release",
    "evaluate",
    "ledger",
    "checks",
)
"""Jobs that need nothing to be said; `build` runs `ingest` for each shard."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the job; 0 when it succeeded, 1 when it or a check failed, 2 for a wrong name or setting."""
    parser = CommandParser(prog="python -m dagster_project.run", description=__doc__)
    parser.add_argument("--job", default="", help=f"one of {', '.join(JOBS)}")
    job = parser.parse_args(argv).job
    try:
        if job not in JOBS:
            raise UserError(
                f"There is no job '{job}' that runs by itself: say JOB=name; {nearest(job, JOBS)}."
            )
        bring_home_up_to_date()
        with usable_home():
            return _run(job)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2


def _run(job: str) -> int:
    # They take seconds to load, which a wrong name does not need.
    from dagster_project.dead_runs import end_dead_runs
    from dagster_project.definitions import build_defs
    from dagster_project.instance import open_instance
    from dagster_project.jobs import run_job
    from dagster_project.progress import (
        MADE,
        console_of,
        failed_checks,
        only_failed,
        said_by,
        say_failed,
        say_failed_checks,
    )
    from dagster_project.results import show_reports, show_results

    with open_instance() as instance:
        end_dead_runs(instance)
        result = run_job(build_defs().resolve_job_def(job), instance, console=console_of(job))
        wrong = failed_checks(instance, result.run_id)
    if job == "evaluate" and (result.success or only_failed(result, MADE)):
        show_results(load_registry().profile(active_profile()).judges)
        print()
        show_reports()
    elif job == "evaluate" and (said := said_by(result, MADE)):
        print(said)
    if result.success and wrong:
        say_failed_checks(job, wrong)
    elif not result.success:
        say_failed(job)
    return 0 if result.success and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
