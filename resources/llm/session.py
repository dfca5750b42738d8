"""A session: one stage's asking, from a request to its outcome.

What belongs here: the ledger before the provider, one flight per request, second tries, durable
before used, typed failures. One try is `attempt.py`; concurrency is `gateway.py`.
"""

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import replace

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from methods.errors import UserError
from resources.llm.attempt import attempt
from resources.llm.batches import Batches, Wanted
from resources.llm.budget import BudgetReached
from resources.llm.clients import Clients
from resources.llm.estimate import highest_cost
from resources.llm.flights import Flights
from resources.llm.keeping import call_of, charge_of, loss, why_no_answer
from resources.llm.ledger.writer import LedgerWriter
from resources.llm.limits import ProviderDown
from resources.llm.registry import ModelSpec
from resources.llm.reply import Reply
from resources.llm.request import (
    ChatRequest,
    Completion,
    Failure,
    Outcome,
    request_key,
)
from resources.llm.run_context import RunContext
from resources.llm.usage import Usage

MAX_ATTEMPTS = 6


class AuthError(UserError):
    """The provider does not accept the key: the run stops, since every further call would fail."""


class WaitingForBatch(UserError):
    """Requests of a stage are in batches: the stage is to run again when they are back."""


class Waits(Exception):
    """This request has no outcome in this run: it is in a batch, or is to go into one."""


