"""The gateway and `vlm-loom model add` with llama.cpp's own server: what holds whatever the model says.

Run by `make test-real`.
"""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from dagster_project.cli import main as loom
from methods.prompts.messages import Text
from resources.llm.request import Completion, Failure
from tests.real.asking import ask, gateway_to, pictures, request, texts, tokens_of
from tests.real.server import CONTEXT, SLOTS, LlamaServer, llama_server, slowed

N_TEXTS, N_IMAGES = 30, 6
N_SLOW = 16
"""Requests that are all in flight with default settings; the last one waits longer than a timeout."""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaServer]:
    """A server for tests that count nothing of it."""
    with llama_server(tmp_path_factory.mktemp("llama")) as server:
        yield server


def test_every_reply_and_every_token_is_accounted_for_and_nothing_is_cancelled(
    tmp_path: Path,
) -> None:
    with llama_server(tmp_path) as server:
        gateway = gateway_to(tmp_path / "home", f"{server.root}/v1")
        outcomes = ask(gateway, [*texts(N_TEXTS), *pictures(gateway, N_IMAGES)])
        counted = server.prompt_tokens, server.metric("tokens_predicted_total")
        calls = list(gateway.ledger)

        assert all(isinstance(outcome, Completion) for outcome in outcomes), outcomes
        assert len({call.key for call in calls}) == N_TEXTS + N_IMAGES
        assert server.n_worked_on == len(calls)
        assert tokens_of(calls) == counted
        assert server.n_cancelled == 0

        # The same requests again come from the ledger.
        ask(gateway, [*texts(N_TEXTS), *pictures(gateway, N_IMAGES)])
        assert server.n_worked_on == N_TEXTS + N_IMAGES


def test_a_slow_server_with_two_slots_has_no_request_cancelled(tmp_path: Path) -> None:
    with llama_server(tmp_path) as server:
        gateway = gateway_to(tmp_path / "home", f"{server.root}/v1")
        with slowed(server, run_seconds=0.1, stop_seconds=1.4):
            outcomes = ask(gateway, texts(N_SLOW))

        assert all(isinstance(outcome, Completion) for outcome in outcomes), outcomes
        assert server.n_cancelled == 0
        assert server.n_worked_on == len(list(gateway.ledger)) == N_SLOW


def test_a_request_whose_client_hangs_up_is_counted_as_cancelled(tmp_path: Path) -> None:
    with llama_server(tmp_path) as server:
        body = {
            "messages": [{"role": "user", "content": "Go on."}],
            "grammar": "root ::= [a-z]{999}",
        }
        with pytest.raises(httpx2.ReadTimeout):
            httpx2.post(f"{server.root}/v1/chat/completions", json=body, timeout=1)
        end = time.monotonic() + 30
        while not server.n_cancelled and time.monotonic() < end:
            time.sleep(0.1)
        assert server.n_cancelled == 1


def test_a_server_that_is_killed_and_started_again_loses_nothing(tmp_path: Path) -> None:
    with llama_server(tmp_path) as server:
        gateway = gateway_to(tmp_path / "home", f"{server.root}/v1")

        def restart() -> None:
            while server.n_worked_on < N_TEXTS // 3:
                time.sleep(0.05)
            server.kill()
            time.sleep(2)
            server.start()

        restarting = threading.Thread(target=restart)
        restarting.start()
        outcomes = ask(gateway, texts(N_TEXTS))
        restarting.join()

        assert all(isinstance(outcome, Completion) for outcome in outcomes), outcomes
        keys = {outcome.key for outcome in outcomes}
        assert len(keys) == N_TEXTS
        assert sorted(call.key for call in gateway.ledger) == sorted(keys)
        assert server.n_cancelled == 0


def test_a_prompt_longer_than_the_context_is_too_long(shared: LlamaServer, tmp_path: Path) -> None:
    gateway = gateway_to(tmp_path, f"{shared.root}/v1")
    long = request(Text("The lake lay still. " * CONTEXT))

    too_long, fits = ask(gateway, [long, *texts(1)])

    assert isinstance(too_long, Failure) and too_long.kind == "too_long", too_long
    assert isinstance(fits, Completion)


def test_a_server_without_a_projector_costs_the_requests_with_images_only(tmp_path: Path) -> None:
    with llama_server(tmp_path, images=False) as server:
        gateway = gateway_to(tmp_path / "home", f"{server.root}/v1")
        with_images, without = pictures(gateway, N_IMAGES), texts(N_TEXTS)
        outcomes = ask(gateway, [*with_images, *without])

        assert all(isinstance(outcome, Failure) for outcome in outcomes[:N_IMAGES])
        assert all(isinstance(outcome, Completion) for outcome in outcomes[N_IMAGES:])
        assert len(list(gateway.ledger)) == server.n_worked_on == N_TEXTS
        kinds = {outcome.kind for outcome in outcomes if isinstance(outcome, Failure)}
        assert len(kinds) == 1, kinds


def test_model_add_writes_an_entry_that_works(
    shared: LlamaServer, loom_home: Path, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    models = tmp_path / "models.yaml"
    text = "profiles:\n  p: {judge: j, evaluate: [j]}\nmodels:\n  j: {provider: mock}\n"
    models.write_text(text)
    monkeypatch.setenv("LOOM_MODELS", str(models))

    assert loom(["model", "add", shared.root, "--name", "it", "--profile", "p"]) == 0

    written = yaml.safe_load(models.read_text())
    entry = written["models"]["it"]
    assert (entry["concurrency"], entry["context_tokens"]) == (SLOTS, CONTEXT // 2)
    assert written["profiles"]["p"]["evaluate"] == ["j", "it"]
    capsys.readouterr()
    assert loom(["model", "ask", "it", "What is in a harbour?"]) == 0
    assert "outcome    answered, finished by stop" in capsys.readouterr().out
