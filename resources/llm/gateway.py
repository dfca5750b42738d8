"""The model gateway: requests in, outcomes out, each from the ledger or sent to a provider once.

What belongs here: doing a stage's items concurrently. How one request comes to its outcome is
`model_calls.py`; what is asked, and what is made of an answer, belongs to the assets.
"""

import asyncio
import gc
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TypeVar

from resources.images.store import ImageStore
from resources.llm.budget import Budget
from resources.llm.clients import Launcher
from resources.llm.ledger import Ledger
from resources.llm.model_calls import BatchPending, ModelCalls
from resources.llm.registry import Registry
from resources.llm.request import ChatRequest, Outcome
from resources.llm.run_context import RunContext
from resources.llm.usage import OnProgress, Progress, Usage, no_progress

WORKERS = 64
"""Items worked on at once, at least. It is twice what may be in flight, so that a request is always
ready to be sent."""

T = TypeVar("T")
R = TypeVar("R")


class Gateway:
    """Sends requests to the registry's models; a request that was answered is never sent again.

    `run` names the run that pays, `budget_usd` is what it may spend (None: no limit). `launcher`
    starts the offline model server, which answers for models of the provider `offline`. Raises
    RegistryError at once when the profile is unknown or one of its models lacks its key.
    """

    needs_keys = True

    def __init__(
        self,
        registry: Registry,
        profile: str,
        ledger: Ledger,
        images: ImageStore,
        run: str = "",
        budget_usd: float | None = None,
        *,
        launcher: Launcher,
    ):
        if self.needs_keys:
            registry.require_keys(profile)
        self.registry = registry
        self.profile = registry.profile(profile)
        self.ledger = ledger
        self.images = images
        self.launcher = launcher
        self.budget = Budget(budget_usd)
        self.context = RunContext(registry, ledger, images, launcher, run, self.budget)

    def ask(
        self, stage: str, requests: Sequence[ChatRequest], on_progress: OnProgress = no_progress
    ) -> tuple[list[Outcome], Usage]:
        """Outcomes of `requests` in their order, and what they cost."""
        return self.map(stage, requests, ModelCalls.complete, on_progress)

    def map(
        self,
        stage: str,
        items: Sequence[T],
        work: Callable[[ModelCalls, T], Awaitable[R]],
        on_progress: OnProgress = no_progress,
    ) -> tuple[list[R], Usage]:
        """The results of `work` on every item, concurrently; `work` may make several calls an item.

        Raises AuthError as soon as a provider refuses a key, BudgetReached when the next call could
        exceed the run's budget, WaitingForBatch when items wait for a batch, BatchError when a batch
        cannot be submitted. Answers that came before stay in the ledger.
        """
        with _less_garbage_collection():
            return asyncio.run(self._map(stage, items, work, on_progress))

    async def _map(
        self,
        stage: str,
        items: Sequence[T],
        work: Callable[[ModelCalls, T], Awaitable[R]],
        on_progress: OnProgress,
    ) -> tuple[list[R], Usage]:
        results: dict[int, R] = {}
        todo = iter(enumerate(items))
        async with self.model_calls(stage) as calls:
            progress = Progress(stage, len(items), calls.usage, on_progress)

            async def work_on() -> None:
                for index, item in todo:
                    # The other items go on, so that the batch has the requests of all of them.
                    with suppress(BatchPending):
                        results[index] = await work(calls, item)
                    progress.step()

            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(len(items), self._workers())):
                        group.create_task(work_on())
            except BaseExceptionGroup as group:
                # One error is shown: the one that stopped the stage, not those it caused.
                raise _first(group) from None
            again = await calls.submit_batches(len(items) - len(results))
        if again:
            return await self._map(stage, items, work, on_progress)
        return [results[index] for index in range(len(items))], calls.usage

    def model_calls(self, stage: str) -> ModelCalls:
        """The model calls of a stage, a context manager."""
        return ModelCalls(self.context, stage)

    def _workers(self) -> int:
        return max(WORKERS, 2 * max(spec.concurrency for spec in self.registry.models.values()))

    def close(self) -> None:
        """Stop the offline model server if it runs, and close the ledger."""
        self.launcher.stop()
        self.ledger.close()


def _first(error: BaseException) -> BaseException:
    """The first error inside nested exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


@contextmanager
def _less_garbage_collection() -> Iterator[None]:
    """Exclude the objects that exist already from garbage collection.

    Each collection would walk half a million objects of the loaded modules, which delays every
    request by a tenth of a second.
    """
    # Imported first, so that the client's own objects are among them.
    import resources.llm.errors  # noqa: F401

    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
