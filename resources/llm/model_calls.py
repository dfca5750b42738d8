"""The model calls of one stage, with retries: from a request to its outcome."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AsyncExitStack
from contextvars import ContextVar
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from methods.errors import UnfinishedStep, UserError
from resources.images.store import ImageNotStored
from resources.llm.attempt import attempt
from resources.llm.batches import BatchError, Batches
from resources.llm.budget import BudgetReached
from resources.llm.canary import (
    FIRST_RESULTS,
    HOPELESS,
    Canaries,
    Canary,
    Loss,
    ModelGivenUp,
    PromptGivenUp,
)
from resources.llm.circuit_breaker import CircuitBreaker, ProviderDown
from resources.llm.clients import Clients, ProxyNotSupported
from resources.llm.estimate import highest_cost
from resources.llm.interruption import GRACE_SECONDS, finish_sent
from resources.llm.ledger import Call, Charge
from resources.llm.ledger.batch_state import BatchItem
from resources.llm.ledger.calls import outcome_of
from resources.llm.ledger.writer import LedgerWriter
from resources.llm.ledger_entries import LedgerRequest, entry_from_reply, failed_entry
from resources.llm.masking import mask
from resources.llm.model_spec import ModelSpec
from resources.llm.reply import BadResponse, Reply
from resources.llm.request import LENGTH_KINDS, PASSING, ChatRequest, Failure, Outcome, as_cached
from resources.llm.request_body import ImagesRefused, RequestTooLarge, unsendable
from resources.llm.request_keys import KeyedRequest, RequestKeys
from resources.llm.request_locks import RequestLocks
from resources.llm.run_context import RunContext
from resources.llm.store_calls import StoreCalls
from resources.llm.usage import Usage

R = TypeVar("R")
_LOG = logging.getLogger(__name__)

_LEDGER_ONLY: ContextVar[bool] = ContextVar("_LEDGER_ONLY", default=False)
"""Whether the current calls may only use replies of the ledger (`ModelCalls.from_ledger`)."""
_CANDIDATES: ContextVar[frozenset[str]] = ContextVar("_CANDIDATES", default=frozenset())
"""The candidates that the current calls are about (`ModelCalls.set_candidates`)."""
LOOK_UPS_AT_ONCE = 8
"""Concurrent look-ups in a ledger on a database server. Each one uses its own session."""


class AuthError(UserError):
    """The provider does not accept the key: the run stops, since every further call would fail."""


class WaitingForBatch(UserError, UnfinishedStep):
    """Requests of a stage are in batches: the stage runs again when the batches have ended."""


class BatchPending(UnfinishedStep):
    """A request has no outcome in this run, because it is in a batch or will be put into one."""


class NotInLedger(Exception):
    """A request would be sent, but only replies of the ledger may be used."""


async def all_of(work: Iterable[Awaitable[R]]) -> list[R]:
    """Await all calls and return their results in order. If a request is in a batch, the other calls
    still run, so that one batch gets all requests. Any other error is raised before BatchPending.
    """
    done = await asyncio.gather(*work, return_exceptions=True)
    errors = [result for result in done if isinstance(result, BaseException)]
    for error in sorted(errors, key=lambda error: isinstance(error, BatchPending)):
        raise error
    return [result for result in done if not isinstance(result, BaseException)]


class ModelCalls:
    """The model calls of one stage, within one event loop; an async context manager."""

    def __init__(self, context: RunContext, stage: str, trials: Canaries):
        self.context = context
        self.stage = stage
        self.trials = trials
        self.usage = Usage(stage=stage)
        self._stack = AsyncExitStack()
        self._in_flight: dict[str, asyncio.Future[Outcome | None]] = {}
        self._pending: dict[str, dict[str, KeyedRequest]] = {}
        self._reported: list[str] = []
        self._awaited: set[str] = set()
        self._budget_error: BudgetReached | None = None
        self._unsaved: dict[str, asyncio.Semaphore] = {}
        self._readings: dict[str, bool] = {}
        self._breakers: dict[tuple[str, bool], CircuitBreaker] = {}
        self._refused_keys: Counter[str] = Counter()
        self._is_ending = False

    async def __aenter__(self) -> "ModelCalls":
        context = self.context
        self._keys = RequestKeys(context.registry, context.ledger, self.stage)
        self._locks = RequestLocks(context.ledger.path)
        self._stack.callback(self._locks.close)
        self._look_ups = StoreCalls(context.ledger.may_wait, LOOK_UPS_AT_ONCE)
        self._stack.callback(self._look_ups.close)
        self._writer = await self._stack.enter_async_context(LedgerWriter(context.ledger))
        self._clients = await self._stack.enter_async_context(Clients(context.launcher))
        self._batches = Batches(context.registry, context.ledger, self._clients, self._locks)
        self._stack.push_async_callback(self._batches.close)
        return self

    async def __aexit__(self, *error: object) -> None:
        try:
            self._keep_readings()
        finally:
            await self._stack.aclose()

    def foresee(self, answer_key: str | None, request: Callable[[], ChatRequest]) -> None:
        """Count a request that other answers may make necessary. Only a dry run counts it
        (`dry_run.py`).

        Args:
            answer_key: The key of the request that was answered.
            request: Makes the request.
        """

    def _keep_readings(self) -> None:
        """Record in the ledger which answers could not be parsed, and which can be parsed now."""
        if not self._readings:
            return
        ledger = self.context.ledger
        before = ledger.unread(self.stage)
        parseable = {key for key, was_read in self._readings.items() if was_read}
        ledger.mark_read(before & parseable, parseable=True)
        ledger.mark_read(self._readings.keys() - parseable - before, parseable=False)

    async def complete(self, request: ChatRequest, *, can_be_shorter: bool = False) -> Outcome:
        """Get the outcome of one request, and count it as a result of its model (`canary.py`).

        Args:
            request: The request.
            can_be_shorter: Whether the caller sends a shorter request after a failure of LENGTH_KINDS.
                Such a failure is not counted.

        Raises:
            ModelGivenUp: The first results of the model all failed.
            Exception: The errors of `outcome_of`.
        """
        async with self.trial(request) as trial:
            outcome = await self.outcome_of(request)
            if not isinstance(outcome, Failure):
                self.count_result(request, None)
            elif can_be_shorter and outcome.kind in LENGTH_KINDS:
                trial.pass_over()
            else:
                self.count_result(request, (outcome.kind, outcome.detail))
        return outcome

    async def from_ledger(self, work: Awaitable[R]) -> R | None:
        """Await calls that may only use replies of the ledger.

        Returns:
            The result of `work`; None if one of its requests would be sent.
        """
        before = _LEDGER_ONLY.set(True)
        try:
            return await work
        except NotInLedger:
            return None
        finally:
            _LEDGER_ONLY.reset(before)

    def set_candidates(self, candidates: frozenset[str]) -> None:
        """Set the candidates whose answers the next calls of this task are about (`canary.py`)."""
        _CANDIDATES.set(candidates)

    def trial(self, request: ChatRequest) -> Canary:
        """Return the canary of a request's model. A caller that makes one result of several calls
        enters it as a context manager.
        """
        return self.trials.canary(
            self.context.registry.model(request.model), request.prompt_version
        )

    def count_result(self, request: ChatRequest, loss: Loss | None) -> None:
        """Count a result of a model.

        A refused request is a success of its model. `text_only` and `too_long` are not counted, because
        they say nothing about requests without images or shorter ones: the long answers of one
        candidate must not stop a judge. Requests that were not sent are not counted, either.

        Args:
            request: The request.
            loss: The reason of the failure; None for a success.

        Raises:
            ModelGivenUp: The first results of the model all failed: the stage ends.
            PromptGivenUp: The first results with this prompt all failed, and prompts are tried
                separately.
        """
        trial = self.trial(request)
        kind = loss[0] if loss else None
        if kind in ("text_only", "too_long", "given_up"):
            trial.pass_over()
            return
        if not trial.add(None if kind == "refused" else loss, _candidates_of(request)):
            return
        assert trial.given_up is not None
        of_prompt = trial.is_of_prompt(loss)
        if not of_prompt:
            self.trials.give_up(self.context.registry.model(request.model), trial.given_up)
        if not self.trials.apart:
            # Failures that this run has reported must not stop the next run, too.
            self._batches.state.delete_reported(self._reported)
            self._batches.state.delete_all_reported(self.stage, HOPELESS)
            if of_prompt:
                raise PromptGivenUp(trial.given_up)
            raise ModelGivenUp(trial.given_up, passing=loss is not None and loss[0] in PASSING)

    async def outcome_of(self, request: ChatRequest) -> Outcome:
        """Return the outcome of one request. An identical request in flight is awaited, not sent again.

        If models are isolated from each other (`trials.apart`), a refused key only
        ends the requests of its model.

        Raises:
            AuthError: The provider refuses the key; the stage ends.
            BudgetReached: The budget is used up; the stage ends.
            BatchPending: The outcome will come from a batch; the gateway catches this.
            NotInLedger: The request would be sent within `from_ledger`.
        """
        keyed = self._keys.keyed(request)
        spec = keyed.spec
        # Checked before identical requests in flight, which may be sent.
        if (
            _LEDGER_ONLY.get()
            and not unsendable(request, spec, keyed.key)
            and await self._look_ups.call(lambda: self._kept(keyed.key)) is None
        ):
            raise NotInLedger
        if keyed.key in self._in_flight:
            outcome = as_cached(await asyncio.shield(self._in_flight[keyed.key]))
        else:
            outcome = await self._complete_once(keyed)
        if outcome is None:
            raise BatchPending
        self.usage.count(outcome, spec.name)
        self.usage.run_cost_usd = self.context.budget.spent_usd
        if not isinstance(outcome, Failure):
            self._refused_keys[spec.name] = 0
        elif outcome.kind == "auth" and self._is_refused_key(spec):
            refused = f"{spec.name}: {outcome.detail}"
            if not self.trials.apart:
                raise AuthError(refused)
            self.trials.give_up(spec, refused)
        return outcome

    def _is_refused_key(self, spec: ModelSpec) -> bool:
        """Tell whether every further request would fail because of the key or the account.

        If the key has worked in this run, one such error only fails its request. FIRST_RESULTS of these
        errors in a row count as a refused key.
        """
        self._refused_keys[spec.name] += 1
        has_worked = self.context.limits(spec).has_answered
        return not has_worked or self._refused_keys[spec.name] >= FIRST_RESULTS

    def count_reading(self, key: str, *, parseable: bool) -> None:
        """Count whether an answer, or one of its repairs, could be parsed. The ledger is updated at the
        end of the stage in one transaction.

        Args:
            key: The key of the request.
            parseable: Whether an answer could be parsed.
        """
        self._readings[key] = parseable
        self.usage.unread += not parseable

    def _kept(self, key: str) -> Outcome | None:
        """Return the reply that the ledger stores for a request, or None."""
        return self.context.ledger.find([key]).get(key)

    async def _look_up(self, key: str) -> tuple[Outcome | None, BatchItem | None]:
        """Look up the reply to a request in the ledger, or else the item of the request in a batch."""

        def looked_up() -> tuple[Outcome | None, BatchItem | None]:
            stored = self._kept(key)
            return stored, None if stored else self._batches.state.item(key)

        return await self._look_ups.call(looked_up)

    async def submit_batches(self, n_waiting: int) -> bool:
        """Submit the pending requests in batches, once nothing else can be done without them.

        Args:
            n_waiting: The number of items that raised BatchPending.

        Returns:
            True if the items that wait must be worked on again at once: another process has answered
            all requests, or the batch of a model that is isolated from others could not be submitted.

        Raises:
            WaitingForBatch: Items wait for a batch.
            BudgetReached: The budget did not allow all requests.
            BatchError: A batch could not be submitted.
        """
        is_refused = False
        for name, pending in self._pending.items():
            spec = self.context.registry.model(name)
            try:
                self._awaited |= await self._batches.submit(
                    spec, self.stage, self.context.run, list(pending.values()), self.context.images
                )
            except BatchError as error:
                if not self.trials.apart:
                    raise
                self.trials.give_up(spec, str(error))
                is_refused = True
        if self._budget_error:
            raise self._budget_error
        if is_refused or (n_waiting and not self._awaited):
            return True
        if n_waiting:
            self._batches.state.wait(self.context.run, self._awaited)
            raise WaitingForBatch(
                f"{self.stage} waits for batches with {n_waiting} of its items. When they have ended, "
                "the sensor model_batches continues a run of the UI or of vlm-loom run. Run vlm-loom "
                "build again yourself, and any run where Dagster's daemon does not run."
            )
        if self._reported:
            self._batches.state.delete_reported(self._reported)
        return False

    async def _complete_once(self, keyed: KeyedRequest) -> Outcome | None:
        """Resolve a request and share its outcome with identical ones; None if it is in a batch."""
        result: asyncio.Future[Outcome | None] = asyncio.get_running_loop().create_future()
        self._in_flight[keyed.key] = result
        try:
            async with self._locks.hold(keyed.key):
                outcome = await self._resolve(keyed)
            result.set_result(outcome)
            return outcome
        except Exception as error:
            # Identical requests end with the same error. If there are none, asyncio would log that the
            # error was never retrieved: it is retrieved here.
            result.set_exception(error)
            result.exception()
            raise
        finally:
            del self._in_flight[keyed.key]
            result.cancel()

    async def _resolve(self, keyed: KeyedRequest) -> Outcome | None:
        """Get the outcome from the ledger, a batch or the provider; None if a batch is pending."""
        request, spec, _, key = keyed
        state = self._batches.state
        stored, item = await self._look_up(key)
        trouble = ""
        if item and item.state == "waiting":
            try:
                await self._batches.poll(item.batch)
            except BatchError as error:
                if not self.trials.apart:
                    raise
                trouble = str(error)
                self.trials.give_up(spec, trouble)
            stored, item = await self._look_up(key)
        if stored:
            return stored
        if item and item.state == "waiting" and trouble:
            return Failure(key, "given_up", trouble)
        if item and item.state == "waiting":
            self._awaited.add(item.batch)
            return None
        if item and item.state == "failed":
            if item.kind == "auth":
                state.delete_reported(
                    [item.key]
                )  # It stops this stage, and must not stop the next one.
            self._reported.append(item.key)
            return Failure(key, item.kind or "expired", item.detail or "")
        if not_sent := unsendable(request, spec, key):
            return not_sent
        trial = self.trials.canary(spec, request.prompt_version)
        if why := trial.reason_not_to_ask(_candidates_of(request)):
            return Failure(key, "given_up", why)
        if spec.mode == "batch":
            pending = self._pending.setdefault(spec.name, {})
            if key not in pending:
                try:
                    estimate = highest_cost(request, spec, "batch")
                    await self.context.budget.spend(
                        self.context.budget.highest(spec.name, estimate)
                    )
                    pending[key] = keyed
                except BudgetReached as error:
                    # The requests that fit into the budget are still submitted.
                    self._budget_error = error
            return None
        outcome = await self._send(keyed)
        if item:
            # The request was due for another batch, and was sent live instead.
            self._reported.append(item.key)
        return outcome

    async def _send(self, keyed: KeyedRequest) -> Outcome:
        """Send the request to the provider, with retries, and return its outcome."""
        from resources.llm.errors import (
            ANY_TROUBLE,
            failure_kind,
            forbids_request,
            is_about_schema,
            is_retryable,
            sentence,
            waits,
            why,
        )

        request, spec, canonical, key = keyed
        context, started, attempts, is_sent = self.context, time.monotonic(), 0, False
        trial = self.trials.canary(spec, request.prompt_version)
        try:
            client = await self._clients.client(spec)
        except ProxyNotSupported as error:
            return Failure(key, "unreachable", str(error))
        limits, breaker = context.limits(spec), self._breaker(keyed)
        sent = LedgerRequest(
            key, canonical, request.prompt_version, self.stage, context.run, "live"
        )

        async def keep(entry: Call | Charge) -> Outcome:
            await self._writer.add(entry)
            return outcome_of(entry, cached=False)

        def used_up(state: RetryCallState) -> bool:
            return stop_after_attempt(spec.attempts)(state) or trial.given_up is not None

        def may_pass(error: BaseException) -> bool:
            # Until the server has answered once, it may refuse every request. Then only the first
            # attempt is retried: other requests will show whether the server refuses all.
            is_first = attempts == 1 and not limits.has_answered
            return is_retryable(error) or (is_first and forbids_request(error))

        async def answer() -> Reply:
            nonlocal attempts
            attempts += 1
            self.usage.sent_again += attempts > 1
            fitting = context.refused_schemas.fitting(request)
            try:
                reply = await attempt(client.chat, fitting, spec, context, breaker, may_send)
            except ANY_TROUBLE as error:
                self.usage.failed_attempts += 1
                kind = failure_kind(error)
                self.usage.timeouts += kind == "timeout"
                if kind == "text_only":
                    # Recorded at once, so that the next waiting request is not sent in vain.
                    context.refused_images.add(request, why(error, spec, attempts))
                self.usage.last_error = why(error, spec, attempts)
                is_first = spec.structured_output is None and fitting.schema is not None
                if not (is_first and is_about_schema(error)):
                    raise
            else:
                self.usage.without_schema += fitting is not request
                self.usage.last_error = ""
                return reply
            # The server does not accept this schema: send the request without it.
            context.refused_schemas.add(request)
            return await answer()

        async def may_send() -> None:
            nonlocal is_sent
            await self._writer.usable()
            is_sent = True

        async def answer_and_keep() -> Outcome:
            reply = await answer()
            seconds = round(time.monotonic() - started, 4)
            return await keep(entry_from_reply(reply, spec, sent, seconds, attempts))

        async def once() -> Outcome:
            nonlocal is_sent
            is_sent = False
            async with self._unsaved_place(spec):
                return await finish_sent(answer_and_keep(), lambda: is_sent, self._tell_of_wait)

        retrying = AsyncRetrying(
            stop=used_up, wait=waits(spec), retry=retry_if_exception(may_pass), reraise=True
        )
        try:
            return await retrying(once)
        except ImageNotStored as error:
            return Failure(key, "no_image", str(error))
        except ImagesRefused as error:
            return Failure(key, "text_only", str(error))
        except RequestTooLarge as error:
            return Failure(key, "too_long", str(error))
        except (*ANY_TROUBLE, ProviderDown) as error:
            if isinstance(error, BadResponse) and error.billed:
                body, detail = mask(error.body, spec), sentence(error, spec)
                lost = failed_entry("bad_response", detail, spec, sent, error.billed, body)
                return await keep(lost)
            # If the server answers other requests, it refuses this one for its content.
            is_filter = limits.has_answered and forbids_request(error)
            kind = "refused" if is_filter else failure_kind(error)
            detail = why(error, spec, attempts)
            # A refused key ends the stage with a message. It is not stored first, as other requests
            # would be sent in the meantime.
            if kind != "auth":
                await self._writer.add(failed_entry(kind, detail, spec, sent))
            return Failure(key, kind, detail)

    def _tell_of_wait(self) -> None:
        """Log, once, that the stage ends and waits for replies."""
        if not self._is_ending:
            self._is_ending = True
            text = (
                f"{self.stage} ends. It waits up to {GRACE_SECONDS:.0f} s for the replies that are "
                "under way, which may be billed."
            )
            # Dagster writes log messages into a database, and the replies must not wait for it.
            asyncio.get_running_loop().run_in_executor(None, _LOG.warning, text)

    def _breaker(self, keyed: KeyedRequest) -> CircuitBreaker:
        """Return the circuit breaker of a model's server in this stage.

        Requests with images have a separate circuit breaker, as a server may
        fail at images and answer texts.
        """
        kind = keyed.spec.name, bool(keyed.request.image_ids)
        if kind not in self._breakers:
            self._breakers[kind] = CircuitBreaker(keyed.spec.name, keyed.spec.give_up_seconds)
        return self._breakers[kind]

    def _unsaved_place(self, spec: ModelSpec) -> asyncio.Semaphore:
        """Limit the number of answers that a crash can lose: those in flight,
        and as many being committed.

        An answer leaves the in-flight limit as soon as it arrives, so a slow disk does not reduce
        concurrency; a disk that hangs stops new requests.
        """
        if spec.name not in self._unsaved:
            self._unsaved[spec.name] = asyncio.Semaphore(2 * spec.concurrency)
        return self._unsaved[spec.name]


def _candidates_of(request: ChatRequest) -> frozenset[str]:
    """Return the candidates that a call is about. Failures of the candidate itself count in full."""
    return _CANDIDATES.get() - {request.model}
