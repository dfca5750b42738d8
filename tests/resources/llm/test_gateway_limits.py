"""The gateway under a model's limits, against a real server."""

import time
from pathlib import Path

import pytest

from methods.prompts.messages import Message
from resources.images.store import ImageStore
from resources.llm import errors, limits, run_context
from resources.llm.gateway import Gateway
from resources.llm.ledger import Ledger
from resources.llm.registry import load_registry
from resources.llm.request import ChatRequest, Completion, Failure
from resources.offline.process import OfflineServer
from tests.resources.llm.entries import no_backoff

REGISTRY = """
profiles: {{p: {{writer: m, judge: m, evaluate: [m]}}}}
models:
  m:
    provider: openai
    model: offline-careful
    base_url: {url}
    concurrency: 8
    {limits}
"""


@pytest.fixture(scope="module")
def url():
    with OfflineServer() as server:
        yield server.base_url


def make_gateway(folder: Path, url: str, more: str = "") -> Gateway:
    path = folder / "models.yaml"
    path.write_text(REGISTRY.format(url=url, limits=more))
    ledger, images = Ledger(folder / "ledger.sqlite"), ImageStore(folder / "images")
    return Gateway(load_registry(path), "p", ledger, images, launcher=OfflineServer())


def questions(n: int) -> list[ChatRequest]:
    return [ChatRequest("m", (Message.of("user", f"Question {i}?"),), "q@1") for i in range(n)]


@pytest.mark.parametrize(
    "limit", ["requests_per_minute: 10", "tokens_per_minute: 5100"], ids=["requests", "tokens"]
)
def test_a_limit_per_minute_holds_across_stages(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    # A minute of half a second. 25 requests at 10 a minute: 10, 10, 5, so two minutes are waited.
    # Each is estimated at 503 tokens (12 characters are 3, and 500 for the answer), so ten fit in
    # 5,100; what the answers leave over of the estimate may let more follow in the same minute.
    monkeypatch.setattr(run_context, "WINDOW", 0.5)
    gateway = make_gateway(tmp_path, url, limit)
    started = time.monotonic()
    for stage in ("one", "two"):
        outcomes, _ = gateway.ask(stage, questions(25)[: 12 if stage == "one" else 25])
        assert all(isinstance(outcome, Completion) for outcome in outcomes)
    waited = time.monotonic() - started
    if limit.startswith("requests"):
        assert waited >= 1.0
    assert len(gateway.ledger) == 25


def test_refusals_for_asking_too_much_leave_fewer_in_flight(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import httpx2

    monkeypatch.setattr(errors, "wait_random_exponential", no_backoff)
    gateway = make_gateway(tmp_path, url)
    control = httpx2.Client(base_url=url.removesuffix("/v1"), trust_env=False)
    control.post("/faults", json={"status": 429, "count": 3}).raise_for_status()
    outcomes, _ = gateway.ask("s", questions(6))
    assert all(isinstance(outcome, Completion) for outcome in outcomes)
    # One halving from 8, then at most one more for each of the six answers' shares: 4 + 6/4 < 8.
    spec = gateway.registry.model("m")
    assert 4 <= gateway.context.limits(spec).allowed < 6


def test_a_server_that_is_down_is_given_up_and_every_request_is_a_typed_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(errors, "wait_random_exponential", no_backoff)
    monkeypatch.setattr(limits, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(limits, "LONGEST_PAUSE", 0.002)
    gateway = make_gateway(tmp_path, "http://127.0.0.1:9/v1")
    monkeypatch.setattr(limits, "MAX_BREAKS", 2)
    # Fewer than stop a stage: 19 with six attempts each are 114, and three breaks of ten are the last.
    outcomes, usage = gateway.ask("s", questions(19))
    assert all(isinstance(outcome, Failure) for outcome in outcomes)
    assert usage.failures == {"unreachable": 19}
    assert "given up" in outcomes[-1].detail  # type: ignore[union-attr]
