"""Interruption of a stage by Ctrl-C or an error: replies to requests in flight are still stored.

A request that was sent may be billed, whether or not somebody waits for its reply.
"""

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from resources.llm.watchdog import waits_for

GRACE_SECONDS = 20.0
"""The most seconds to wait for replies when a stage ends early. It is less than the time that
"Terminate" in the UI (60 s) and stopping a container (30 s) leave the process."""
T = TypeVar("T")


async def finish_sent(
    work: Coroutine[Any, Any, T], is_sent: Callable[[], bool], on_wait: Callable[[], None]
) -> T:
    """Await work that sends a request and stores the reply. If this task is
    cancelled, finish the work first.

    Args:
        work: The work, which is cancelled after GRACE_SECONDS, or at once if the request was not sent.
        is_sent: Whether the request was sent.
        on_wait: Called when the wait after a cancellation begins.

    Raises:
        CancelledError: The task was cancelled, whether or not the work succeeded.
    """
    task = asyncio.ensure_future(work)
    waits_for(None)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if is_sent() and not task.done():
            on_wait()
            await asyncio.wait([task], timeout=GRACE_SECONDS)
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            # Retrieved, so that asyncio does not log it as never retrieved.
            task.exception()
        raise


def run_until_interrupted(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine like `asyncio.run`, even if the handler of SIGINT raises, as Dagster's does.

    That handler would raise inside the event loop, and all tasks would end at once. Instead, the first
    SIGINT or SIGTERM cancels the coroutine, and the second one ends it at once. The earlier handler of
    SIGINT is called after that.

    Raises:
        BaseException: What the coroutine or the earlier handler raises; else KeyboardInterrupt.
    """
    numbers = signal.SIGINT, signal.SIGTERM
    is_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in numbers}
    if not (is_main and callable(before[signal.SIGINT])):
        return asyncio.run(work)

    async def with_both() -> T:
        if callable(before[signal.SIGTERM]):
            signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))
        return await work

    try:
        # asyncio only installs its own handler in place of this one.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            return asyncio.run(with_both())
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
    except KeyboardInterrupt:
        signal.raise_signal(signal.SIGINT)
        raise
