"""One try at a request: a place within the model's limits, money set aside, one exchange over HTTP.

What belongs here: what is taken before an attempt and given back after it, and what the limits learn
from how it ends. Asking again is `session.py`'s.
"""

import asyncio
from typing import TYPE_CHECKING

from resources.image_store import ImageStore
from resources.llm.budget import Budget
from resources.llm.estimate import estimated_tokens, highest_cost, prompt_tokens
from resources.llm.limits import ModelLimits
from resources.llm.registry import ModelSpec
from resources.llm.reply import Reply, read_reply
from resources.llm.request import ChatRequest
from resources.llm.wire import wire_body

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

    # What nobody limits is not estimated: it is a part of each request's processor time.
    tokens = estimated_tokens(request, spec) if spec.tokens_per_minute else 0
    async with limits.attempt(tokens) as lease:
        most = 0.0 if budget.limit_usd is None else highest_cost(request, spec)
        await budget.set_aside(most)
        cost = 0.0
        try:
            reply = await exchange(client, request, spec, images)
            cost = spec.cost(reply.prompt_tokens, reply.completion_tokens)
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
        finally:
            budget.settle(most, cost)
        limits.answered()
        lease.settle(reply.prompt_tokens + reply.completion_tokens)
        return reply


async def exchange(
    client: "AsyncOpenAI", request: ChatRequest, spec: ModelSpec, images: ImageStore
) -> Reply:
    """The request over HTTP and its reply. Raises what `errors.ANY_TROUBLE` names."""
    from httpx2 import Response

    if request.image_ids:
        # Decoding and shrinking pictures takes long enough to hold everybody else up.
        body = await asyncio.to_thread(wire_body, request, spec, images)
    else:
        body = wire_body(request, spec, images)
    # The client's own completions.create would copy and check the body and the reply field by field,
    # which costs more than sending and reading it; the reply is checked by `read_reply`.
    async with asyncio.timeout(ATTEMPT_SECONDS):
        response = await client.post("/chat/completions", cast_to=Response, body=body)
    return read_reply(response.content, lambda: prompt_tokens(request, spec))
