"""What a run may spend: dollars that are never passed, retries that end.

What belongs here: the two accounts that all stages of a run share. What a request may cost at most is
`estimate.py`, what it did cost is in its outcome.
"""

import asyncio

from methods.errors import UserError

FREE_RETRIES = 1_000
"""Retries a run has before it has asked anything; each request adds one more."""


class BudgetReached(UserError):
    """The next request could pass the run's budget: the stage stops, what was answered is kept."""


class Budget:
    """US dollars of one run; None for no limit. Used from one event loop at a time.

    A request sets the most it can cost aside before it is sent, and gives back what it did not cost.
    """

    def __init__(self, limit_usd: float | None):
        self.limit_usd = limit_usd
        self.spent_usd = 0.0
        self._set_aside = 0.0
        self._under_way = 0
        self._changed: asyncio.Event | None = None

    async def set_aside(self, usd: float) -> None:
        """Wait until `usd` fit beside what is under way. Raises BudgetReached if they never will."""
        while not self._fits(usd):
            if self._under_way == 0:
                raise BudgetReached(self._sentence(usd))
            self._changed = self._changed or asyncio.Event()
            await self._changed.wait()
        self._set_aside += usd
        self._under_way += 1

    def spend(self, usd: float) -> None:
        """Spend `usd` at once, for what nobody waits for. Raises BudgetReached if they do not fit."""
        if not self._fits(usd):
            raise BudgetReached(self._sentence(usd))
        self.spent_usd += usd

    def settle(self, set_aside_usd: float, cost_usd: float) -> None:
        """What was set aside is free again, and `cost_usd` of it is spent."""
        self._under_way -= 1
        # Sums of fractions leave a little behind; what nobody set aside is nothing.
        self._set_aside = self._set_aside - set_aside_usd if self._under_way else 0.0
        self.spent_usd += cost_usd
        if self._changed is not None:
            self._changed.set()
            self._changed = None

    def _fits(self, usd: float) -> bool:
        return self.limit_usd is None or self.spent_usd + self._set_aside + usd <= self.limit_usd

    def _sentence(self, usd: float) -> str:
        return (
            f"The run has spent ${self.spent_usd:.4f} of its budget of ${self.limit_usd:.4f}, and "
            f"the next call may cost ${usd:.4f}: raise budget_usd and run again; what was answered "
            "is kept and costs nothing."
        )


class Retries:
    """Second tries of one run: where everything fails, asking again six times only doubles trouble."""

    def __init__(self) -> None:
        self.left = FREE_RETRIES

    def earn(self) -> None:
        """A request is sent for the first time."""
        self.left += 1

    def take(self) -> bool:
        """Whether there is one more."""
        if self.left <= 0:
            return False
        self.left -= 1
        return True
