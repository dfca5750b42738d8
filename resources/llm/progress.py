"""Progress of a stage with model calls: finished items, requests per second, remaining time."""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from textwrap import shorten
from typing import NamedTuple

from methods.errors import printable
from resources.llm.usage import ALL_MODELS, Usage, requests_of_item

SHORTEST = 4.5
"""The least seconds that an estimate looks back; reports come about every five seconds."""
FEWEST = 10
"""The least number of requests that an estimate is based on."""
_ERROR_SHOWN = 160
"""Characters of an error in a progress line."""
_MARKS = 720
"""The most snapshots that are kept: an hour of reports."""
FIRST_SECONDS, PROGRESS_SECONDS = 2.0, 5.0
"""Seconds until the first report, and between reports."""
LONGEST_SILENCE = 300.0
"""The longest time in seconds between reports without news; the first one comes after 5."""
_LOOK_SECONDS = 1.0


class ProgressSnapshot(NamedTuple):
    """Counts at one time: finished items, requests of these items, all requests,
    and requests that were sent.

    Requests that the ledger answers are not sent and take no time.
    """

    at: float
    items: int
    of_items: int
    requests: int
    sent: int

    @classmethod
    def of_units(cls, at: float, units: int) -> "ProgressSnapshot":
        """Make a snapshot of work whose units take equal time.

        Args:
            at: The time.
            units: The number of finished units.
        """
        return cls(at, units, units, units, units)


class ItemRate:
    """The rate of a stage and its estimated remaining time.

    The rate is taken over the latest period in which at least as many requests were answered as are in
    flight. A mean over the whole stage would include its slow start.
    """

    def __init__(self, at: float, items: int = 0):
        self._at_once = 0
        self._marks = deque([ProgressSnapshot.of_units(at, items)], maxlen=_MARKS)

    def mark(self, mark: ProgressSnapshot) -> None:
        """Add a snapshot."""
        self._marks.append(mark)

    def per_second(self) -> float:
        """Return the requests per second between the last two snapshots."""
        if len(self._marks) < 2:
            return 0.0
        before, latest = self._marks[-2], self._marks[-1]
        return (latest.requests - before.requests) / max(latest.at - before.at, 1e-9)

    def seconds_left(self, n_left: int, in_flight: int = 0) -> float | None:
        """Estimate the remaining time.

        Args:
            n_left: The number of remaining items.
            in_flight: The number of requests in flight.

        Returns:
            Seconds; None if too little is finished for an estimate.
        """
        latest = self._marks[-1]
        self._at_once = max(self._at_once, in_flight)
        if n_left == 0:
            return 0.0
        if latest.items == self._marks[0].items:
            return None
        # Items in progress have already made some of their requests.
        requests = latest.of_items / latest.items * n_left - (latest.requests - latest.of_items)
        for since in reversed(self._marks):
            seconds, sent = latest.at - since.at, latest.sent - since.sent
            if seconds >= SHORTEST and sent >= max(FEWEST, in_flight):
                # The last requests take as long as all others, however few they are;
                # half of that time is added.
                answered = seconds / (latest.requests - since.requests) * max(requests, n_left)
                return answered + seconds / sent * self._at_once / 2
        return None


@dataclass(frozen=True)
class ProgressReport:
    """The progress of a stage: finished and all items, usage, requests per
    second, seconds left if known.

    `under_way` is the number of items in progress, `seconds` the time since the stage's start.
    """

    stage: str
    done: int
    total: int
    usage: Usage
    per_second: float
    seconds_left: float | None
    under_way: int = 0
    seconds: float = 0.0

    def line(self) -> str:
        """Format the report as a line for the log."""
        usage = self.usage
        again = "".join(
            f", {n} {what}"
            for n, what in (
                (usage.failed_attempts, f"attempt{'s' * (usage.failed_attempts != 1)} failed"),
                (usage.timeouts, "timed out"),
                (usage.sent_again, "sent again"),
                (usage.without_schema, "without the schema, which the server refused"),
            )
            if n
        )
        error = ""
        if usage.last_error:
            error = f"; the last attempt: {printable(shorten(usage.last_error, _ERROR_SHOWN))}"
        tokens = usage.prompt_tokens + usage.completion_tokens
        if self.done == 0:
            return (
                f"{self.stage}: 0/{self.total} done, {self.under_way} under way for "
                f"{self.seconds:.0f} s, {usage.calls} calls, {usage.cache_hits} from the ledger, "
                f"{usage.failures.total()} failed{again}{error}"
            )
        remaining = "" if self.seconds_left is None else f", about {self.seconds_left:.0f} s left"
        return (
            f"{self.stage}: {self.done}/{self.total} done, {usage.calls} calls, "
            f"{usage.cache_hits} from the ledger, {usage.failures.total()} failed{again}, "
            f"{self.per_second:.1f}/s, {tokens} tokens, ${usage.cost_usd:.4f}{remaining}{error}"
        )

    def metadata(self) -> dict[str, int | float | str]:
        """Format the report as metadata for the UI."""
        remaining = {} if self.seconds_left is None else {"seconds left": round(self.seconds_left)}
        return {
            "done": f"{self.done} of {self.total}",
            "under way": self.under_way,
            **self.usage.metadata(),
            "requests per second": round(self.per_second, 1),
            **remaining,
        }


