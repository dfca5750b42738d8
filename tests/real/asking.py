"""Requests of the gateway to a real server, and what its ledger has of them."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image as Picture

from methods.prompts.messages import Image, Message, Part, Text
from resources.llm.ledger import Call
from resources.llm.model_calls import ModelCalls
from resources.llm.request import ChatRequest, Outcome
from tests.resources.llm.entries import AskingGateway, gateway_of

PARAMS = {"temperature": 0.0, "max_tokens": 64}


def gateway_to(folder: Path, base_url: str, **fields: Any) -> AskingGateway:
    """A gateway with default settings for a server, as the model `it`, and a ledger in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    entry = {"base_url": base_url, "retry_wait": {"first": 0.5, "most": 30}, **fields}
    return gateway_of(folder, {"it": entry})


def request(*parts: Part) -> ChatRequest:
    """A request as a stage makes it, with a short answer."""
    return ChatRequest("it", (Message("user", parts),), "real@1", PARAMS)


def texts(n: int) -> list[ChatRequest]:
    """Requests without images."""
    return [request(Text(f"Question {number}: what is in a harbour?")) for number in range(n)]


def pictures(gateway: AskingGateway, n: int) -> list[ChatRequest]:
    """Requests with one image each, of different sizes."""
    requests = []
    for number in range(n):
        buffer = io.BytesIO()
        Picture.new("RGB", (90 + 60 * number, 200), (20 * number, 90, 200)).save(buffer, "PNG")
        image_id = gateway.images.put(buffer.getvalue()).image_id
        requests.append(request(Image(image_id), Text(f"What is in picture {number}?")))
    return requests


def ask(gateway: AskingGateway, requests: Sequence[ChatRequest]) -> Sequence[Outcome]:
    """How each request ends, in their order."""
    return gateway.map("real", requests, ModelCalls.outcome_of)[0]


def tokens_of(calls: Sequence[Call]) -> tuple[int, int]:
    """Tokens of the prompts and of the answers in a ledger."""
    return sum(call.prompt_tokens for call in calls), sum(call.completion_tokens for call in calls)
