"""A line for a stage in which nothing has moved for minutes: it names what is waited for.

The watch runs in a thread of its own, so that it also sees an event loop that stands in a call. Regular
progress is `usage.py`.
"""

import asyncio
import logging
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from weakref import WeakKeyDictionary

from resources.files.home import REPO_ROOT

STILL_SECONDS = 300.0
"""Seconds without an outcome after which a line is printed, and printed again."""
_ANSWER_SECONDS = 5.0
"""An event loop that does not answer for so long stands in a call."""
_LOG = logging.getLogger(__name__)
_waited_for: "WeakKeyDictionary[asyncio.Task[object], str]" = WeakKeyDictionary()


def waits_for(what: str) -> None:
    """Note what the current task waits for from now on."""
    task = asyncio.current_task()
    if task is not None:
        _waited_for[task] = what


@contextmanager
def watched(
    stage: str, progress: Callable[[], object], say: Callable[[str], None] = _LOG.warning
) -> Iterator[None]:
    """Watch a stage from a thread while the block lasts, within a running event loop.

    Args:
        stage: The stage's name.
        progress: A value that changes whenever something is done.
        say: Is given the line.
    """
    loop, waiting_thread = asyncio.get_running_loop(), threading.get_ident()
    ended = threading.Event()

    def watch() -> None:
        before, still = progress(), 0.0
        while not ended.wait(STILL_SECONDS):
            now = progress()
            still = still + STILL_SECONDS if now == before else 0.0
            before = now
            if still:
                blocked = _is_blocked(loop, ended)
                what = _own_call(waiting_thread) if blocked else _most_waited_for()
                say(f"{stage}: nothing has moved for {still / 60:.0f} min. It waits for {what}.")

    thread = threading.Thread(target=watch, name="watchdog", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _is_blocked(loop: asyncio.AbstractEventLoop, ended: threading.Event) -> bool:
    answered = threading.Event()
    loop.call_soon_threadsafe(answered.set)
    return not answered.wait(_ANSWER_SECONDS) and not ended.is_set()


def _most_waited_for() -> str:
    """What tasks wait for, the most frequent first."""
    counts = Counter(what for task, what in list(_waited_for.items()) if not task.done())
    return ", ".join(f"{what} ({n})" for what, n in counts.most_common()) or "nothing that it knows"


def _own_call(thread: int) -> str:
    """The innermost function of this project that a thread is in."""
    frame = sys._current_frames().get(thread)
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(REPO_ROOT) and "site-packages" not in path.parts:
            where = path.relative_to(REPO_ROOT)
            return f"{frame.f_code.co_qualname} ({where}, line {frame.f_lineno}) to return"
        frame = frame.f_back
    return "a call of a library to return"
