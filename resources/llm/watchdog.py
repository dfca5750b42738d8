"""Watchdog: log a line if a stage has made no progress for minutes, and name
the events that it waits for.

`progress.py` reports regular progress.
"""

import asyncio
import faulthandler
import logging
from collections import Counter
from collections.abc import Callable
from typing import NoReturn
from weakref import WeakKeyDictionary

STILL_SECONDS = 300.0
"""Seconds without progress after which a line is logged, and logged again."""
STDERR = 2
_LOG = logging.getLogger(__name__)
_waited_for: "WeakKeyDictionary[asyncio.Task[object], str]" = WeakKeyDictionary()


def waits_for(what: str | None) -> None:
    """Note what the current task waits for from now on; None if another task notes it instead."""
    task = asyncio.current_task()
    if task is None:
        return
    if what is None:
        _waited_for.pop(task, None)
    else:
        _waited_for[task] = what


async def watch(stage: str, progress: Callable[[], object]) -> NoReturn:
    """Watch a stage until cancelled.

    If a call blocks the event loop for too long, the tracebacks of all threads
    are written to standard error.

    Args:
        stage: The stage's name.
        progress: Returns a value that changes with any progress.
    """
    before, still = progress(), 0.0
    try:
        while True:
            faulthandler.dump_traceback_later(2 * STILL_SECONDS, file=STDERR)
            await asyncio.sleep(STILL_SECONDS)
            current = progress()
            still = still + STILL_SECONDS if current == before else 0.0
            before = current
            if still:
                minutes = f"{still / 60:.0f} min"
                text = (
                    f"{stage}: nothing has moved for {minutes}. It waits for {_most_waited_for()}."
                )
                await asyncio.to_thread(_LOG.warning, text)
    finally:
        faulthandler.cancel_dump_traceback_later()


def _most_waited_for() -> str:
    """List the events that tasks wait for, the most frequent first."""
    counts = Counter(what for task, what in list(_waited_for.items()) if not task.done())
    return ", ".join(f"{what} ({n})" for what, n in counts.most_common()) or "nothing that it knows"
