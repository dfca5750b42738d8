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

    Args:
        on_progress: The callback to call.

    Yields:
        The callback. It raises the error of an earlier report.
    """
    reports = _BackgroundReports(on_progress)
    try:
        yield reports.report
    except BaseException:
        reports.threads.shutdown(wait=False)
        raise
    await asyncio.to_thread(reports.threads.shutdown)
    reports.raise_error()


class _BackgroundReports:
    def __init__(self, on_progress: OnProgress):
        self.threads = ThreadPoolExecutor(1, thread_name_prefix="progress")
        self._on_progress = on_progress
        self._last: Future[None] | None = None

    def report(self, report: ProgressReport) -> None:
        if self._last is not None and self._last.done():
            self.raise_error()
        # Copied, as the event loop continues to count.
        as_of_now = replace(report, usage=copy.deepcopy(report.usage))
        self._last = self.threads.submit(self._on_progress, as_of_now)

    def raise_error(self) -> None:
        if self._last is not None:
            self._last.result()
