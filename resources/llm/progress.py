"""Progress of a stage that asks models: what is done, how fast, and the time that is left."""

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
"""Seconds that an estimate looks back at least; reports come about every five seconds."""
FEWEST = 10
"""Requests that have to be answered in that time at least."""
_ERROR_SHOWN = 160
"""Characters of an error in a progress line."""
_MARKS = 720
"""Marks that are kept: an hour of reports."""
FIRST_SECONDS, PROGRESS_SECONDS = 2.0, 5.0
"""Seconds until the first report, and between reports."""
LONGEST_SILENCE = 300.0
"""Seconds after which a stage without news is reported at the latest; the first time after 5."""
_LOOK_SECONDS = 1.0


class ProgressSnapshot(NamedTuple):
    """Counts at one moment: finished items, their requests, all requests, and the requests that were
    sent.

    Requests that the ledger answers are not sent and take no time.
    """

    at: float
    items: int
    of_items: int
    requests: int
    sent: int

    @classmethod
    def of_units(cls, at: float, units: int) -> "ProgressSnapshot":
        """A snapshot of work whose units take equal time.

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
        """Requests a second since the mark before the last one."""
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
        # Those under way have made some of their requests already.
        requests = latest.of_items / latest.items * n_left - (latest.requests - latest.of_items)
        for since in reversed(self._marks):
            seconds, sent = latest.at - since.at, latest.sent - since.sent
            if seconds >= SHORTEST and sent >= max(FEWEST, in_flight):
                # The last requests take as long as any, however few they are: half of that on average.
                answered = seconds / (latest.requests - since.requests) * max(requests, n_left)
                return answered + seconds / sent * self._at_once / 2
        return None


@dataclass(frozen=True)
class ProgressReport:
    """How far a stage is: items done of all, usage, requests a second, seconds left if known.

    `under_way` is the number of items being worked on, `seconds` the time since the stage's start.
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
        """The report as a line for a log."""
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
        """The report as metadata for the UI."""
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
    """Ignores progress."""


class StageProgress:
    """Reports a stage's progress soon after its start, and then every few seconds if there is news.

    Without news the time until the next report doubles.

    `lanes` has the number of items by model, for models that are asked apart, or all of them under
    ALL_MODELS. `in_flight` gives the requests in flight to a model, or to all.
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
        """Work on one more item of a lane begins, in the current task."""
        self._under_way += 1
        requests_of_item.set([0])

    def step(self, lane: str) -> None:
        """The item of a lane that the current task works on is done."""
        self._under_way -= 1
        self._done[lane] += 1
        self._of_done[lane] += (requests_of_item.get() or [0])[0]
        self.report_if_due()

    def moved(self) -> object:
        """Changes whenever an item, or a request of one, is done."""
        return self._done.total(), self._usage.requests_of(ALL_MODELS)

    async def keep_reporting(self) -> None:
        """Report also while no item is done, until cancelled."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            self.report_if_due()

    def report_if_due(self) -> None:
        """Report, if the last report was some seconds ago."""
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
        """Whether something changed since the last report, or the silence has lasted long enough."""
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
        """The time of the lane that takes longest; None if it is not known of one."""
        estimates = [
            pace.seconds_left(self._totals[lane] - self._done[lane], self._in_flight(lane))
            for lane, pace in self._paces.items()
        ]
        known_estimates = [seconds for seconds in estimates if seconds is not None]
        return max(known_estimates, default=0.0) if len(known_estimates) == len(estimates) else None
