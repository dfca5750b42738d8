"""Entries of models, gateways that ask a server on loopback, and rows of ledgers, for a test."""

import base64
import io
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml
from PIL import Image as Picture

from methods.prompts.messages import Image, Message, Text
from resources.images.store import ImageStore
from resources.llm.batch_files import read_results
from resources.llm.gateway import Gateway
from resources.llm.ledger import Call, Charge, Ledger
from resources.llm.ledger.batch_state import BatchItem, FailedRequest
from resources.llm.ledger.calls import unpack
from resources.llm.model_calls import ModelCalls
from resources.llm.model_spec import ModelSpec
from resources.llm.progress import OnProgress, no_progress
from resources.llm.registry import load_registry
from resources.llm.request import ChatRequest, Failure, Outcome, request_key
from resources.llm.request_body import wire_body
from resources.llm.usage import Usage
from resources.mock_server.process import MockServerProcess
from tests.doubles.odd_api import Asked, OddApi, answering


def change_entries(gateway: Gateway, **fields: Any) -> Gateway:
    models = gateway.registry.models
    for name, spec in models.items():
        models[name] = ModelSpec.model_validate({**spec.model_dump(), **fields})
    return gateway


def spec_of(**fields: Any) -> ModelSpec:
    """An entry with the least that it needs, and these fields."""
    return ModelSpec.model_validate({"name": "it", "provider": "openai", "model": "it-1", **fields})


class AskingGateway(Gateway):
    """A gateway that asks requests without the work of a stage."""

    def ask(
        self, stage: str, requests: Sequence[ChatRequest], on_progress: OnProgress = no_progress
    ) -> tuple[list[Outcome], Usage]:
        return self.map(stage, requests, ModelCalls.complete, on_progress)


DOLLAR_A_TOKEN = {"prompt": 1_000_000, "completion": 1_000_000}
BATCH_ITEM = BatchItem("k", "b", 1, "waiting", None, None, "s", "r", "q@1", {"model": "m"})


def batch_result(body: object, spec: ModelSpec, status: int = 200) -> Call | FailedRequest:
    """What is made of the only line of a batch's file of results."""
    row = {"custom_id": "k", "response": {"status_code": status, "body": body}, "error": None}
    # As JSON that is not escaped, which is how some providers write it.
    lines = json.dumps(row, ensure_ascii=False).encode().split(b"\n")
    (result,) = read_results(lines, {"k": BATCH_ITEM}, spec)
    return result


def contents(request: ChatRequest, images: ImageStore, **fields: Any) -> list[dict[str, Any]]:
    """The parts of all messages as they are sent; a message of texts alone is one part."""
    parts: list[dict[str, Any]] = []
    for message in wire_body(request, spec_of(**fields), images)["messages"]:  # type: ignore[attr-defined]
        content = message["content"]
        parts += [{"type": "text", "text": content}] if isinstance(content, str) else content
    return parts


def pictures(parts: list[dict[str, Any]]) -> list[Picture.Image]:
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return [Picture.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))) for url in urls]


def call(number: int = 0, **changes) -> Call:
    """One answered call about one picture; `number` makes it another question."""
    request = ChatRequest(
        model="careful",
        messages=(Message("user", (Image("a" * 64), Text(f"Question {number}, où 字?"))),),
        prompt_version="mmdu/answers@12345678",
        params={"temperature": 0.0},
    ).canonical(ModelSpec(name="careful", provider="openai", model="gpt"))
    fields = {
        "key": request_key(request),
        "provider": "openai",
        "endpoint": "https://api.openai.com/v1",
        "model": "gpt",
        "prompt_version": "mmdu/answers@12345678",
        "stage": "dialogue.answers",
        "run": "run-1",
        "via": "live",
        "request": request,
        "response": f"Answer {number}: “here” 字 \x00 …",
        "reasoning": f"Thought {number} …",
        "outcome": "answered",
        "finish_reason": "stop",
        "prompt_tokens": 1000 + number,
        "completion_tokens": 10,
        "cost_usd": 0.0025,
        "seconds": 1.5,
        "attempts": 2,
        "created_at": "2026-01-01T00:00:00.000+00:00",
    }
    return Call(**fields | changes)


def charge(number: int, **changes: object) -> Charge:
    """What the request of `call(number)` cost without an answer."""
    lost = call(number, outcome="refused", finish_reason="content_filter")
    return lost.as_charge("Withheld.")._replace(**changes)


def charges_of(ledger: Ledger) -> list[Charge]:
    """Every charge, in the order they were made; without its request before version 5."""
    query = f"SELECT {', '.join(Charge._fields)} FROM charges ORDER BY seq"
    with ledger._store.read() as connection:
        charges = [Charge(*row) for row in connection.exec_driver_sql(query)]
    return [
        each._replace(request=unpack(each.request) if each.request else {})  # type: ignore[arg-type]
        for each in charges
    ]


def gateway_of(
    folder: Path, models: dict[str, dict[str, Any]], budget_usd: float | None = None, **options: Any
) -> AskingGateway:
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
    return AskingGateway(load_registry(path), "p", ledger, images, **options)


def requests_of(texts: Iterable[str], model: str = "it", **params: int) -> list[ChatRequest]:
    return [ChatRequest(model, (Message.from_text("user", text),), "q@1", params) for text in texts]


def questions(n: int, model: str = "it", **params: int) -> list[ChatRequest]:
    return requests_of((f"Question {number}?" for number in range(n)), model, **params)


def ask(gateway: AskingGateway, n: int = 1, **params: int) -> list[Outcome]:
    outcomes, _ = gateway.ask("stage", questions(n, **params))
    return outcomes


def kinds(outcomes: Iterable[Outcome]) -> list[str]:
    """How each request ended: `answered`, or the kind of its failure."""
    return [each.kind if isinstance(each, Failure) else "answered" for each in outcomes]


def ask_server(
    folder: Path, answer: Callable[[Asked], None], n: int = 1, **entry: object
) -> tuple[list[Outcome], OddApi]:
    """Outcomes of `n` questions to a server that answers so, and the server, which has ended."""
    with answering(answer) as api:
        return ask(gateway_of(folder, {"it": {"base_url": api.url, **entry}}), n), api
