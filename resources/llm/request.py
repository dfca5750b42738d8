"""Chat requests in a canonical form that is hashed, and their outcomes.

What belongs here: the request, its key, its outcome. A request names its images by SHA-256, so it is
small, and the same question about the same image is the same request wherever the file is.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from methods.ids import canonical_json
from methods.prompts.front_matter import Superseded
from methods.prompts.messages import Image, Message, Text
from resources.llm.registry import ModelSpec

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
    "expired",
]


@dataclass(frozen=True)
class ChatRequest:
    """One chat request: a model of the registry, messages, parameters, the prompt's version.

    `schema` is the JSON schema of the reply, for endpoints that support structured output.
    `task` is the prompt's, for the offline model server; None where no prompt file was used.
    `superseded` is the earlier version of the prompt whose answers are accepted, too. These two are not
    part of the canonical form.
    """

    model: str
    messages: tuple[Message, ...]
    prompt_version: str
    params: Mapping[str, float | int | str] = field(default_factory=dict)
    schema: Mapping[str, object] | None = None
    task: str | None = None
    superseded: Superseded | None = None

    def canonical(self, spec: ModelSpec) -> dict[str, object]:
        """The JSON form that is hashed and stored: all that the answer may depend on, nothing else.

        The same image in another size or detail is another request. Image settings are in the form
        only if the request has images, the schema only if the endpoint is sent it.
        """
        pictures: dict[str, object] = {"max_side": spec.max_side}
        if spec.detail != "auto":
            pictures["detail"] = spec.detail
        return {
            "provider": spec.provider,
            "model": spec.model,
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
            **(pictures if self.image_ids else {}),
            **({"schema": self.schema} if self.schema and spec.structured_output else {}),
        }

    def earlier(self) -> "ChatRequest | None":
        """The request as the superseded version of its prompt made it; None where there is none."""
        if self.superseded is None:
            return None
        system, *others = self.messages
        text = "".join(part.text for part in system.parts if isinstance(part, Text))
        return replace(
            self,
            messages=(
                Message.of(system.role, f"{self.superseded.opening}\n\n{text}"),
                *others,
            ),
            prompt_version=self.superseded.version,
            superseded=None,
        )

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


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer that is in the ledger; `cached` if it was there before the request was made."""

    key: str
    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float
    cached: bool


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request has no answer: counted and shown, not stored as an answer, sent again next time.

    If the provider's filter withholds the answer, the kind is `refused`. Tokens and cost are those
    that were paid for all the same.
    """

    key: str
    kind: FailureKind
    detail: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0


Outcome = Completion | Failure
