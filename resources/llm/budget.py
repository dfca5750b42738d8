"""The budgets of a run: US dollars, which it never exceeds, and retries.

What belongs here: the two budgets that all stages of a run share. The highest cost of a request is
computed by `estimate.py`; its actual cost is in its outcome.
"""

import asyncio

from methods.errors import UserError

FREE_RETRIES = 1_000
"""Retries that a run may make before its first request; each request adds one more."""


class BudgetReached(UserError):
    """The next request could exceed the run's budget: the stage stops, answers are kept."""


class Budget:
    """US dollars of one run; None for no limit. Used from one event loop at a time.

    A request reserves the most it can cost before it is sent, and releases what it did not cost.
    """

    def __init__(self, limit_usd: float | None):
        self.limit_usd = limit_usd
        self.spent_usd = 0.0
        self._reserved = 0.0
        self._in_flight = 0
        self._changed: asyncio.Event | None = None

    async def reserve(self, usd: float) -> None:
        """Reserve `usd` once they fit. Raises BudgetReached if they never will."""
        while not self._fits(usd):
            if self._in_flight == 0:
                raise BudgetReached(self._sentence(usd))
            self._changed = self._changed or asyncio.Event()
            await self._changed.wait()
        self._reserved += usd
        self._in_flight += 1

    def spend(self, usd: float) -> None:
        """Spend `usd` at once, without waiting for others. Raises BudgetReached if they do not fit."""
        if not self._fits(usd):
            raise BudgetReached(self._sentence(usd))
        self.spent_usd += usd

    def settle(self, reserved_usd: float, cost_usd: float) -> None:
        """Release a reservation and spend `cost_usd` of it."""
        self._in_flight -= 1
        # Rounding leaves a remainder of the sum; with nothing in flight it is zero.
        self._reserved = self._reserved - reserved_usd if self._in_flight else 0.0
        self.spent_usd += cost_usd
        if self._changed is not None:
            self._changed.set()
            self._changed = None

    def _fits(self, usd: float) -> bool:
        return self.limit_usd is None or self.spent_usd + self._reserved + usd <= self.limit_usd

    def _sentence(self, usd: float) -> str:
        return (
            f"The run has spent ${self.spent_usd:.4f} of its budget of ${self.limit_usd:.4f}, and "
            f"the next call may cost ${usd:.4f}: raise budget_usd and run again; what was answered "
            "is kept and costs nothing."
        )


class RetryBudget:
    """The retries that one run may make: where every request fails, retrying each adds only load."""

    def __init__(self) -> None:
        self.left = FREE_RETRIES

    def add(self) -> None:
        """Add a retry, as a request is sent for the first time."""
        self.left += 1

    def take(self) -> bool:
        """Take a retry; returns False if none is left."""
        if self.left <= 0:
            return False
        self.left -= 1
        return True
