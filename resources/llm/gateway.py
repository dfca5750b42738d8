"""The gateway: requests in, outcomes out, each answered from the ledger or asked once.

What belongs here: what all stages of a run share (registry, ledger, limits, money) and who works side
by side. How one request comes to its outcome is `session.py`; what is asked, and what becomes of an
answer, is the assets'.
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
from resources.llm.registry import Registry
from resources.llm.request import ChatRequest, Outcome
from resources.llm.run_context import RunContext
from resources.llm.session import Session, Waits
from resources.llm.usage import Progress, Say, Usage, silent

WORKERS = 64
"""Items begun at once, at least: twice what may be in flight, so that one is always ready to go."""

T = TypeVar("T")
R = TypeVar("R")


class Gateway:
    """Asks the registry's models; what was answered once is never asked again.

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
        self, stage: str, requests: Sequence[ChatRequest], say: Say = silent
    ) -> tuple[list[Outcome], Usage]:
        """Outcomes of `requests` in their order, and what they cost."""
        return self.map(stage, requests, Session.complete, say)

    def map(
        self,
        stage: str,
        items: Sequence[T],
        work: Callable[[Session, T], Awaitable[R]],
        say: Say = silent,
    ) -> tuple[list[R], Usage]:
        """`work` done on every item side by side, for work of several calls that build on each other.

        Raises AuthError as soon as a provider refuses a key, BudgetReached when the run's money may
        not do for the next call, WaitingForBatch when work waits for a batch, BatchError when one
        cannot be handed over; what was answered by then is kept.
        """
        with _little_garbage():
            return asyncio.run(self._map(stage, items, work, say))

    async def _map(
        self,
        stage: str,
        items: Sequence[T],
        work: Callable[[Session, T], Awaitable[R]],
        say: Say,
    ) -> tuple[list[R], Usage]:
        results: dict[int, R] = {}
        todo = iter(enumerate(items))
        async with self.session(stage) as session:
            progress = Progress(stage, len(items), session.usage, say)

            async def work_on() -> None:
                for index, item in todo:
                    # What waits for a batch goes as far as it can, so that the batch is as large.
                    with suppress(Waits):
                        results[index] = await work(session, item)
                    progress.step()

            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(len(items), self._workers())):
                        group.create_task(work_on())
            except BaseExceptionGroup as group:
                # What stops the stage is one thing, whatever else fell with it.
                raise _first(group) from None
            again = await session.hand_over(len(items) - len(results))
        if again:
            return await self._map(stage, items, work, say)
        return [results[index] for index in range(len(items))], session.usage

    def session(self, stage: str) -> Session:
        """The asking side of a stage."""
        return Session(self.context, stage)

    def _workers(self) -> int:
        return max(WORKERS, 2 * max(spec.concurrency for spec in self.registry.models.values()))

    def close(self) -> None:
        """Stop the offline model server if it was started, and let the ledger's file go."""
        self.launcher.stop()
        self.ledger.close()


def _first(error: BaseException) -> BaseException:
    """What stands first inside nested groups of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


@contextmanager
def _little_garbage() -> Iterator[None]:
    """Keep what is there already out of garbage collection: walking the modules' half a million
    objects over and over stops every request for a tenth of a second each time."""
    # The client's own, too, which it takes a second to import.
    import resources.llm.errors  # noqa: F401

    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
