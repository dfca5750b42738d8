"""A stage that ends before its time: replies that are under way are paid for, and kept."""

import asyncio
import os
import signal
import threading
import time

import pytest
from dagster import DagsterExecutionInterruptedError
from dagster._utils.interrupts import raise_interrupts_as

from dagster_project.job_runs import restore_signal_handlers
from resources.llm import interruption
from resources.llm.model_calls import ModelCalls
from resources.llm.request import ChatRequest, Outcome
from tests.doubles.openai_api import Api, serving
from tests.resources.llm.entries import ask, gateway_of, questions

N = 12
CONCURRENCY = 4
NEVER_MS = 120_000
NUMBERS = signal.SIGINT, signal.SIGTERM


def asked_and_interrupted(folder, *signals, latency_ms=300) -> tuple[int, int]:
    """The requests of a stage, which signals end amid its first ones, and the answers that are kept."""
    heard: list[str] = []

    def hear(_key: str, text: str) -> None:
        heard.append(text)
        if len(heard) == CONCURRENCY:
            for place, number in enumerate(signals):
                threading.Timer(0.1 * place, os.kill, [os.getpid(), number]).start()

    with serving(Api((latency_ms, latency_ms), hear)) as url:
        gateway = gateway_of(folder, {"it": {"base_url": url, "concurrency": CONCURRENCY}})
        # As Dagster runs a step.
        with (
            restore_signal_handlers(),
            pytest.raises(DagsterExecutionInterruptedError),
            raise_interrupts_as(DagsterExecutionInterruptedError),
        ):
            ask(gateway, N)
        kept = len(gateway.ledger)
        gateway.close()
    return len(heard), kept


@pytest.mark.parametrize("number", NUMBERS)
def test_an_interrupt_keeps_the_replies_that_are_under_way(tmp_path, number, caplog):
    assert asked_and_interrupted(tmp_path, number) == (CONCURRENCY, CONCURRENCY)
    assert caplog.text.count("waits up to 20 s for the replies that are under way") == 1


@pytest.mark.parametrize(("grace", "n_interrupts"), [(0.2, 1), (20.0, 2)])
def test_the_wait_for_replies_has_an_end_which_a_second_interrupt_is(
    tmp_path, monkeypatch, grace, n_interrupts
):
    monkeypatch.setattr(interruption, "GRACE_SECONDS", grace)
    begun, interrupts = time.monotonic(), [signal.SIGINT] * n_interrupts
    assert asked_and_interrupted(tmp_path, *interrupts, latency_ms=NEVER_MS)[1] == 0
    assert time.monotonic() - begun < 20


def test_a_stage_that_an_error_ends_keeps_the_replies_that_are_under_way(tmp_path):
    async def work(calls: ModelCalls, request: ChatRequest) -> Outcome:
        if request == requests[-1]:
            while len(heard) < CONCURRENCY:
                await asyncio.sleep(0.01)
            raise ValueError("a fault of the stage")
        return await calls.complete(request)

    requests, heard = questions(CONCURRENCY + 1), list[str]()
    with serving(Api((300, 300), lambda _key, text: heard.append(text))) as url:
        gateway = gateway_of(tmp_path, {"it": {"base_url": url, "concurrency": CONCURRENCY}})
        with pytest.raises(ValueError, match="a fault of the stage"):
            gateway.map("stage", requests, work)
        assert len(gateway.ledger) == CONCURRENCY
        gateway.close()
