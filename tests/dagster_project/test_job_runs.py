"""Runs in this process: the origin by which the UI finds their jobs, and handlers of signals."""

import os
import signal
import sqlite3
import time
import weakref
from collections.abc import Iterator
from contextlib import suppress

import dagster as dg
import pytest
from dagster._core.storage.tags import REPOSITORY_LABEL_TAG
from dagster._utils.interrupts import raise_interrupts_as

from dagster_project.job_runs import resend_interrupts, restore_signal_handlers, run_job

pytestmark = pytest.mark.slow


@dg.op
def inner_op() -> None:
    pass


@dg.job
def inner() -> None:
    inner_op()


@dg.op
def failing_op() -> None:
    raise dg.Failure


@dg.job
def failing() -> None:
    failing_op()


@dg.op
def interrupted_op() -> None:
    raise KeyboardInterrupt


@dg.job
def interrupted() -> None:
    interrupted_op()


def origins(instance: dg.DagsterInstance) -> list[tuple[str, str, str]]:
    """Location, repository and job of each run's origin, the newest run first."""
    found = [run.remote_job_origin for run in instance.get_runs()]
    return [
        (origin.location_name, origin.repository_origin.repository_name, origin.job_name)
        for origin in found
        if origin
    ]


def test_a_run_has_the_projects_code_location_also_if_it_fails_and_no_daemon_executes_it_again(
    instance: dg.DagsterInstance,
) -> None:
    assert run_job(inner, instance).success
    assert not run_job(failing, instance).success
    assert inner.execute_in_process(instance=instance).success, "which is left as it is"
    assert origins(instance) == [
        ("vlm-loom", "__repository__", "failing"),
        ("vlm-loom", "__repository__", "inner"),
    ]
    # What a job's page asks for.
    of_location = dg.RunsFilter(tags={REPOSITORY_LABEL_TAG: "__repository__@vlm-loom"})
    assert instance.get_runs_count(of_location) == 2
    assert not instance.run_retries_enabled


def test_an_interrupt_ends_a_run_and_is_not_called_a_failure(
    instance: dg.DagsterInstance, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(KeyboardInterrupt, match="the same command goes on from it"):
        run_job(interrupted, instance)
    (run,) = instance.get_runs()
    assert run.status == dg.DagsterRunStatus.FAILURE
    assert "FAILED" not in capsys.readouterr().out


def test_a_run_whose_events_cannot_be_stored_says_why(
    instance: dg.DagsterInstance,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    store = instance.event_log_storage.store_event

    def full(event: dg.EventLogEntry) -> None:
        if event.dagster_event and event.dagster_event.is_engine_event:
            raise sqlite3.OperationalError("database or disk is full")
        store(event)

    monkeypatch.setattr(instance.event_log_storage, "store_event", full)
    assert not run_job(inner, instance).success
    assert "FAILED: The disk of " in capsys.readouterr().out


@dg.asset
def one() -> int:
    return 1


@pytest.fixture
def ignored() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_handlers_of_signals_are_as_before_a_run_also_when_it_raises(ignored: None) -> None:
    with pytest.raises(RuntimeError), restore_signal_handlers():
        assert dg.materialize([one]).success
        raise RuntimeError
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_an_object_is_collected_is_not_lost(number: int) -> None:
    """Python drops what is raised there; the run would go on to its end."""

    class Collected:
        pass

    def interrupt(_: object) -> None:
        os.kill(os.getpid(), number)
        time.sleep(0.01)

    went_on = False
    with (
        restore_signal_handlers(),
        resend_interrupts(),
        suppress(dg.DagsterExecutionInterruptedError),
        raise_interrupts_as(dg.DagsterExecutionInterruptedError),
    ):
        collected = Collected()
        kept = weakref.ref(collected, interrupt)
        del collected
        time.sleep(5)
        went_on = True
    assert not went_on and kept() is None
