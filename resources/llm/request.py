"""Chat requests, their canonical form (which is hashed to the cache key), and their outcomes.

A request refers to images by SHA-256. So it is small, and does not depend on the paths of image files.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from methods.ids import canonical_json
from methods.prompts.messages import Image, Message
from resources.llm.model_spec import MOCK_ENDPOINT, ModelSpec

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
    "given_up",
    "truncated",
    "reasoning_only",
    "empty",
    "bad_parameter",
    "no_image",
    "text_only",
]
"""Why a request has no answer. `truncated`, `reasoning_only`, `empty`: the reply has no complete
answer. `bad_parameter`: the server rejects a parameter. `no_image`: an image is not stored.
`text_only`: the request has images, but the model takes none."""
PASSING = frozenset[FailureKind](("unreachable", "rate_limited", "server_error", "timeout"))
"""Temporary failures of a server, which may be over some minutes later."""
LENGTH_KINDS = frozenset[FailureKind](("too_long", "bad_request"))
"""Failures that a shorter request may avoid. `bad_request` is one of them, as not every server's
message about the length is recognized."""
KEPT_KINDS = ("truncated", "reasoning_only")
"""Failures caused by the token limit: the ledger stores them, and the request is not sent again."""


@dataclass(frozen=True)
class ChatRequest:
    """One chat request.

    Attributes:
        schema: The JSON schema of the reply, for servers that support structured output.
        task: The prompt's task, for the mock model server; None without a prompt file. Not part of the
            canonical form.
        replicate: The number of the repetition of a request.
        renewal: The number of times that the answer was invalidated (`re_ask.py`).
        in_a_grid: Whether all images are sent as one grid of numbered images,
            independent of the model's entry.
        n_words: The likely number of words of the reply, for estimates. Not part of the canonical form.
        candidate: The candidate under evaluation, such as `no-images:NAME`, for estimates. Not part of
            the canonical form.
    """

    model: str
    messages: tuple[Message, ...]
    prompt_version: str
    params: Mapping[str, float | int | str] = field(default_factory=dict)
    schema: Mapping[str, object] | None = None
    task: str | None = None
    replicate: int = 0
    renewal: int = 0
    in_a_grid: bool = False
    n_words: int | None = None
    candidate: str | None = None

    def canonical(self, spec: ModelSpec) -> dict[str, object]:
        """Return the JSON object that is hashed and stored: everything that the answer may depend on.

        The same image with another size or detail is another request. Image settings are only included
        if the request has images, and the schema only if `structured_output` is set. The endpoint is
        left out for the mock server.
        """
        endpoint = spec.endpoint()
        repeated = {"replicate": self.replicate, "renewal": self.renewal}
        pictures: dict[str, object] = {"max_side": spec.max_side}
        if spec.detail != "auto":
            pictures["detail"] = spec.detail
        return {
            "provider": spec.provider_in_keys,
            **({} if endpoint == MOCK_ENDPOINT else {"endpoint": endpoint}),
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
            "params": spec.params(self.params),
            "prompt_version": self.prompt_version,
            **{name: count for name, count in repeated.items() if count},
            **(pictures if self.image_ids else {}),
            **self._fewer_images(spec),
            **({"schema": self.schema} if self.schema and spec.structured_output else {}),
        }

    @cached_property
    def image_ids(self) -> list[str]:
        """The SHA-256 of every image in the messages, in order."""
        return [
            part.image_id
            for message in self.messages
            for part in message.parts
            if isinstance(part, Image)
        ]

    def _fewer_images(self, spec: ModelSpec) -> dict[str, object]:
        """Return the part of the canonical form for images that are sent as a grid or as a sample."""
        done = self.images_done(spec)
        if done == "all":
            return {}
        sampled = {"max_images": spec.max_images} if done == "sample" else {}
        return {"many_images": done, **sampled}

    def images_done(self, spec: ModelSpec) -> Literal["all", "fail", "grid", "sample"]:
        """Return how the images are sent.

        The request's own grid takes precedence over the entry's setting for too many images. With
        `fail` the request is not sent. A model without image input does not get a grid either.
        """
        if self.image_ids and spec.max_images == 0:
            return "fail"
        if self.in_a_grid and self.image_ids:
            return "grid"
        return "all" if len(self.image_ids) <= spec.max_images else spec.many_images


def request_key(canonical: Mapping[str, object]) -> str:
    """Hash a canonical request (SHA-256, 64 hex digits): its key in the ledger."""
    return hashlib.sha256(canonical_json(canonical).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer in the ledger.

    Attributes:
        cached: Whether it was in the ledger before the request was made.
        reasoning: The model's reasoning, if the server returned it.
        answered_as: The model that the reply names, if it is another one.
        claimed_tokens: Token counts of the reply that are not plausible; then the counts are estimates.
    """

    key: str
    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float
    cached: bool
    reasoning: str | None = None
    answered_as: str | None = None
    claimed_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """The outcome of a request without an answer.

    The request is sent again next time, unless the kind is one of KEPT_KINDS; `cached` tells that such
    a failure came from the ledger. The kind is `refused` if the provider's filter withholds the
    answer, and `given_up` if the request was not sent because the stage has stopped asking the model.
    Tokens and cost were paid although there is no answer. `finish_reason` and `reasoning` come from
    the reply, if there was one.
    """

    key: str
    kind: FailureKind
    detail: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    finish_reason: str | None = None
    reasoning: str | None = None
    cached: bool = False
    answered_as: str | None = None
    claimed_tokens: int | None = None


Outcome = Completion | Failure


def as_cached(outcome: Outcome | None) -> Outcome | None:
    """Return the outcome for an identical request that was not sent itself, and costs nothing."""
    if outcome is None:
        return None
    if isinstance(outcome, Failure) and outcome.kind not in KEPT_KINDS:
        return replace(outcome, prompt_tokens=0, completion_tokens=0, cost_usd=0.0)
    return replace(outcome, cached=True)
