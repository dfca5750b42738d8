"""Running a job of one op from a command, as a run that the UI shows.

What belongs here: that, and the sentence where it failed. Which command runs which job is the
command's.
"""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import dagster as dg


def run_one_op(job: str, op: str, config: Mapping[str, Any]) -> "dg.ExecuteInProcessResult | None":
    """Run a job of one op as a run that the UI shows; None, and why on stderr, if it failed."""
    # They take seconds to load, which other commands do not need.
    from dagster_project.definitions import build_defs
    from dagster_project.instance import open_instance
    from dagster_project.jobs import run_job
    from dagster_project.progress import WITHOUT_FAILURES

    with open_instance() as instance:
        result = run_job(
            build_defs().resolve_job_def(job),
            instance,
            ops={op: {"config": dict(config)}},
            console=WITHOUT_FAILURES,
        )
    if not result.success:
        failed = next(event for event in result.all_events if event.is_step_failure)
        told = failed.step_failure_data.user_failure_data
        print((told and told.description) or f"The run {result.run_id} failed.", file=sys.stderr)
        return None
    return result
