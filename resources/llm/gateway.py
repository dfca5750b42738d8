"""The model gateway: answers requests from the ledger (cache), or sends them to a provider once."""

import asyncio
import gc
import logging
from collections.abc import Awaitable, Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TypeVar

from resources.files.home import limits_path
from resources.images.store import ImageStore
from resources.llm.background_reports import background_reports
from resources.llm.budget import Budget
from resources.llm.budget_store import ChainBudget
from resources.llm.canary import Canaries
from resources.llm.clients import Launcher
from resources.llm.interruption import run_until_interrupted
from resources.llm.ledger import Ledger
from resources.llm.model_calls import BatchPending, ModelCalls
from resources.llm.progress import OnProgress, StageProgress, no_progress
from resources.llm.registry import Registry
from resources.llm.run_context import RunContext
from resources.llm.usage import ALL_MODELS, Usage
from resources.llm.watchdog import watch
from resources.migrations import StoreUnavailable

WORKERS = 64
"""The least number of items worked on at once, for each model if models are isolated. The number is
twice the requests that may be in flight, so that a request is always ready to be sent."""
OUTAGES = 3
"""How often a stage is resumed after the database server aborted a transaction. By then an unreachable
server has been waited for, and all earlier answers are in the ledger."""
_LOG = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R")


class Gateway:
    """Sends requests to the registry's models. An answered request is never sent again.

    `run` is the id of the run that pays. `budget_usd` is its limit (None: no limit), shared with
    its `ancestors`, the runs that it retries or continues. With `together` it is also shared with
    the active runs `at_work` (`budget_store.py`). `launcher` starts the mock model server for
    models of the provider `mock`.

    Raises:
        RegistryError: The profile is unknown, or one of its models has no key.
        StoreError: The ledger is damaged.
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
        ancestors: Sequence[str] = (),
        at_work: Sequence[str] = (),
        together: bool = False,
    ):
        if self.needs_keys:
            registry.require_keys(profile)
        self.registry = registry
        self.profile = registry.profile(profile)
        self.ledger = ledger
        ledger.require_sound()
        self.images = images
        self.launcher = launcher
        chain = None
        if budget_usd is not None:
            path = ledger.path.with_name(limits_path().name)
            chain = ChainBudget(path, ledger, run, ancestors, at_work, together=together)
        earlier_usd = ledger.cost_of([name for name in (run, *ancestors) if name])
        self.budget = Budget(budget_usd, chain, earlier_usd)
        self.context = RunContext(registry, ledger, images, launcher, run, self.budget)

    def map(
        self,
        stage: str,
        items: Sequence[T],
        work: Callable[[ModelCalls, T], Awaitable[R]],
        on_progress: OnProgress = no_progress,
        apart: Callable[[T], str] | None = None,
        by_prompt: bool = False,
        candidates: Callable[[T], frozenset[str]] = lambda _: frozenset(),
    ) -> tuple[list[R], Usage]:
        """Run `work` on every item concurrently; `work` may make several calls for an item.

        After an error, earlier answers stay in the ledger, and replies to
        requests in flight are waited for.

        Args:
            stage: The name of the stage.
            items: The items.
            work: Computes the result of one item with the given model calls.
            on_progress: Called with progress reports.
            apart: Returns the model of an item, if several models are to be isolated from each
                other. Each model then has its own workers, so a slow model does not delay the
                others. A model that refuses its key or is given up only ends its own requests
                (failures of the kind `given_up`).
            by_prompt: Whether a model whose first replies to one prompt cannot be used is given up for
                that prompt only (PromptGivenUp).
            candidates: Returns the models whose answers an item is about. If they differ between items,
                failures about one of them do not give up a judge or an extractor for all.

        Returns:
            The results in the order of the items, and the usage.

        Raises:
            AuthError: A provider refuses a key.
            ModelGivenUp: All first results of a model failed for one reason.
            BudgetReached: The next call could exceed the run's budget.
            WaitingForBatch: Items wait for a batch.
            BatchError: A batch cannot be submitted or polled, and models are not isolated.
            StoreError: The ledger cannot be read or written, or was moved.
        """
        with _without_old_objects():
            for retries in reversed(range(1 + OUTAGES)):
                try:
                    trials = Canaries(stage, apart=apart is not None, by_prompt=by_prompt)
                    return run_until_interrupted(
                        self._map(stage, items, work, on_progress, apart, candidates, trials, {})
                    )
                except StoreUnavailable as error:
                    if not retries:
                        raise
                    _LOG.warning(f"{stage} goes on from the ledger: {error}")
        raise AssertionError("the last attempt returns or raises")

    async def _map(
        self,
        stage: str,
        items: Sequence[T],
        work: Callable[[ModelCalls, T], Awaitable[R]],
        on_progress: OnProgress,
        apart: Callable[[T], str] | None,
        candidates: Callable[[T], frozenset[str]],
        trials: Canaries,
        results: dict[int, R],
    ) -> tuple[list[R], Usage]:
        lanes = _lanes(items, apart, results)
        # A candidate that all items are about has no others to harm.
        everywhere = _shared(map(candidates, items))
        async with (
            background_reports(on_progress) as report,
            self.model_calls(stage, trials) as calls,
        ):
            sizes = {lane: len(places) for lane, places in lanes.items()}
            progress = StageProgress(stage, sizes, calls.usage, report, self.context.in_flight)

            async def work_on(lane: str, places: Iterator[int]) -> None:
                for index in places:
                    progress.begin(lane)
                    calls.set_candidates(candidates(items[index]) - everywhere)
                    # The other items continue, so that the batch gets the requests of all items.
                    with suppress(BatchPending):
                        results[index] = await work(calls, items[index])
                    progress.step(lane)

            try:
                async with asyncio.TaskGroup() as group:
                    reporting = group.create_task(progress.keep_reporting())
                    watching = group.create_task(watch(stage, progress.moved))
                    async with asyncio.TaskGroup() as workers:
                        for lane, places in lanes.items():
                            todo = iter(places)
                            for _ in range(min(len(places), self._workers())):
                                workers.create_task(work_on(lane, todo))
                    reporting.cancel()
                    watching.cancel()
            except BaseExceptionGroup as group:
                # Only the error that stopped the stage is raised, not the errors that it caused.
                raise _first(group) from None
            again = await calls.submit_batches(len(items) - len(results))
        if again:
            _, later = await self._map(
                stage, items, work, on_progress, apart, candidates, trials, results
            )
            calls.usage.add(later)
        return [results[index] for index in range(len(items))], calls.usage

    def model_calls(self, stage: str, trials: Canaries) -> ModelCalls:
        """Create the model calls of a stage, a context manager.

        Args:
            stage: The stage.
            trials: The canaries of the stage.
        """
        return ModelCalls(self.context, stage, trials)

    def _workers(self) -> int:
        return max(WORKERS, 2 * max(spec.concurrency for spec in self.registry.models.values()))

    def close(self) -> None:
        """Stop the mock model server if it runs, close the stores."""
        self.launcher.stop()
        self.budget.close()
        self.ledger.close()


def _lanes(
    items: Sequence[T], apart: Callable[[T], str] | None, results: Container[int]
) -> Mapping[str, Sequence[int]]:
    """Return the indexes of the items without a result by model, or of all of them in one lane."""
    lanes: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        if place not in results:
            lanes.setdefault(apart(item) if apart else ALL_MODELS, []).append(place)
    return lanes


def _shared(candidates: Iterable[frozenset[str]]) -> frozenset[str]:
    """Return the candidates that all items are about, apart from items that are about none."""
    distinct = set(candidates) - {frozenset()}
    return frozenset.intersection(*distinct) if distinct else frozenset()


def _first(error: BaseException) -> BaseException:
    """Return the first error inside nested exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


@contextmanager
def _without_old_objects() -> Iterator[None]:
    """Exclude existing objects from garbage collection.

    Each collection would visit half a million objects of the loaded modules, which delays every request
    by a tenth of a second. The objects of a call are freed without garbage collection.
    """
    # The client is imported first, so that its objects are excluded, too.
    import resources.llm.errors  # noqa: F401

    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
