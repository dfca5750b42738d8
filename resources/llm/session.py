"""A session: one stage's asking, from a request to its outcome.

What belongs here: the ledger before the provider, one flight per request, second tries, durable
before used, typed failures. One try is `attempt.py`; who works side by side is `gateway.py`.
"""

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from resources.llm.attempt import attempt
from resources.llm.clients import Clients
from resources.llm.flights import Flights
from resources.llm.ledger import Call, Charge
from resources.llm.ledger_writer import LedgerWriter
from resources.llm.limits import ProviderDown
from resources.llm.registry import ModelSpec
from resources.llm.reply import Reply
from resources.llm.request import (
    ChatRequest,
    Completion,
    Failure,
    FailureKind,
    Outcome,
    request_key,
)
from resources.llm.usage import Usage

if TYPE_CHECKING:
    from resources.llm.gateway import Gateway

MAX_ATTEMPTS = 6


class AuthError(RuntimeError):
    """The provider does not accept the key: the run stops, since every further call would fail."""


class Session:
    """The asking side of one stage, for one event loop; entered and left as a block."""

    def __init__(self, gateway: "Gateway", stage: str):
        self.gateway = gateway
        self.stage = stage
        self.usage = Usage()
        self._stack = AsyncExitStack()
        self._in_flight: dict[str, asyncio.Future[Outcome]] = {}

    async def __aenter__(self) -> "Session":
        ledger = self.gateway.ledger
        self._flights = Flights(ledger.path)
        self._stack.callback(self._flights.close)
        self._writer = await self._stack.enter_async_context(LedgerWriter(ledger))
        self._clients = await self._stack.enter_async_context(Clients(self.gateway.offline))
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    async def complete(self, request: ChatRequest) -> Outcome:
        """The outcome of one request; an identical one in flight is joined, not sent again.

        Raises AuthError, BudgetReached: what makes every further request pointless.
        """
        spec = self.gateway.registry.model(request.model)
        canonical = request.canonical(spec)
        key = request_key(canonical)
        if key in self._in_flight:
            outcome = _joined(await asyncio.shield(self._in_flight[key]))
        else:
            outcome = await self._fly(request, spec, canonical, key)
        self.usage.count(outcome)
        if isinstance(outcome, Failure) and outcome.kind == "auth":
            raise AuthError(f"{spec.name}: {outcome.detail}")
        return outcome

    async def _fly(
        self, request: ChatRequest, spec: ModelSpec, canonical: dict[str, object], key: str
    ) -> Outcome:
        """The outcome, which who asks the same meanwhile is given too."""
        landing: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._in_flight[key] = landing
        try:
            async with self._flights.one(key):
                outcome = await self._settle(request, spec, canonical, key)
            landing.set_result(outcome)
            return outcome
        finally:
            del self._in_flight[key]
            # Who had joined is ended by what ended this one.
            landing.cancel()

    async def _settle(
        self, request: ChatRequest, spec: ModelSpec, canonical: dict[str, object], key: str
    ) -> Outcome:
        known = self.gateway.ledger.find([key]).get(key)
        if known:
            return known
        if len(request.image_ids) > spec.max_images:
            n_images = len(request.image_ids)
            return Failure(
                key, "too_long", f"{n_images} images, {spec.name} takes {spec.max_images}."
            )
        return await self._send(request, spec, canonical, key)

    async def _send(
        self, request: ChatRequest, spec: ModelSpec, canonical: dict[str, object], key: str
    ) -> Outcome:
        from resources.llm.errors import (
            ANY_TROUBLE,
            failure_kind,
            is_retryable,
            sentence,
            wait_seconds,
        )

        gateway, started, attempts = self.gateway, time.monotonic(), 0
        client, limits = await self._clients.of(spec), gateway.limits(spec)
        gateway.retries.earn()

        async def keep(reply: Reply) -> Outcome:
            paid = Charge(
                key=key,
                provider=spec.provider,
                model=spec.model,
                prompt_version=request.prompt_version,
                stage=self.stage,
                run=gateway.run,
                via="live",
                finish_reason=reply.finish_reason,
                prompt_tokens=reply.prompt_tokens,
                completion_tokens=reply.completion_tokens,
                cost_usd=spec.cost(reply.prompt_tokens, reply.completion_tokens),
                created_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            )
            seconds = round(time.monotonic() - started, 4)
            entry, outcome = entry_of(paid, reply, canonical, seconds, attempts)
            await self._writer.add(entry)
            return outcome

        def used_up(state: RetryCallState) -> bool:
            return stop_after_attempt(MAX_ATTEMPTS)(state) or not gateway.retries.take()

        retrying = AsyncRetrying(
            stop=used_up, wait=wait_seconds, retry=retry_if_exception(is_retryable), reraise=True
        )
        try:
            async for one in retrying:
                with one:
                    attempts += 1
                    return await attempt(
                        client, request, spec, gateway.images, limits, gateway.budget, keep
                    )
        except (*ANY_TROUBLE, ProviderDown) as error:
            return Failure(key, failure_kind(error), sentence(error, spec))
        raise AssertionError("retrying ends with an outcome or an error")


def entry_of(
    paid: Charge, reply: Reply, canonical: dict[str, object], seconds: float, attempts: int
) -> tuple[Call | Charge, Outcome]:
    """What the ledger keeps of a reply, and its outcome: an answer, or a loss that cost something."""
    if reply.finish_reason == "content_filter" or reply.refusal:
        said = reply.refusal or "The provider's filter withheld the answer."
        return paid, _loss(paid, "refused", said)
    if not reply.text:
        said = f"Empty answer, finished by {reply.finish_reason}."
        return paid, _loss(paid, "bad_response", said)
    call = Call(
        **paid._asdict(), seconds=seconds, attempts=attempts, response=reply.text, request=canonical
    )
    return call, call.completion(cached=False)


def _loss(paid: Charge, kind: FailureKind, said: str) -> Failure:
    return Failure(paid.key, kind, said, paid.prompt_tokens, paid.completion_tokens, paid.cost_usd)


def _joined(outcome: Outcome) -> Outcome:
    """An outcome as it is for who did not pay for it."""
    if isinstance(outcome, Completion):
        return replace(outcome, cached=True)
    return Failure(outcome.key, outcome.kind, outcome.detail)
