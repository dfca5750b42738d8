"""Runs that a process of ours executes have the origin by which the UI finds their jobs."""

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.storage.tags import REPOSITORY_LABEL_TAG

from dagster_project.instance import open_instance
from dagster_project.job_runs import run_job

pytestmark = pytest.mark.slow


@dg.op
def inner_op() -> None:
    pass


@dg.job
def inner() -> None:
    inner_op()


@dg.op
def outer_op(context: dg.OpExecutionContext) -> None:
    assert run_job(inner, context.instance).success


@dg.op
def failing_op() -> None:
    raise dg.Failure


@dg.job
def outer() -> None:
    outer_op()


@dg.job
def failing() -> None:
    failing_op()


@pytest.fixture
def instance(loom_home: Path) -> Iterator[dg.DagsterInstance]:
    with open_instance() as opened:
        yield opened


def origins(instance: dg.DagsterInstance) -> list[tuple[str, str, str]]:
    """Location, repository and job of each run's origin, the newest run first."""
    found = [run.remote_job_origin for run in instance.get_runs()]
    return [
        (origin.location_name, origin.repository_origin.repository_name, origin.job_name)
        for origin in found
        if origin
    ]


def test_a_run_within_a_run_has_an_origin_of_its_own(instance: dg.DagsterInstance) -> None:
    assert run_job(outer, instance).success
    assert origins(instance) == [
        ("vlm-loom", "__repository__", "inner"),
        ("vlm-loom", "__repository__", "outer"),
    ]
    # What a job's page asks for.
    of_location = dg.RunsFilter(tags={REPOSITORY_LABEL_TAG: "__repository__@vlm-loom"})
    assert instance.get_runs_count(of_location) == 2


def test_a_run_that_fails_has_it_too_and_no_daemon_executes_it_again(
    instance: dg.DagsterInstance,
) -> None:
    assert not run_job(failing, instance).success
    assert origins(instance) == [("vlm-loom", "__repository__", "failing")]
    assert not instance.run_retries_enabled


def test_runs_made_otherwise_are_left_as_they_are(instance: dg.DagsterInstance) -> None:
    assert run_job(inner, instance).success
    assert inner.execute_in_process(instance=instance).success
    assert instance.get_runs_count() == 2
    assert len(origins(instance)) == 1
