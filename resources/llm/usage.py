"""What a stage's model calls came to, as it goes into metadata and progress lines."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from resources.llm.request import Completion, Outcome

PROGRESS_SECONDS = 5.0


@dataclass
class Usage:
    """Counts of one stage; tokens and cost are those of calls sent, not of cache hits."""

    calls: int = 0
    cache_hits: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    failures: Counter[str] = field(default_factory=Counter)

    def count(self, outcome: Outcome) -> None:
        """Add one outcome."""
        if not isinstance(outcome, Completion):
            self.failures[outcome.kind] += 1
        elif outcome.cached:
            self.cache_hits += 1
        else:
            self.calls += 1
            self.prompt_tokens += outcome.prompt_tokens
            self.completion_tokens += outcome.completion_tokens
            self.cost_usd += outcome.cost_usd

    @property
    def outcomes(self) -> int:
        """Requests that have come to an end."""
        return self.calls + self.cache_hits + self.failures.total()


class Progress:
    """Says how far a stage is, at most every few seconds."""

    def __init__(self, stage: str, total: int, usage: Usage, say: Callable[[str], None]):
        self.stage, self.total, self.usage, self.say = stage, total, usage, say
        self.done = 0
        self.started = self.said = time.monotonic()

    def step(self) -> None:
        """One more item is done."""
        self.done += 1
        now = time.monotonic()
        if now - self.said < PROGRESS_SECONDS:
            return
        self.said = now
        usage, elapsed = self.usage, now - self.started
        left = elapsed / self.done * (self.total - self.done)
        self.say(
            f"{self.stage}: {self.done}/{self.total} done, {usage.calls} calls, "
            f"{usage.cache_hits} from the ledger, {usage.failures.total()} failed, "
            f"{usage.outcomes / elapsed:.1f}/s, ${usage.cost_usd:.4f}, about {left:.0f} s left"
        )
