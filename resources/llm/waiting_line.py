"""A FIFO queue of tasks that wait for a rate limit; only the first one checks the limit."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


class WaitingLine:
    """A queue of tasks that wait for a limit. The first task checks the limit,
    and may sleep until it changes.

    The queue is used by several stages, each with its own event loop.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._order, self._changed = asyncio.Lock(), asyncio.Event()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until the caller is the first in the queue, and stay first during the block."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop = loop
            self._order, self._changed = asyncio.Lock(), asyncio.Event()
        async with self._order:
            self._changed.clear()
            yield

    async def sleep(self, seconds: float | None = None) -> None:
        """Sleep within a turn until `wake` is called, but no longer than `seconds`.

        Returns at once if `wake` was called since the turn began or the last sleep ended.
        """
        if seconds is None:
            await self._changed.wait()
        else:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._changed.wait()
        self._changed.clear()

    def wake(self) -> None:
        """Wake the first task, because the limit may have changed."""
        self._changed.set()
