"""Calls, tokens and cost of a stage's model calls, for metadata and progress lines."""

import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from resources.llm.request import Completion, Outcome

PROGRESS_SECONDS = 5.0
PACE_MARKS = 13
"""Measurements that the pace is computed from: about a minute of them."""


@dataclass
class Usage:
    """Counts of one stage; tokens and cost are those of calls that were sent, not of cache hits.

    Tokens and cost of failed calls that were paid for are included.
    """

    calls: int = 0
    cache_hits: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    failures: Counter[str] = field(default_factory=Counter)
    run_cost_usd: float = 0.0
    """What the run has spent by the end of this stage, in US dollars."""

    def count(self, outcome: Outcome) -> None:
        """Add one outcome."""
        if not isinstance(outcome, Completion):
            self.failures[outcome.kind] += 1
        elif outcome.cached:
            self.cache_hits += 1
            return
        else:
            self.calls += 1
        self.prompt_tokens += outcome.prompt_tokens
        self.completion_tokens += outcome.completion_tokens
        self.cost_usd += outcome.cost_usd

    @property
    def outcomes(self) -> int:
        """Number of requests that have an outcome."""
        return self.calls + self.cache_hits + self.failures.total()

    def metadata(self) -> dict[str, int | float]:
        """The counts by their names in the UI."""
        return {
            "calls": self.calls,
            "cache hits": self.cache_hits,
            "failed calls": self.failures.total(),
            "prompt tokens": self.prompt_tokens,
            "completion tokens": self.completion_tokens,
            "cost (USD)": round(self.cost_usd, 6),
            "cost of the run so far (USD)": round(self.run_cost_usd, 6),
        }


@dataclass(frozen=True)
class ProgressReport:
    """How far a stage is: items done of all, usage, requests a second, seconds left."""

    stage: str
    done: int
    total: int
    usage: Usage
    per_second: float
    seconds_left: float

    def line(self) -> str:
        """The report as a line for a log."""
        usage = self.usage
        tokens = usage.prompt_tokens + usage.completion_tokens
        return (
            f"{self.stage}: {self.done}/{self.total} done, {usage.calls} calls, "
            f"{usage.cache_hits} from the ledger, {usage.failures.total()} failed, "
            f"{self.per_second:.1f}/s, {tokens} tokens, ${usage.cost_usd:.4f}, "
            f"about {self.seconds_left:.0f} s left"
        )

    def metadata(self) -> dict[str, int | float | str]:
        """The report as metadata for the UI."""
        return {
            "done": f"{self.done} of {self.total}",
            **self.usage.metadata(),
            "requests per second": round(self.per_second, 1),
            "seconds left": round(self.seconds_left),
        }


OnProgress = Callable[[ProgressReport], None]
"""Called with a report of a stage's progress."""


def no_progress(_report: ProgressReport) -> None:
    """Ignores progress."""


class Progress:
    """Reports a stage's progress at most every few seconds; the pace is that of the last minute."""

    def __init__(self, stage: str, total: int, usage: Usage, on_progress: OnProgress):
        self.stage, self.total, self.usage, self.on_progress = stage, total, usage, on_progress
        self.done = 0
        # Cache hits are done at once, so the pace at the beginning says nothing about the rest.
        self._marks = deque([(time.monotonic(), 0, 0, 0)], maxlen=PACE_MARKS)

    def step(self) -> None:
        """One more item is done."""
        self.done += 1
        now = time.monotonic()
        if now - self._marks[-1][0] < PROGRESS_SECONDS:
            return
        since, done, outcomes, hits = self._marks[0]
        self._marks.append((now, self.done, self.usage.outcomes, self.usage.cache_hits))
        n_outcomes, n_hits = self.usage.outcomes - outcomes, self.usage.cache_hits - hits
        # Requests that were sent set the pace of the rest, unless all were cache hits.
        share = (n_outcomes - n_hits) / n_outcomes if n_outcomes > n_hits else 1.0
        left = (now - since) / ((self.done - done) * share) * (self.total - self.done)
        per_second = n_outcomes / (now - since)
        self.on_progress(
            ProgressReport(self.stage, self.done, self.total, self.usage, per_second, left)
        )