class Session:
    """The asking side of one stage, for one event loop; entered and left as a block."""

    def __init__(self, context: RunContext, stage: str):
        self.context = context
        self.stage = stage
        self.usage = Usage()
        self._stack = AsyncExitStack()
        self._in_flight: dict[str, asyncio.Future[Outcome | None]] = {}
        self._wanted: dict[str, dict[str, Wanted]] = {}
        self._told: list[str] = []
        self._awaited: set[str] = set()
        self._too_dear: BudgetReached | None = None
        self._risks: dict[str, asyncio.Semaphore] = {}

    async def __aenter__(self) -> "Session":
        context = self.context
        self._flights = Flights(context.ledger.path)
        self._stack.callback(self._flights.close)
        self._writer = await self._stack.enter_async_context(LedgerWriter(context.ledger))
        self._clients = await self._stack.enter_async_context(Clients(context.launcher))
        self._batches = Batches(context.registry, context.ledger, self._clients, self._flights)
        self._stack.push_async_callback(self._batches.close)
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    async def complete(self, request: ChatRequest) -> Outcome:
        """The outcome of one request; an identical one in flight is joined, not sent again.

        Raises AuthError, BudgetReached: what makes every further request pointless. Raises Waits,
        which the gateway catches, where the outcome is up to a batch.
        """
        spec = self.context.registry.model(request.model)
        canonical = request.canonical(spec)
        key = request_key(canonical)
        if key in self._in_flight:
            outcome = _joined(await asyncio.shield(self._in_flight[key]))
        else:
            outcome = await self._fly(request, spec, canonical, key)
        if outcome is None:
            raise Waits
        self.usage.count(outcome)
        self.usage.run_cost_usd = self.context.budget.spent_usd
        if isinstance(outcome, Failure) and outcome.kind == "auth":
            raise AuthError(f"{spec.name}: {outcome.detail}")
        return outcome

    def as_asked_before(self, request: ChatRequest) -> ChatRequest:
        """`request`, or its earlier form where only that was answered or is in a batch.

        What was paid for under a superseded version of a prompt is not asked again.
        """
        earlier = request.earlier()
        if earlier is None:
            return request
        spec = self.context.registry.model(request.model)
        key, earlier_key = (request_key(each.canonical(spec)) for each in (request, earlier))
        answered = self.context.ledger.find([key, earlier_key])
        if key in answered:
            return request
        asked = earlier_key in answered or self._batches.state.item(earlier_key)
        return earlier if asked else request

    async def hand_over(self, n_waiting: int) -> bool:
        """Put what is wanted into batches, when all that can be done without them is done.

        Whether the work is to be done again at once, since another process had answered all of it.
        Raises WaitingForBatch if `n_waiting` pieces of work wait for one, BudgetReached if not all of
        them fitted, BatchError.
        """
        for name, wanted in self._wanted.items():
            spec = self.context.registry.model(name)
            self._awaited |= await self._batches.hand_over(
                spec, self.stage, self.context.run, list(wanted.values()), self.context.images
            )
        if self._too_dear:
            raise self._too_dear
        if n_waiting and not self._awaited:
            return True
        if n_waiting:
            self._batches.state.wait(self.context.run, self._awaited)
            raise WaitingForBatch(
                f"{self.stage} waits for batches with {n_waiting} of its pieces of work. The sensor "
                "model_batches runs it again when they are back; without the daemon, run it again "
                "later."
            )
        if self._told:
            self._batches.state.told(self._told)
        return False

    async def _fly(
        self, request: ChatRequest, spec: ModelSpec, canonical: dict[str, object], key: str
    ) -> Outcome | None:
        """The outcome, which who asks the same meanwhile is given too; None where it is to wait."""
        landing: asyncio.Future[Outcome | None] = asyncio.get_running_loop().create_future()
        self._in_flight[key] = landing
        try:
            async with self._flights.one(key):
                outcome = await self._settle(request, spec, canonical, key)
            landing.set_result(outcome)
            return outcome
        except Exception as error:
            # Who had joined is ended by what ended this one; nobody may have.
            landing.set_exception(error)
            landing.exception()
            raise
        finally:
            del self._in_flight[key]
            landing.cancel()

    async def _settle(
        self, request: ChatRequest, spec: ModelSpec, canonical: dict[str, object], key: str
    ) -> Outcome | None:
        ledger, state = self.context.ledger, self._batches.state
        known = ledger.find([key]).get(key)
        item = None if known else state.item(key)
        if item and item.state == "waiting":
            await self._batches.look_after(item.batch)
            known, item = ledger.find([key]).get(key), state.item(key)
        if known:
            return known
        if item and item.state == "waiting":
            self._awaited.add(item.batch)
            return None
        if item and item.state == "failed":
            if item.kind == "auth":
                state.told([key])  # It stops the stage, and is not to stop the next one too.
            self._told.append(key)
            return Failure(key, item.kind or "expired", item.detail or "")
        if too_many := too_many_images(request, spec, key):
            return too_many
        if spec.mode == "batch":
            wanted = self._wanted.setdefault(spec.name, {})
            if key not in wanted:
                try:
                    self.context.budget.spend(highest_cost(request, spec, "batch"))
                    wanted[key] = Wanted(request, canonical, key)
                except BudgetReached as error:
                    # What does fit is handed over all the same.
                    self._too_dear = error
            return None
        outcome = await self._send(request, spec, canonical, key)
        if item:
            # It was to go into a batch again, and was asked live instead.
            self._told.append(key)
        return outcome

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

        context, started, attempts = self.context, time.monotonic(), 0
        client, limits = await self._clients.of(spec), context.limits(spec)
        context.retries.earn()

        async def keep(reply: Reply) -> Outcome:
            charge = charge_of(
                reply,
                spec,
                key=key,
                prompt_version=request.prompt_version,
                stage=self.stage,
                run=context.run,
                via="live",
            )
            why = why_no_answer(reply)
            if why:
                await self._writer.add(charge)
                return loss(charge, why)
            seconds = round(time.monotonic() - started, 4)
            call = call_of(charge, reply, canonical, seconds, attempts)
            await self._writer.add(call)
            return call.completion(cached=False)

        def used_up(state: RetryCallState) -> bool:
            return stop_after_attempt(MAX_ATTEMPTS)(state) or not context.retries.take()

        retrying = AsyncRetrying(
            stop=used_up, wait=wait_seconds, retry=retry_if_exception(is_retryable), reraise=True
        )
        try:
            async for one in retrying:
                with one:
                    attempts += 1
                    async with self._at_risk(spec):
                        reply = await attempt(
                            client, request, spec, context.images, limits, context.budget
                        )
                        return await keep(reply)
        except (*ANY_TROUBLE, ProviderDown) as error:
            return Failure(key, failure_kind(error), sentence(error, spec))
        raise AssertionError("retrying ends with an outcome or an error")

    def _at_risk(self, spec: ModelSpec) -> asyncio.Semaphore:
        """Places for what a crash can cost: what is in flight, and as much again on its way to disk.

        An answer gives its place in flight up at once, so that no disk slows the asking down; a disk
        that hangs stops it.
        """
        if spec.name not in self._risks:
            self._risks[spec.name] = asyncio.Semaphore(2 * spec.concurrency)
        return self._risks[spec.name]


def too_many_images(request: ChatRequest, spec: ModelSpec, key: str) -> Failure | None:
    """The failure of a request with more images than the model takes: it need not be sent."""
    n_images = len(request.image_ids)
    if n_images <= spec.max_images:
        return None
    return Failure(key, "too_long", f"{n_images} images, {spec.name} takes {spec.max_images}.")


def _joined(outcome: Outcome | None) -> Outcome | None:
    """An outcome as it is for who did not pay for it."""
    if isinstance(outcome, Completion):
        return replace(outcome, cached=True)
    return outcome and Failure(outcome.key, outcome.kind, outcome.detail)
