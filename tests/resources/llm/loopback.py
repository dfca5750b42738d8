"""Gateways whose model is a server on loopback, for tests of what goes over the wire."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from methods.prompts.messages import Message
from resources.images.store import ImageStore
from resources.llm.gateway import Gateway
from resources.llm.ledger import Ledger
from resources.llm.registry import load_registry
from resources.llm.request import ChatRequest, Outcome
from resources.mock_server.process import MockServerProcess
from tests.doubles.odd_api import Asked, OddApi, answering


def gateway_of(
    folder: Path,
    models: dict[str, dict[str, Any]],
    budget_usd: float | None = None,
    **options: Any,
) -> Gateway:
    """A gateway whose registry has these models of the provider `openai`; it asks without waits."""
    first = next(iter(models))
    entries = {
        name: {"provider": "openai", "retry_wait": {"first": 0, "most": 0}, **entry}
        for name, entry in models.items()
    }
    profile = {"writer": first, "judge": first, "evaluate": list(models)}
    path = folder / "models.yaml"
    path.write_text(yaml.safe_dump({"profiles": {"p": profile}, "models": entries}))
    options |= {"budget_usd": budget_usd, "launcher": MockServerProcess()}
    ledger, images = Ledger(folder / "ledger.sqlite"), ImageStore(folder / "images")
    return Gateway(load_registry(path), "p", ledger, images, **options)


def questions(n: int, model: str = "it", **params: int) -> list[ChatRequest]:
    return [
        ChatRequest(model, (Message.from_text("user", f"Question {number}?"),), "q@1", params)
        for number in range(n)
    ]


def ask(gateway: Gateway, n: int = 1, **params: int) -> list[Outcome]:
    outcomes, _ = gateway.ask("stage", questions(n, **params))
    return outcomes


def ask_server(
    folder: Path, answer: Callable[[Asked], None], n: int = 1, **entry: object
) -> tuple[list[Outcome], OddApi]:
    """Outcomes of `n` questions to a server that answers so, and the server, which has ended."""
    with answering(answer) as api:
        return ask(gateway_of(folder, {"it": {"base_url": api.url, **entry}}), n), api
