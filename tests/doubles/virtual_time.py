"""A clock that jumps to the next timer instead of waiting, for code whose waits are its result.

What belongs here: an asyncio event loop under virtual time. A test of how long a limit or a pause
takes is exact with it on a machine of any load, and takes no time. Only coroutines may run: a thread
would not be waited for.
"""

import asyncio
import selectors
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


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

        with asyncio.Runner(loop_factory=self._loop) as runner:
            return runner.run(awaited())

    def _loop(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.SelectorEventLoop(_Jumping(self))
        loop.time = self.monotonic  # type: ignore[method-assign]
        return loop


class _Jumping(selectors.SelectSelector):
    def __init__(self, clock: VirtualTime) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            if timeout is None:
                raise RuntimeError("Every task waits, and nothing will wake one.")
            self._clock.now += timeout
        return ready
