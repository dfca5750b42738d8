"""Store calls of the gateway, kept off the event loop where they may wait for a server."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def off_loop(
    may_wait: bool, call: Callable[P, T], *arguments: P.args, **named: P.kwargs
) -> T:
    """Call a function, in a thread if it `may_wait`.

    A call that has begun is finished also if the caller is cancelled.

    Args:
        may_wait: Whether the call may take long. A file answers within microseconds, less than it
            takes to change the thread.
        call: The function.
        arguments: Its arguments.
        named: Its arguments by name.

    Returns:
        What the function returns.
    """
    if not may_wait:
        return call(*arguments, **named)
    return await asyncio.to_thread(call, *arguments, **named)
