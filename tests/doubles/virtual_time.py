"""A clock that jumps to the next timer instead of waiting, for code whose waits are its result.

A test of how long a limit or a pause takes is exact with it on a machine of any load, and takes no
time. The threads of an executor are waited for, during which no time passes.
"""

import asyncio
import selectors
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")
PATIENCE_SECONDS = 2.0
"""How long the loop waits for a thread of its own, as at its end, before nothing will wake a task."""


class VirtualTime:
    """Stands for the module `time` where it is patched in; seconds pass only while all tasks sleep."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def run(self, scenario: Callable[[], Awaitable[T]]) -> T:
        """Result of `scenario`. RuntimeError if all its tasks wait for something without a timer."""

        async def awaited() -> T:
            return await scenario()

        with asyncio.Runner(loop_factory=self.new_loop) as runner:
            return runner.run(awaited())

    def new_loop(self) -> asyncio.AbstractEventLoop:
        selector = _Jumping(self)
        loop = asyncio.SelectorEventLoop(selector)
        loop.time = self.monotonic  # type: ignore[method-assign]
        run_in_executor = loop.run_in_executor

        def counted(*given: Any) -> asyncio.Future[Any]:
            running = run_in_executor(*given)
            selector.threads.add(running)
            running.add_done_callback(selector.threads.discard)
            return running

        loop.run_in_executor = counted  # type: ignore[assignment]
        return loop


class _Jumping(selectors.SelectSelector):
    def __init__(self, clock: VirtualTime) -> None:
        super().__init__()
        self._clock = clock
        self.threads: set[asyncio.Future[Any]] = set()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(None if self.threads and timeout != 0 else 0)
        if not ready:
            if timeout is None and not (ready := super().select(PATIENCE_SECONDS)):
                raise RuntimeError("Every task waits, and nothing will wake one.")
            self._clock.now += timeout or 0.0
        return ready
