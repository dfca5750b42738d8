"""One attempt at a request: reserve budget and a place within the model's limits, then send it.

What belongs here: what is reserved before an attempt and released after it, and what the limits learn
from how it ends. Retries are in `model_calls.py`.
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
"""The longest an attempt may take as a whole: a reply that trickles in would never time out."""


async def attempt(
    client: "AsyncOpenAI",
    request: ChatRequest,
    spec: ModelSpec,
    images: ImageStore,
    limits: ModelLimits,
    budget: Budget,
) -> Reply:
    """The reply to one attempt. Raises what `exchange` raises, BudgetReached, ProviderDown."""
    import openai

    from resources.llm.errors import ANY_TROUBLE, is_retryable, may_have_cost, pause_asked

    # The body is made before the place is taken, so that a place is held only while sending.
    body = await make_body(request, spec, images)
    # Estimates cost processor time on each request, so they are made only where a limit needs them.
    most = 0.0 if budget.limit_usd is None else highest_cost(request, spec)
    tokens = estimated_tokens(request, spec) if spec.tokens_per_minute else 0
    await budget.reserve(most)
    cost = 0.0
    try:
        async with limits.attempt(tokens) as reservation:
            cost = most  # from here on the request may be billed, however it ends
            try:
                reply = await exchange(client, body, lambda: prompt_tokens(request, spec))
            except ANY_TROUBLE as error:
                reservation.settle(0)
                if isinstance(error, openai.RateLimitError):
                    limits.throttled(pause_asked(error))
                elif is_retryable(error):
                    limits.lost(reservation)
                else:
                    limits.answered()
                cost = most if may_have_cost(error) else 0.0
                raise
            cost = spec.cost(reply.prompt_tokens, reply.completion_tokens)
            limits.answered()
            reservation.settle(reply.prompt_tokens + reply.completion_tokens)
            return reply
    finally:
        budget.settle(most, cost)


async def make_body(request: ChatRequest, spec: ModelSpec, images: ImageStore) -> Json:
    """The request's body, with its images inside."""
    if not request.image_ids:
        return wire_body(request, spec, images)
    # In a thread: decoding and shrinking images would block the event loop.
    return await asyncio.to_thread(wire_body, request, spec, images)


async def exchange(client: "AsyncOpenAI", body: Json, estimated_prompt: Callable[[], int]) -> Reply:
    """Send a body and read the reply. Raises the errors in `errors.ANY_TROUBLE`."""
    from httpx2 import Response

    # The client's completions.create copies and checks the body and the reply field by field, which
    # takes longer than sending and reading it; `read_reply` checks the reply.
    async with asyncio.timeout(ATTEMPT_SECONDS):
        response = await client.post("/chat/completions", cast_to=Response, body=body)
    return read_reply(response.content, estimated_prompt)
