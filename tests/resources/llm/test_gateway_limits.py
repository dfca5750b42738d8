"""The gateway under a model's limits, against a real server."""

import time
from pathlib import Path

import pytest

from resources.llm import limits, run_context
from resources.llm.request import Completion, Failure
from tests.doubles.odd_api import Asked, answering
from tests.resources.llm.loopback import ask, gateway_of, questions


@pytest.mark.parametrize("limit", [{"requests_per_minute": 10}, {"tokens_per_minute": 5_100}])
def test_a_limit_per_minute_holds_across_stages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: dict[str, int]
) -> None:
    # A minute of 0.4 seconds. 25 requests at 10 a minute: 10, 10, 5, so two minutes are waited. Each
    # is estimated at 503 tokens and uses 510, so ten fit into 5,100 as well.
    monkeypatch.setattr(run_context, "WINDOW", 0.4)
    with answering(lambda asked: asked.says(tokens=(10, 500))) as api:
        gateway = gateway_of(tmp_path, {"it": {"base_url": api.url, "concurrency": 8, **limit}})
        began = time.monotonic()
        for stage, n in (("one", 12), ("two", 25)):
            outcomes, _ = gateway.ask(stage, questions(n, max_tokens=500))
            assert all(isinstance(outcome, Completion) for outcome in outcomes)
        assert time.monotonic() - began >= 0.8
    assert len(gateway.ledger) == 25


def test_refusals_for_asking_too_much_leave_fewer_in_flight(tmp_path: Path) -> None:
    def answer(asked: Asked) -> None:
        if len(asked.server.received) <= 3:
            asked.send(b"{}", 429)
        else:
            asked.says()

    with answering(answer) as api:
        gateway = gateway_of(tmp_path, {"it": {"base_url": api.url, "concurrency": 8}})
        outcomes = ask(gateway, 6)
    assert all(isinstance(outcome, Completion) for outcome in outcomes)
    # One halving from 8, then at most one more for each of the six answers' shares: 4 + 6/4 < 8.
    spec = gateway.registry.model("it")
    assert 4 <= gateway.context.limits(spec).allowed < 6


def test_a_server_that_is_down_is_given_up_and_every_request_is_a_typed_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(limits, "LONGEST_PAUSE", 0.002)
    monkeypatch.setattr(limits, "MAX_BREAKS", 2)
    gateway = gateway_of(tmp_path, {"it": {"base_url": "http://127.0.0.1:9/v1", "concurrency": 8}})
    # Fewer than stop a stage: 19 with six attempts each are 114, and three breaks of ten are the last.
    outcomes, usage = gateway.ask("s", questions(19))
    assert all(isinstance(outcome, Failure) for outcome in outcomes)
    assert usage.failures == {"unreachable": 19}
    assert "given up" in outcomes[-1].detail  # type: ignore[union-attr]
