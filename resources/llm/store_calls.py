"""Call blocking stores from an event loop: in a thread if the store is on a server."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class StoreCalls:
    """Calls of one store, one after the other in the order in which they began.

    A file answers within microseconds, less than a thread switch takes, so it is called directly. A
    call that has begun is finished, even if its caller is cancelled or its event loop ends. The calls
    have separate threads: if a server hangs, they would otherwise block all threads of the event loop,
    which also look up host names.

    Args:
        may_wait: Whether a call may take long, because the store is on a server.
        threads: The most concurrent calls. With more than 1 the order is not defined.
    """

    def __init__(self, may_wait: bool, threads: int = 1):
        self._threads = ThreadPoolExecutor(threads, "store-calls") if may_wait else None

    async def call(self, function: Callable[[], T]) -> T:
        """Call a function. Other tasks of the loop continue in the meantime."""
        if self._threads is None:
            return function()
        return await asyncio.shield(self._begin(function))

    async def take(self, function: Callable[[], T], give_back: Callable[[T], object]) -> T:
        """Call a function that acquires a resource.

        Args:
            function: The function.
            give_back: Releases the resource. Called with the result if the caller was
                cancelled; needs a single thread.
        """
        if self._threads is None:
            return function()
        results: list[T] = []
        try:
            await self.call(lambda: results.append(function()))
        except asyncio.CancelledError:
            self.later(lambda: [give_back(result) for result in results])
            raise
        return results[0]

    def later(self, function: Callable[[], object]) -> None:
        """Call a function without waiting for it, within a running loop. If the store is on a server,
        the next call reports its errors.
        """
        if self._threads is None:
            function()
        else:
            self._begin(function)

    def close(self) -> None:
        """Wait until all calls that have begun are finished."""
        if self._threads is not None:
            self._threads.shutdown()

    def _begin(self, function: Callable[[], T]) -> asyncio.Future[T]:
        call = asyncio.get_running_loop().run_in_executor(self._threads, function)
        # Otherwise asyncio logs the error of a call whose caller does not wait or was cancelled.
        call.add_done_callback(lambda done: done.cancelled() or done.exception())
        return call
