"""The model calls of one stage: from a request to its outcome.

What belongs here: looking an answer up in the ledger, sending each request once at a time, retrying,
committing an answer before it is returned, typed failures. One attempt over HTTP is `attempt.py`;
working on many items at once is `gateway.py`.
"""

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import replace

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from methods.errors import UserError
from resources.llm.attempt import attempt
from resources.llm.batches import Batches, PendingRequest
from resources.llm.budget import BudgetReached
from resources.llm.clients import Clients
from resources.llm.estimate import highest_cost
from resources.llm.ledger.writer import LedgerWriter
from resources.llm.ledger_entries import (
    call_from_reply,
    charge_from_reply,
    paid_failure,
    why_no_answer,
)
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
from resources.llm.request_locks import RequestLocks
from resources.llm.run_context import RunContext
from resources.llm.usage import Usage

MAX_ATTEMPTS = 6


class AuthError(UserError):
    """The provider does not accept the key: the run stops, since every further call would fail."""


class WaitingForBatch(UserError):
    """Requests of a stage are in batches: the stage runs again when the batches have ended."""


class BatchPending(Exception):
    """A request has no outcome in this run, because it is in a batch or will be put into one."""


class ModelCalls:
    """The model calls of one stage, within one event loop; an async context manager."""

    def __init__(self, context: RunContext, stage: str):
        self.context = context
        self.stage = stage
        self.usage = Usage()
        self._stack = AsyncExitStack()
        self._in_flight: dict[str, asyncio.Future[Outcome | None]] = {}
        self._pending: dict[str, dict[str, PendingRequest]] = {}
        self._reported: list[str] = []
        self._awaited: set[str] = set()
        self._budget_error: BudgetReached | None = None
        self._unsaved: dict[str, asyncio.Semaphore] = {}

    async def __aenter__(self) -> "ModelCalls":
        context = self.context
        self._locks = RequestLocks(context.ledger.path)
        self._stack.callback(self._locks.close)
        self._writer = await self._stack.enter_async_context(LedgerWriter(context.ledger))
        self._clients = await self._stack.enter_async_context(Clients(context.launcher))
        self._batches = Batches(context.registry, context.ledger, self._clients, self._locks)
        self._stack.push_async_callback(self._batches.close)
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    async def complete(self, request: ChatRequest) -> Outcome:
        """The outcome of one request. An identical request in flight is awaited, not sent again.

        Raises AuthError and BudgetReached, which end the stage, and BatchPending, which the gateway
        catches, where the outcome will come from a batch.
        """
        spec = self.context.registry.model(request.model)
        canonical = request.canonical(spec)
        key = request_key(canonical)
        if key in self._in_flight:
            outcome = _as_cached(await asyncio.shield(self._in_flight[key]))
        else:
            outcome = await self._complete_once(request, spec, canonical, key)
        if outcome is None:
            raise BatchPending
        self.usage.count(outcome)
        self.usage.run_cost_usd = self.context.budget.spent_usd
        if isinstance(outcome, Failure) and outcome.kind == "auth":
            raise AuthError(f"{spec.name}: {outcome.detail}")
        return outcome

    def prefer_superseded(self, request: ChatRequest) -> ChatRequest:
        """The request, or its earlier version if only that was answered or is in a batch.

        So an answer that was paid for under a superseded version of a prompt is not paid for again.
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

    async def submit_batches(self, n_waiting: int) -> bool:
        """Submit the pending requests in batches, once nothing else can be done without them.

        `n_waiting` is the number of items that raised BatchPending. Returns True if the stage should
        run again at once, because another process has answered all of them meanwhile. Raises
        WaitingForBatch if items wait for a batch, BudgetReached if the budget did not allow all
        requests, BatchError.
        """
        for name, pending in self._pending.items():
            spec = self.context.registry.model(name)
            self._awaited |= await self._batches.submit(
                spec, self.stage, self.context.run, list(pending.values()), self.context.images
            )
        if self._budget_error:
            raise self._budget_error
        if n_waiting and not self._awaited:
            return True
        if n_waiting:
            self._batches.state.wait(self.context.run, self._awaited)
            raise WaitingForBatch(
                f"{self.stage} waits for batches with {n_waiting} of its items. The sensor "
                "model_batches runs it again when they have ended; without the daemon, run it again "
                "later."
            )
        if self._reported:
            self._batches.state.reported(self._reported)
        return False

    async def _complete_once(
        self, request: ChatRequest, spec: ModelSpec, canonical: dict[str, object], key: str
    ) -> Outcome | None:
        """The outcome, shared with identical requests made meanwhile; None if a batch is pending."""
        result: asyncio.Future[Outcome | None] = asyncio.get_running_loop().create_future()
        self._in_flight[key] = result
        try:
            async with self._locks.hold(key):
                outcome = await self._resolve(request, spec, canonical, key)
            result.set_result(outcome)
            return outcome
        except Exception as error:
            # Identical requests end with the same error. Retrieving it here keeps asyncio from
            # logging it as never retrieved where there are none.
            result.set_exception(error)
            result.exception()
            raise
        finally:
            del self._in_flight[key]
            result.cancel()

    async def _resolve(
        self, request: ChatRequest, spec: ModelSpec, canonical: dict[str, object], key: str
    ) -> Outcome | None:
        """The outcome from the ledger, a batch or the provider; None if a batch is pending."""
        ledger, state = self.context.ledger, self._batches.state
        known = ledger.find([key]).get(key)
        item = None if known else state.item(key)
        if item and item.state == "waiting":
            await self._batches.poll(item.batch)
            known, item = ledger.find([key]).get(key), state.item(key)
        if known:
            return known
        if item and item.state == "waiting":
            self._awaited.add(item.batch)
            return None
        if item and item.state == "failed":
            if item.kind == "auth":
                state.reported([key])  # It stops this stage and must not stop the next one, too.
            self._reported.append(key)
            return Failure(key, item.kind or "expired", item.detail or "")
        if too_many := too_many_images(request, spec, key):
            return too_many
        if spec.mode == "batch":
            pending = self._pending.setdefault(spec.name, {})
            if key not in pending:
                try:
                    self.context.budget.spend(highest_cost(request, spec, "batch"))
                    pending[key] = PendingRequest(request, canonical, key)
                except BudgetReached as error:
                    # The requests that fit into the budget are submitted all the same.
                    self._budget_error = error
            return None
        outcome = await self._send(request, spec, canonical, key)
        if item:
            # It was due for another batch and was sent live instead.
            self._reported.append(key)
        return outcome

    async def _send(
        self, request: ChatRequest, spec: ModelSpec, canonical: dict[str, object], key: str
    ) -> Outcome:
        """The outcome of sending the request to the provider, with retries."""
        from resources.llm.errors import (
            ANY_TROUBLE,
            failure_kind,
            is_retryable,
            sentence,
            wait_seconds,
        )

        context, started, attempts = self.context, time.monotonic(), 0
        client, limits = await self._clients.of(spec), context.limits(spec)
        context.retries.add()

        async def keep(reply: Reply) -> Outcome:
            charge = charge_from_reply(
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
                return paid_failure(charge, why)
            seconds = round(time.monotonic() - started, 4)
            call = call_from_reply(charge, reply, canonical, seconds, attempts)
            await self._writer.add(call)
            return call.completion(cached=False)

        def used_up(state: RetryCallState) -> bool:
            return stop_after_attempt(MAX_ATTEMPTS)(state) or not context.retries.take()

        retrying = AsyncRetrying(
            stop=used_up, wait=wait_seconds, retry=retry_if_exception(is_retryable), reraise=True
        )
        try:
            async for retry in retrying:
                with retry:
                    attempts += 1
                    async with self._unsaved_place(spec):
                        reply = await attempt(
                            client, request, spec, context.images, limits, context.budget
                        )
                        return await keep(reply)
        except (*ANY_TROUBLE, ProviderDown) as error:
            return Failure(key, failure_kind(error), sentence(error, spec))
        raise AssertionError("retrying ends with an outcome or an error")

    def _unsaved_place(self, spec: ModelSpec) -> asyncio.Semaphore:
        """Limits the answers that a crash can lose: those in flight, and as many being committed.

        An answer leaves the in-flight limit as soon as it arrives, so a slow disk does not reduce
        concurrency; a disk that hangs stops new requests.
        """
        if spec.name not in self._unsaved:
            self._unsaved[spec.name] = asyncio.Semaphore(2 * spec.concurrency)
        return self._unsaved[spec.name]


def too_many_images(request: ChatRequest, spec: ModelSpec, key: str) -> Failure | None:
    """The failure of a request with more images than the model takes; such a request is not sent."""
    n_images = len(request.image_ids)
    if n_images <= spec.max_images:
        return None
    return Failure(key, "too_long", f"{n_images} images, {spec.name} takes {spec.max_images}.")


def _as_cached(outcome: Outcome | None) -> Outcome | None:
    """The outcome for an identical request that was not sent itself: it costs nothing."""
    if isinstance(outcome, Completion):
        return replace(outcome, cached=True)
    return outcome and Failure(outcome.key, outcome.kind, outcome.detail)
