"""The gateway with a LiteLLM proxy before llama.cpp's server. Run by `make test-real`."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from methods.prompts.messages import Text
from resources.llm.request import Completion, Failure
from tests.real.asking import ask, gateway_to, pictures, request, texts, tokens_of
from tests.real.server import CONTEXT, LlamaServer, litellm_proxy, llama_server

N_TEXTS, N_IMAGES = 10, 3
KEY = "LITELLM_MASTER_KEY"


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LlamaServer, str]]:
    """A server, and the base URL of the proxy."""
    folder = tmp_path_factory.mktemp("proxy")
    with pytest.MonkeyPatch.context() as patch, llama_server(folder) as server:
        patch.setenv(KEY, f"sk-{secrets.token_hex(32)}")
        with litellm_proxy(folder, server, "it") as url:
            yield server, url


def test_replies_and_tokens_through_a_proxy_are_the_servers(
    proxied: tuple[LlamaServer, str], tmp_path: Path
) -> None:
    server, url = proxied
    before = server.n_worked_on, server.prompt_tokens, server.metric("tokens_predicted_total")
    gateway = gateway_to(tmp_path, url, api_key_env=KEY)

    outcomes = ask(gateway, [*texts(N_TEXTS), *pictures(gateway, N_IMAGES)])

    after = server.n_worked_on, server.prompt_tokens, server.metric("tokens_predicted_total")
    calls = list(gateway.ledger)
    assert all(isinstance(outcome, Completion) for outcome in outcomes), outcomes
    assert (len(calls), *tokens_of(calls)) == tuple(
        now - then for now, then in zip(after, before, strict=True)
    )
    assert server.n_cancelled == 0


def test_a_prompt_longer_than_the_context_is_too_long_through_a_proxy(
    proxied: tuple[LlamaServer, str], tmp_path: Path
) -> None:
    gateway = gateway_to(tmp_path, proxied[1], api_key_env=KEY)

    (outcome,) = ask(gateway, [request(Text("The lake lay still. " * CONTEXT))])

    assert isinstance(outcome, Failure) and outcome.kind == "too_long", outcome
