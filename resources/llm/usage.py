"""What a stage's model calls came to, as it goes into metadata and progress lines."""

import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from resources.llm.request import Completion, Outcome

PROGRESS_SECONDS = 5.0
PACE_MARKS = 13
"""A minute of them."""


@dataclass
class Usage:
    """Counts of one stage; tokens and cost are those of calls sent, not of cache hits.

    What a lost call cost all the same is in tokens and cost too.
    """

    calls: int = 0
    cache_hits: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    failures: Counter[str] = field(default_factory=Counter)
    run_cost_usd: float = 0.0
    """What the run this stage is part of has spent by its end."""

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
        """Requests that have come to an end."""
        return self.calls + self.cache_hits + self.failures.total()

    def metadata(self) -> dict[str, int | float]:
        """The counts by the names they are shown under."""
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
class Moment:
    """How far a stage is: items done of all, what they came to, how fast it goes, how long it will."""

    stage: str
    done: int
    total: int
    usage: Usage
    per_second: float
    seconds_left: float

    def line(self) -> str:
        """The moment for a log."""
        usage = self.usage
        tokens = usage.prompt_tokens + usage.completion_tokens
        return (
            f"{self.stage}: {self.done}/{self.total} done, {usage.calls} calls, "
            f"{usage.cache_hits} from the ledger, {usage.failures.total()} failed, "
            f"{self.per_second:.1f}/s, {tokens} tokens, ${usage.cost_usd:.4f}, "
            f"about {self.seconds_left:.0f} s left"
        )

    def metadata(self) -> dict[str, int | float | str]:
        """The moment for the UI."""
        return {
            "done": f"{self.done} of {self.total}",
            **self.usage.metadata(),
            "requests per second": round(self.per_second, 1),
            "seconds left": round(self.seconds_left),
        }


Say = Callable[[Moment], None]
"""Who is told how far a stage is."""


def silent(_moment: Moment) -> None:
    """Progress that nobody wants to hear."""


class Progress:
    """Says how far a stage is, at most every few seconds; the pace is that of the last minute."""

    def __init__(self, stage: str, total: int, usage: Usage, say: Say):
        self.stage, self.total, self.usage, self.say = stage, total, usage, say
        self.done = 0
        # What the ledger knows is done at once, so the pace of the beginning says nothing later.
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
        # What has to be sent sets the pace of the rest, unless nothing had to be.
        share = (n_outcomes - n_hits) / n_outcomes if n_outcomes > n_hits else 1.0
        left = (now - since) / ((self.done - done) * share) * (self.total - self.done)
        per_second = n_outcomes / (now - since)
        self.say(Moment(self.stage, self.done, self.total, self.usage, per_second, left))
