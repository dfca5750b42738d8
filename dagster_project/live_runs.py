"""Marks of runs that are at work: a file for each, held by the process that executes the run.

In a shared installation it is a lock of the database (`shared_marks.py`). What belongs here: making the
marks. What follows from a mark that nobody holds is `dead_runs.py`'s.
A process id would not do: it is given again to other processes, and means nothing in another container.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import dagster as dg

from assets.common.dagster_internals import (
    ExecutionPlan,
    PlanOrchestrationContext,
    RetryMode,
    StepDependencyConfig,
)
from assets.common.failures import unattended
from dagster_project.held_file import hold_new
from dagster_project.instance import is_shared
from dagster_project.run_tags import MARKED
from resources.warehouse.duckdb_file import left_open

if TYPE_CHECKING:
    from dagster_project.shared_marks import Mark

_HELD: list["IO[str] | Mark"] = []
"""Marks that this process holds until it ends."""


def marks_folder(instance: dg.DagsterInstance) -> Path:
    """The folder with the marks, in that of the instance."""
    return Path(instance.root_directory) / "running"


@contextmanager
def marked(instance: dg.DagsterInstance, run_id: str) -> Iterator[None]:
    """Mark a run while this process executes it in the block; in a shared installation it has the tag
    MARKED, too."""
    with closing(_mark(instance, run_id)), left_open.of_run():
        try:
            yield
        finally:
            (marks_folder(instance) / run_id).unlink(missing_ok=True)


def _mark(instance: dg.DagsterInstance, run_id: str) -> "IO[str] | Mark":
    if not is_shared():
        return hold_new(marks_folder(instance) / run_id)
    from dagster_project.shared_marks import Mark

    return Mark(run_id)


class _MarkingExecutor(dg.Executor):
    """Marks the run, then executes its steps as `steps` does, and again where that may help.

    The process of a run that the UI has launched executes nothing else. The run is marked until the
    process ends, because the run's last event is stored after the steps.
    """

    def __init__(self, steps: dg.Executor):
        self._steps = steps

    @property
    def retries(self) -> RetryMode:
        return self._steps.retries

    @property
    def step_dependency_config(self) -> StepDependencyConfig:
        return self._steps.step_dependency_config

    def execute(
        self, plan_context: PlanOrchestrationContext, execution_plan: ExecutionPlan
    ) -> Iterator[dg.DagsterEvent]:
        _HELD.append(_mark(plan_context.instance, plan_context.run_id))
        if is_shared():
            plan_context.instance.add_run_tags(plan_context.run_id, {MARKED: "yes"})
        unattended.set()
        try:
            with left_open.of_run():
                yield from self._steps.execute(plan_context, execution_plan)
        finally:
            unattended.clear()


def _marking(init_context: dg.InitExecutorContext) -> dg.Executor:
    make = dg.in_process_executor.executor_creation_fn
    assert make is not None
    return _MarkingExecutor(make(init_context))


marking_executor = dg.ExecutorDefinition(
    name=dg.in_process_executor.name,
    config_schema=dg.in_process_executor.config_schema.as_field(),
    executor_creation_fn=_marking,
    description="Executes all steps in a single process, which marks the run as its own.",
)
"""Dagster's in-process executor, which marks the run that it executes."""
