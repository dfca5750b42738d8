"""Progress reports in a background thread.

A report is written to Dagster's event log, whose database may hang. If the event loop waited for it,
replies that arrive in the meantime would time out, and be paid for again.
"""

import asyncio
import copy
from collections.abc import AsyncIterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace

from resources.llm.progress import OnProgress, ProgressReport


@asynccontextmanager
async def background_reports(on_progress: OnProgress) -> AsyncIterator[OnProgress]:
    """Create a callback that reports in the background, one report after the other.

    Yields:
        The callback. It raises the error of an earlier report.
    """
    threads = ThreadPoolExecutor(1, thread_name_prefix="progress")
    last: Future[None] | None = None

    def report_later(report: ProgressReport) -> None:
        nonlocal last
        if last is not None and last.done():
            last.result()
        # Copied, as the event loop continues to count.
        as_of_now = replace(report, usage=copy.deepcopy(report.usage))
        last = threads.submit(on_progress, as_of_now)

    try:
        yield report_later
    except BaseException:
        threads.shutdown(wait=False)
        raise
    await asyncio.to_thread(threads.shutdown)
    if last is not None:
        last.result()
