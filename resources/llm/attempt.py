"""One try at a request: a place within the model's limits, money set aside, one exchange over HTTP.

What belongs here: what is taken before an attempt and given back after it, and what the limits learn
from how it ends. Asking again is `session.py`'s.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from resources.images.store import ImageStore
from resources.llm.budget import Budget
from resources.llm.estimate import estimated_tokens, highest_cost, prompt_tokens
from resources.llm.limits import ModelLimits
from resources.llm.registry import ModelSpec
from resources.llm.reply import Reply, read_reply
from resources.llm.request import ChatRequest
from resources.llm.wire import Json, wire_body

if TYPE_CHECKING:
    from openai import AsyncOpenAI

ATTEMPT_SECONDS = 180.0
"""The longest an attempt may take as a whole: a reply that trickles in never ends by itself."""


async def attempt(
    client: "AsyncOpenAI",
    request: ChatRequest,
    spec: ModelSpec,
    images: ImageStore,
    limits: ModelLimits,
    budget: Budget,
) -> Reply:
    """One try's reply. Raises what the exchange raised, BudgetReached, ProviderDown."""
    import openai

    from resources.llm.errors import ANY_TROUBLE, is_retryable, may_have_cost, pause_asked

    # Its body and its money first: once it has its place it leaves at once.
    body = await make_body(request, spec, images)
    # What nobody limits is not estimated: it is a part of each request's processor time.
    most = 0.0 if budget.limit_usd is None else highest_cost(request, spec)
    tokens = estimated_tokens(request, spec) if spec.tokens_per_minute else 0
    await budget.set_aside(most)
    cost = 0.0
    try:
        async with limits.attempt(tokens) as lease:
            cost = most  # whatever becomes of it from here on, it may be billed
            try:
                reply = await exchange(client, body, lambda: prompt_tokens(request, spec))
            except ANY_TROUBLE as error:
                lease.settle(0)
                if isinstance(error, openai.RateLimitError):
                    limits.throttled(pause_asked(error))
                elif is_retryable(error):
                    limits.lost(lease)
                else:
                    limits.answered()
                cost = most if may_have_cost(error) else 0.0
                raise
            cost = spec.cost(reply.prompt_tokens, reply.completion_tokens)
            limits.answered()
            lease.settle(reply.prompt_tokens + reply.completion_tokens)
            return reply
    finally:
        budget.settle(most, cost)


async def make_body(request: ChatRequest, spec: ModelSpec, images: ImageStore) -> Json:
    """The request's body, pictures in it."""
    if not request.image_ids:
        return wire_body(request, spec, images)
    # Decoding and shrinking pictures takes long enough to hold everybody else up.
    return await asyncio.to_thread(wire_body, request, spec, images)


async def exchange(client: "AsyncOpenAI", body: Json, estimated_prompt: Callable[[], int]) -> Reply:
    """A body over HTTP and its reply. Raises what `errors.ANY_TROUBLE` names."""
    from httpx2 import Response

    # The client's own completions.create would copy and check the body and the reply field by field,
    # which costs more than sending and reading it; the reply is checked by `read_reply`.
    async with asyncio.timeout(ATTEMPT_SECONDS):
        response = await client.post("/chat/completions", cast_to=Response, body=body)
    return read_reply(response.content, estimated_prompt)
