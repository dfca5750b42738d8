"""One attempt at a request: reserve budget, wait for the model's rate limits, then send it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from resources.images.store import ImageStore
from resources.llm.circuit_breaker import CircuitBreaker
from resources.llm.estimate import estimated_tokens, highest_cost, prompt_tokens
from resources.llm.masking import masked
from resources.llm.model_spec import ModelSpec
from resources.llm.rate_headers import pause_until_reset
from resources.llm.rate_limits import ModelLimits
from resources.llm.reply import BadResponse, Reply, answer_in_reasoning_field, read_reply
from resources.llm.request import ChatRequest
from resources.llm.request_body import ImagesRefused, encoded_body
from resources.llm.run_context import RunContext
from resources.llm.watchdog import waits_for
from resources.migrations import StoreError

if TYPE_CHECKING:
    from resources.llm.chat_client import ChatClient


async def attempt(
    client: "ChatClient",
    request: ChatRequest,
    spec: ModelSpec,
    context: RunContext,
    breaker: CircuitBreaker,
    may_send: Callable[[], Awaitable[None]],
) -> Reply:
    """Make one attempt at a request, and return the reply.

    Args:
        client: The client of the model's server.
        request: The request that is sent.
        spec: The entry of its model.
        context: The run, with its images, budget and the limits of the model.
        breaker: The circuit breaker of the server, in this stage and for this kind of request.
        may_send: Called just before sending. Returns once a reply can be stored, and
            raises an error if it cannot.

    Raises:
        BadResponse: The reply is not a completion.
        BudgetReached: The budget does not allow the attempt.
        ProviderDown: The server is given up.
        ImagesRefused: The server refused images while this attempt waited; it is not sent.
        StoreError: The reply could not be stored; the request is not sent.
        Exception: The errors of `ChatClient.post` and `make_body`.
    """
    from resources.llm.errors import ANY_TROUBLE, MAX_WAIT, may_have_cost

    limits, budget = context.limits(spec), context.budget
    context.refused_images.check(request)
    # The body is made before a slot is taken, so that the slot is only held while sending.
    body = await make_body(request, spec, context.images)
    # Estimates take processor time, so they are only made if a limit needs them.
    estimate = 0.0 if budget.limit_usd is None else highest_cost(request, spec)
    tokens = estimated_tokens(request, spec) if spec.tokens_per_minute else 0
    while True:
        cost = 0.0
        reserved = await budget.reserve(spec.name, estimate)
        try:
            async with limits.attempt(tokens, breaker) as settle_tokens:
                # While this attempt waited for a slot, other attempts may have cost
                # more than they had reserved.
                is_enough = reserved >= budget.highest(spec.name, estimate)
                if estimate and not (is_enough and await budget.still_holds()):
                    settle_tokens(0)
                    continue
                try:
                    await may_send()
                    context.refused_images.check(request)
                except (ImagesRefused, StoreError):
                    settle_tokens(0)
                    raise
                # From here on the request may be billed, however it ends.
                cost = reserved
                sent_at = asyncio.get_running_loop().time()
                try:
                    async with breaker.listening():
                        waits_for(f"a reply of {spec.name}")
                        response = await client.post(body)
                    limits.pause(min(pause_until_reset(response.headers), MAX_WAIT))
                    reply = read_reply(
                        response.content, spec.name, lambda: prompt_tokens(request, spec)
                    )
                    reply = answer_in_reasoning_field(reply, spec)
                    used = reply.prompt_tokens, reply.completion_tokens
                except ANY_TROUBLE as error:
                    settle_tokens(0)
                    _learn_from(error, limits, breaker, sent_at)
                    if isinstance(error, BadResponse) and error.billed:
                        cost = spec.cost(*error.billed)
                        budget.billed(spec.name, estimate, cost)
                        raise
                    if not may_have_cost(error):
                        cost = 0.0
                    raise
                cost = spec.cost(*used)
                budget.billed(spec.name, estimate, cost)
                breaker.replied()
                limits.answered(sent_at)
                limits.has_answered = True
                context.refused_images.answered(request)
                settle_tokens(sum(used))
                return masked(reply, spec)
        finally:
            budget.settle(reserved, cost)


def _learn_from(
    error: Exception, limits: ModelLimits, breaker: CircuitBreaker, sent_at: float
) -> None:
    """Report a failed attempt to the rate limits and the circuit breaker."""
    import openai

    from resources.llm.errors import (
        MAX_WAIT,
        failure_kind,
        is_rate_limit,
        is_retryable,
        pause_asked,
        server_error,
    )

    pause: float | None = None
    if isinstance(error, openai.APIStatusError):
        limits.pause(min(pause_until_reset(error.response.headers), MAX_WAIT))
        pause = pause_asked(error)
    if is_rate_limit(error):
        breaker.replied()
        limits.throttled(pause)
    elif is_retryable(error):
        response = server_error(error)
        words = f"{response.status} {response.message}".strip() if response else ""
        breaker.failed(sent_at, words or (str(error) if isinstance(error, BadResponse) else ""))
        if failure_kind(error) == "timeout":
            limits.timed_out(sent_at)
    else:
        breaker.replied()


async def make_body(request: ChatRequest, spec: ModelSpec, images: ImageStore) -> bytes:
    """Encode a request as the body of an HTTP request, with its images as data URLs.

    Args:
        request: The request.
        spec: The entry of its model.
        images: The store with the images.

    Raises:
        RequestTooLarge: The body exceeds the model's limit.
        ImageNotStored: An image is missing in the store.
    """
    as_they_are = request.images_done(spec) == "all"
    if as_they_are and images.are_at_hand(request.image_ids, spec.max_side):
        return encoded_body(request, spec, images)
    # In a thread: decoding and shrinking images would block the event loop.
    return await asyncio.to_thread(encoded_body, request, spec, images)