OnProgress = Callable[[ProgressReport], None]
"""Called with a report of a stage's progress."""


def no_progress(_report: ProgressReport) -> None:
    """Ignore a report."""


class StageProgress:
    """Reports a stage's progress soon after its start, and then every few seconds if there is news.

    Without news the time until the next report doubles.

    `lanes` has the number of items by model if models are isolated, or of all items under ALL_MODELS.
    `in_flight` returns the number of requests in flight to a model or to all models.
    """

    def __init__(
        self,
        stage: str,
        lanes: Mapping[str, int],
        usage: Usage,
        on_progress: OnProgress,
        in_flight: Callable[[str], int] = lambda lane: 0,
    ):
        self._stage, self._usage, self._on_progress = stage, usage, on_progress
        self._in_flight = in_flight
        self._totals = dict(lanes)
        self._done = Counter[str]()
        self._of_done = Counter[str]()
        self._under_way = 0
        self._started = time.monotonic()
        self._due = self._started + FIRST_SECONDS
        self._paces = {lane: ItemRate(self._started) for lane in lanes}
        self._reported: tuple[int, ...] | None = None
        self._silent_until = self._started
        self._silence = PROGRESS_SECONDS

    def begin(self, lane: str) -> None:
        """Record that the current task begins an item of a lane."""
        self._under_way += 1
        requests_of_item.set([0])

    def step(self, lane: str) -> None:
        """Record that the current task has finished its item of a lane."""
        self._under_way -= 1
        self._done[lane] += 1
        self._of_done[lane] += (requests_of_item.get() or [0])[0]
        self.report_if_due()

    def moved(self) -> object:
        """Return a value that changes whenever an item or a request is finished."""
        return self._done.total(), self._usage.requests_of(ALL_MODELS)

    async def keep_reporting(self) -> None:
        """Report regularly, even if no item is finished, until cancelled."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            self.report_if_due()

    def report_if_due(self) -> None:
        """Report if there is news, at most every PROGRESS_SECONDS."""
        current_time = time.monotonic()
        if current_time < self._due:
            return
        self._due = current_time + PROGRESS_SECONDS
        for lane, pace in self._paces.items():
            requests, sent = self._usage.requests_of(lane)
            pace.mark(
                ProgressSnapshot(
                    current_time, self._done[lane], self._of_done[lane], requests, sent
                )
            )
        if self._is_news(current_time):
            self._report(current_time)

    def _is_news(self, current_time: float) -> bool:
        """Tell whether something changed since the last report, or a report is due without news."""
        usage = self._usage
        counts = (usage.calls, usage.cache_hits, usage.failures.total())
        state = (self._done.total(), *counts, usage.failed_attempts, usage.sent_again)
        if state != self._reported:
            self._silence = PROGRESS_SECONDS
        elif current_time < self._silent_until:
            return False
        else:
            self._silence = min(2 * self._silence, LONGEST_SILENCE)
        self._reported, self._silent_until = state, current_time + self._silence
        return True

    def _report(self, current_time: float) -> None:
        self._on_progress(
            ProgressReport(
                self._stage,
                self._done.total(),
                sum(self._totals.values()),
                self._usage,
                sum(pace.per_second() for pace in self._paces.values()),
                self._seconds_left(),
                self._under_way,
                current_time - self._started,
            )
        )

    def _seconds_left(self) -> float | None:
        """Estimate the time of the slowest lane; None if it is unknown for any lane."""
        estimates = [
            pace.seconds_left(self._totals[lane] - self._done[lane], self._in_flight(lane))
            for lane, pace in self._paces.items()
        ]
        known_estimates = [seconds for seconds in estimates if seconds is not None]
        return max(known_estimates, default=0.0) if len(known_estimates) == len(estimates) else None
