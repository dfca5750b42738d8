"""The gateway: requests in, outcomes out, each answered from the ledger or asked once.

What belongs here: bounded concurrency, retries, one flight per request, durable before used. What
does not: what is asked (prompts, benchmarks) and what becomes of an answer (assets).
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

from resources.image_store import ImageStore
from resources.llm.ledger import Call, Ledger
from resources.llm.ledger_writer import LedgerWriter
from resources.llm.limits import ModelLimits, ProviderDown
from resources.llm.registry import ModelSpec, Registry
from resources.llm.request import (
    ChatRequest,
    Completion,
    Failure,
    Outcome,
    estimated_tokens,
    request_key,
)
from resources.llm.usage import Progress, Usage
from resources.llm.wire import wire_messages
from resources.offline.process import OfflineServer

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types import CompletionUsage
    from openai.types.chat.chat_completion import Choice

MAX_ATTEMPTS = 6
ATTEMPT_SECONDS = 180.0

T = TypeVar("T")
R = TypeVar("R")


def silent(_line: str) -> None:
    """Progress that nobody wants to hear."""


class AuthError(RuntimeError):
    """The provider does not accept the key: the run stops, since every further call would fail."""


class Gateway:
    """Asks the registry's models; what was answered once is never asked again.

    Raises RegistryError at once when the profile is unknown or one of its models lacks its key.
    """

    def __init__(self, registry: Registry, profile: str, ledger: Ledger, images: ImageStore):
        registry.require_keys(profile)
        self.registry = registry
        self.profile = registry.profile(profile)
        self.ledger = ledger
        self.images = images
        self.offline = OfflineServer()
        self._limits: dict[str, ModelLimits] = {}

    def ask(
        self, stage: str, requests: Sequence[ChatRequest], say: Callable[[str], None] = silent
    ) -> tuple[list[Outcome], Usage]:
        """Outcomes of `requests` in their order, and what they cost."""
        return self.map(stage, requests, Session.complete, say)

    def map(
        self,
        stage: str,
        items: Sequence[T],
        work: Callable[["Session", T], Awaitable[R]],
        say: Callable[[str], None] = silent,
    ) -> tuple[list[R], Usage]:
        """`work` done on every item side by side, for work of several calls that build on each other.

        Raises AuthError as soon as a provider refuses a key; what was answered by then is kept.
        """
        return asyncio.run(self._map(stage, items, work, say))

    async def _map(
        self,
        stage: str,
        items: Sequence[T],
        work: Callable[["Session", T], Awaitable[R]],
        say: Callable[[str], None],
    ) -> tuple[list[R], Usage]:
        async with Session(self, stage) as session:
            progress = Progress(stage, len(items), session.usage, say)

            async def one(item: T) -> R:
                result = await work(session, item)
                progress.step()
                return result

            try:
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(one(item)) for item in items]
            except ExceptionGroup as group:
                # What stops the stage is one thing, whatever else fell with it.
                raise _first(group) from None
            return [task.result() for task in tasks], session.usage

    def limits(self, spec: ModelSpec) -> ModelLimits:
        """The limits of one model, the same for every stage that asks it."""
        if spec.name not in self._limits:
            self._limits[spec.name] = ModelLimits(
                spec.concurrency, spec.requests_per_minute, spec.tokens_per_minute
            )
        return self._limits[spec.name]

    def close(self) -> None:
        """Stop the offline model server if it was started."""
        self.offline.stop()


class Session:
    """The asking side of one stage: clients, limits, requests in flight, the ledger's writer."""

    def __init__(self, gateway: Gateway, stage: str):
        self.gateway = gateway
        self.stage = stage
        self.usage = Usage()
        self._stack = AsyncExitStack()
        self._clients: dict[str, AsyncOpenAI] = {}
        self._in_flight: dict[str, asyncio.Future[Outcome]] = {}
        self._starting = asyncio.Lock()
        self._writer = LedgerWriter(gateway.ledger)

    async def __aenter__(self) -> "Session":
        await self._stack.enter_async_context(self._writer)
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    async def complete(self, request: ChatRequest) -> Outcome:
        """The outcome of one request; an identical one in flight is joined, not sent again."""
        spec = self.gateway.registry.model(request.model)
        canonical = request.canonical(spec.provider, spec.model, spec.max_side)
        key = request_key(canonical)
        if key in self._in_flight:
            outcome = await asyncio.shield(self._in_flight[key])
            if isinstance(outcome, Completion):
                outcome = Completion(**{**vars(outcome), "cached": True})
        else:
            task = asyncio.ensure_future(self._settle(request, spec, canonical, key))
            self._in_flight[key] = task
            try:
                outcome = await task
            finally:
                del self._in_flight[key]
        self.usage.count(outcome)
        if isinstance(outcome, Failure) and outcome.kind == "auth":
            raise AuthError(f"{spec.name}: {outcome.detail}")
        return outcome

    async def _settle(
        self, request: ChatRequest, spec: ModelSpec, canonical: dict[str, object], key: str
    ) -> Outcome:
        known = self.gateway.ledger.find([key]).get(key)
        if known:
            return known.completion(cached=True)
        if len(request.image_ids) > spec.max_images:
            return Failure(
                key,
                "too_long",
                f"{len(request.image_ids)} images, {spec.name} takes {spec.max_images}.",
            )
        return await self._send(request, spec, canonical, key)

    async def _send(
        self, request: ChatRequest, spec: ModelSpec, canonical: dict[str, object], key: str
    ) -> Outcome:
        import openai

        from resources.llm.errors import (
            BadResponse,
            failure_kind,
            is_retryable,
            wait_seconds,
        )

        client = await self._client(spec)
        started, attempts = time.monotonic(), 0

        async def keep(choice: "Choice", usage: "CompletionUsage") -> Outcome:
            if choice.finish_reason == "content_filter" or choice.message.refusal:
                refusal = choice.message.refusal or "The provider's filter withheld the answer."
                return Failure(key, "refused", _storable(refusal))
            if not choice.message.content:
                empty = f"Empty answer, finished by {choice.finish_reason}."
                return Failure(key, "bad_response", empty)
            call = Call(
                key=key,
                provider=spec.provider,
                model=spec.model,
                prompt_version=request.prompt_version,
                stage=self.stage,
                request=canonical,
                response=_storable(choice.message.content),
                finish_reason=choice.finish_reason or "unknown",
                prompt_tokens=usage.prompt_tokens,
                completion_tokens=usage.completion_tokens,
                cost_usd=spec.cost(usage.prompt_tokens, usage.completion_tokens),
                seconds=round(time.monotonic() - started, 4),
                attempts=attempts,
                created_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            )
            await self._writer.add(call)
            return call.completion(cached=False)

        retrying = AsyncRetrying(
            stop=stop_after_attempt(MAX_ATTEMPTS),
            wait=wait_seconds,
            retry=retry_if_exception(is_retryable),
            reraise=True,
        )
        try:
            async for attempt in retrying:
                with attempt:
                    attempts += 1
                    return await self._attempt(client, request, spec, keep)
        except (openai.OpenAIError, BadResponse, ProviderDown, ValueError) as error:
            return Failure(key, failure_kind(error), _sentence(error, spec))
        raise AssertionError("retrying ends with an outcome or an error")

    async def _attempt(
        self,
        client: "AsyncOpenAI",
        request: ChatRequest,
        spec: ModelSpec,
        keep: "Callable[[Choice, CompletionUsage], Awaitable[Outcome]]",
    ) -> Outcome:
        """One try within the model's limits, which learn from how it ends.

        Its place in flight is given up once `keep` has the answer durable: what a crash can cost is
        never more than may be in flight.
        """
        import openai

        from resources.llm.errors import BadResponse, checked, is_retryable, pause_asked

        limits = self.gateway.limits(spec)
        async with limits.attempt(estimated_tokens(request)) as lease:
            try:
                response = await client.chat.completions.create(  # type: ignore[call-overload]
                    model=spec.model,
                    messages=wire_messages(request, self.gateway.images, spec.max_side),
                    **request.params,
                )
                choice, usage = checked(response)
            except (openai.OpenAIError, BadResponse, ValueError) as error:
                lease.settle(0)
                if isinstance(error, openai.RateLimitError):
                    limits.throttled(pause_asked(error))
                elif is_retryable(error):
                    limits.lost()
                else:
                    limits.answered()
                raise
            lease.settle(usage.prompt_tokens + usage.completion_tokens)
            limits.answered()
            return await keep(choice, usage)

    async def _client(self, spec: ModelSpec) -> "AsyncOpenAI":
        async with self._starting:
            if spec.name not in self._clients:
                from openai import AsyncOpenAI, DefaultAsyncHttpxClient

                address, own_server = spec.address(), None
                if spec.provider == "offline" and address is None:
                    address = await asyncio.to_thread(self.gateway.offline.start)
                    # A proxy in the environment is for the world outside, not for loopback.
                    own_server = DefaultAsyncHttpxClient(trust_env=False)
                self._clients[spec.name] = await self._stack.enter_async_context(
                    AsyncOpenAI(
                        api_key=spec.api_key(),
                        base_url=address,
                        max_retries=0,
                        timeout=ATTEMPT_SECONDS,
                        http_client=own_server,
                    )
                )
        return self._clients[spec.name]


def _first(error: BaseException) -> BaseException:
    """What stands first inside nested groups of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _sentence(error: Exception, spec: ModelSpec) -> str:
    """One line about an error, without the key it may quote."""
    text, key = str(error), spec.api_key()
    if len(key) > 8:
        # Before the cut, which could leave a part of it.
        text = text.replace(key, "***")
    return _storable(" ".join(text.split())[:300])


def _storable(text: str) -> str:
    """`text` with halves of surrogate pairs replaced: no database takes them, and one such answer
    would take down the others that are committed with it."""
    return text.encode("utf-8", "replace").decode()
