"""The canonical request: what is asked, in a form that can be hashed.

What belongs here: the request, its key, its outcome. Images stand in it by SHA-256, so a request is
small, and the same question about the same picture is the same request wherever the file lies.
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
    """One chat completion: a model of the registry, messages, parameters, the prompt's version.

    `schema` is the JSON schema the reply is to follow, where the model's endpoint can be held to one.
    `task` is the prompt's, which the offline model server is told; None for what no prompt file asks.
    `superseded` is the earlier version of the prompt whose answers stand for this one's. The last two
    are not part of the canonical form.
    """

    model: str
    messages: tuple[Message, ...]
    prompt_version: str
    params: Mapping[str, float | int | str] = field(default_factory=dict)
    schema: Mapping[str, object] | None = None
    task: str | None = None
    superseded: Superseded | None = None

    def canonical(self, spec: ModelSpec) -> dict[str, object]:
        """JSON form that is hashed and kept: all that the answer may depend on, and nothing else.

        The same picture in another size or detail is another question; what is said of images stands
        in the form only where there are images, the schema where the endpoint is given it.
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
    """An answer that is in the ledger; `cached` when it was there before it was asked for."""

    key: str
    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float
    cached: bool


@dataclass(frozen=True, slots=True)
class Failure:
    """No answer, and why: counted and shown, never mixed with answers, asked again next time.

    A refusal by the provider's filter is a failure of kind `refused`: there is no text to keep. What
    a loss cost all the same stands in the last three.
    """

    key: str
    kind: FailureKind
    detail: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0


Outcome = Completion | Failure
