"""Chat requests in a canonical form that is hashed, and their outcomes.

A request names its images by SHA-256, so it is small, and the same question about the same image is the
same request wherever the file is.
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
"""Why a request has no answer. `truncated`, `reasoning_only`, `empty`: the model replied, and not with
an answer; `bad_parameter`: the server takes no such parameter; `no_image`: an image is not stored;
`text_only`: the request has images, and the model takes none."""
PASSING = frozenset[FailureKind](("unreachable", "rate_limited", "server_error", "timeout"))
"""Failures of a server that may be gone when it is asked again some minutes later."""
LENGTH_KINDS = frozenset[FailureKind](("too_long", "bad_request"))
"""Failures that a shorter request may avoid: some servers refuse a length in words nobody knows."""
KEPT_KINDS = ("truncated", "reasoning_only")
"""Kinds that follow from the token limit: the ledger keeps them, and the request is not sent again."""


@dataclass(frozen=True)
class ChatRequest:
    """One chat request.

    Attributes:
        schema: The JSON schema of the reply, for servers that support structured output.
        task: The prompt's task, for the mock model server; None without a prompt file. Not part of the
            canonical form.
        replicate: The number of the repetition of a request.
        renewal: How often the request was invalidated (`re_ask.py`).
        in_a_grid: Whether all images are sent as one numbered image, independent of the model's entry.
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
        """The JSON form that is hashed and stored: all that the answer may depend on, nothing else.

        The same image in another size or detail is another request. Image settings are in the form
        only if the request has images, the schema only if the endpoint is sent it, who answers only if
        that is not the mock server.
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
        """SHA-256 of every image in the messages, in order."""
        return [
            part.image_id
            for message in self.messages
            for part in message.parts
            if isinstance(part, Image)
        ]

    def _fewer_images(self, spec: ModelSpec) -> dict[str, object]:
        """The part of the canonical form for images that are not sent unchanged."""
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
    """SHA-256 of a canonical request, 64 hex digits: the ledger's key."""
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
    """Why a request has no answer: counted and shown, never given as an answer.

    It is sent again next time, unless its kind is one of KEPT_KINDS; `cached` if it was not sent now
    for that. If the provider's filter withholds the answer, the kind is `refused`; if the stage has
    stopped asking the model, it is `given_up` and the request was not sent. Tokens and cost are those
    that were paid for all the same; `finish_reason` and `reasoning` are the reply's, if there was one.
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
    """The outcome for an identical request that was not sent itself: it costs nothing."""
    if outcome is None:
        return None
    if isinstance(outcome, Failure) and outcome.kind not in KEPT_KINDS:
        return replace(outcome, prompt_tokens=0, completion_tokens=0, cost_usd=0.0)
    return replace(outcome, cached=True)
