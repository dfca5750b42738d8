"""The canonical request: what is asked, in a form that can be hashed.

What belongs here: the request, its key, its outcome. Images stand in it by SHA-256, so a request is
small, and the same question about the same picture is the same request wherever the file lies.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from methods.ids import canonical_json
from methods.messages import Image, Message

FailureKind = Literal[
    "refused",
    "too_long",
    "bad_request",
    "auth",
    "unreachable",
    "rate_limited",
    "server_error",
    "timeout",
    "bad_response",
]


@dataclass(frozen=True)
class ChatRequest:
    """One chat completion: a model of the registry, messages, parameters, the prompt's version."""

    model: str
    messages: tuple[Message, ...]
    prompt_version: str
    params: Mapping[str, float | int | str] = field(default_factory=dict)

    def canonical(self, provider: str, provider_model: str, max_side: int) -> dict[str, object]:
        """JSON form that is hashed and kept; `provider_model` is the name the provider knows.

        `max_side` is the longest side images are sent with: the same picture in another size is another
        question. It stands in the form only where there are images.
        """
        return {
            "provider": provider,
            "model": provider_model,
            "messages": [
                {
                    "role": message.role,
                    "parts": [
                        {"image": part.image_id} if isinstance(part, Image) else part.text
                        for part in message.parts
                    ],
                }
                for message in self.messages
            ],
            "params": dict(self.params),
            "prompt_version": self.prompt_version,
            **({"max_side": max_side} if self.image_ids else {}),
        }

    @cached_property
    def image_ids(self) -> list[str]:
        """SHA-256 of every image in the messages, in order."""
        return [
            part.image_id
            for message in self.messages
            for part in message.parts
            if isinstance(part, Image)
        ]


def request_key(canonical: Mapping[str, object]) -> str:
    """SHA-256 of a canonical request, 64 hex digits: the ledger's key."""
    return hashlib.sha256(canonical_json(canonical).encode()).hexdigest()


CHARACTERS_PER_TOKEN = 4
TOKENS_PER_IMAGE = 765
"""An image of 1024 pixels a side in four tiles, as OpenAI counts it."""
COMPLETION_TOKENS = 500


def estimated_tokens(request: ChatRequest) -> int:
    """Tokens a request may cost, prompt and completion: what a limit is asked for before the answer."""
    n_characters = sum(
        len(part.text)
        for message in request.messages
        for part in message.parts
        if not isinstance(part, Image)
    )
    return (
        n_characters // CHARACTERS_PER_TOKEN
        + len(request.image_ids) * TOKENS_PER_IMAGE
        + COMPLETION_TOKENS
    )


@dataclass(frozen=True)
class Completion:
    """An answer that is in the ledger; `cached` when it was there before it was asked for."""

    key: str
    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float
    cached: bool


@dataclass(frozen=True)
class Failure:
    """No answer, and why: counted and shown, never mixed with answers, asked again next time.

    A refusal by the provider's filter is a failure of kind `refused`: there is no text to keep.
    """

    key: str
    kind: FailureKind
    detail: str


Outcome = Completion | Failure
