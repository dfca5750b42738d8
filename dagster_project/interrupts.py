"""Signal handlers around runs in this process.

What belongs here: undoing what a run in process leaves behind. Dagster copies the handler of SIGINT
to SIGTERM when a run begins, and leaves it there when the run ends. A shell lets its background jobs
ignore SIGINT, so after a run in such a job SIGTERM is ignored too, by this process and by every
process that it starts: nothing that stops a child by SIGTERM ends any more.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def handlers_kept() -> Iterator[None]:
    """Restore the handlers of SIGINT and SIGTERM when the block ends.

    Outside the main thread nothing is done: there Dagster sets no handler either.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
