"""The budgets of a run: US dollars, which it never exceeds, and retries.

What belongs here: the two budgets that all stages of a run share. The highest cost of a request is
computed by `estimate.py`; its actual cost is in its outcome. Which runs share their dollars is decided
in `shared/accounts.py`.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from methods.errors import UserError
from resources.llm.shared.accounts import Account

ASK_AGAIN_SECONDS = 0.25
"""How long a call waits that other runs of the account may leave room for, before it asks again."""
FREE_RETRIES = 1_000
"""Retries that a run may make before its first request; each request adds one more."""


class BudgetReached(UserError):
    """The next request could exceed the run's budget: the stage stops, answers are kept."""


class Budget:
    """US dollars that one run may spend; None for no limit. Used from one event loop at a time.

    A request reserves the most it can cost before it is sent, and releases what it did not cost. A
    model that bills more than that passes the limit by what is in flight at most: the next request is
    held back, and reserves as many times its estimate as the model has billed.
    `earlier_usd` is what the runs that this one retries or continues have spent: it is shown with what
    this one spends.

    What counts against the limit is what all runs of the run's `account` spend (shared/accounts.py):

    - A run that retries or continues others shares their account, so the limit bounds all of them
      together. To go on after BudgetReached, raise it; a run that is launched anew, and not executed
      again, has a budget of its own.
    - Runs under LOOM_BUDGET_USD share one account while they are side by side: a run that begins while
      others are at work joins theirs. When all have ended, the next one has a budget of its own. Each
      compares what all have spent with the limit that it was given.
    - A run with a `budget_usd` of its own shares it with its retries and continuations only.
    """

    def __init__(
        self, limit_usd: float | None, earlier_usd: float = 0.0, account: Account | None = None
    ):
        self.limit_usd = limit_usd
        self._earlier, self._account = earlier_usd, account
        self._own = account.spent_before_usd if account else 0.0
        self._granted = 0.0
        self._reserved = 0.0
        self._in_flight = 0
        self._dearer: dict[str, float] = {}
        self._changed: asyncio.Event | None = None

    @property
    def spent_usd(self) -> float:
        """What this run has spent, and those that it retries or continues."""
        return self._earlier + self._own

    async def reserve(self, usd: float) -> None:
        """Reserve `usd` once they fit. Raises BudgetReached if they never will."""
        while not self._fits(usd):
            others_at_work = self._account is not None and self._account.others_at_work()
            if self._in_flight == 0 and not others_at_work:
                raise BudgetReached(self._sentence(usd))
            self._changed = self._changed or asyncio.Event()
            with suppress(TimeoutError):
                async with asyncio.timeout(ASK_AGAIN_SECONDS if others_at_work else None):
                    await self._changed.wait()
        self._reserved += usd
        self._in_flight += 1

    def highest(self, model: str, estimate_usd: float) -> float:
        """What a call may cost by what the model billed for others: more than estimated, perhaps."""
        return estimate_usd * self._dearer.get(model, 1.0)

    def billed(self, model: str, estimate_usd: float, usd: float) -> None:
        """The model billed `usd` for a call that was estimated to cost `estimate_usd` at most."""
        if usd > estimate_usd > 0:
            self._dearer[model] = max(self._dearer.get(model, 1.0), usd / estimate_usd)

    def still_holds(self) -> bool:
        """Whether all that is spent and reserved fits into the limit.

        It did when each was reserved, and does no more once a call has cost more than that.
        """
        if self.limit_usd is None:
            return True
        needed = self._own + self._reserved
        if needed <= self._granted:
            return True
        self._granted = self._ask_for(needed, self.limit_usd)
        return needed + self._others_usd <= self.limit_usd

    def spend(self, usd: float) -> None:
        """Spend `usd` at once, without waiting for others. Raises BudgetReached if they do not fit."""
        if not self._fits(usd):
            raise BudgetReached(self._sentence(usd))
        self._own += usd
        self._give_back()

    def settle(self, reserved_usd: float, cost_usd: float) -> None:
        """Release a reservation and spend `cost_usd` of it."""
        self._in_flight -= 1
        # Rounding leaves a remainder of the sum; with nothing in flight it is zero.
        self._reserved = self._reserved - reserved_usd if self._in_flight else 0.0
        self._own += cost_usd
        self._give_back()
        if self._changed is not None:
            self._changed.set()
            self._changed = None

    def finish(self, ancestors: Sequence[str]) -> None:
        """The work of these runs is done: whoever names them as ancestors has a budget of its own."""
        if self._account is not None:
            self._account.finish(ancestors)

    def close(self) -> None:
        """This run spends no more."""
        if self._account is not None:
            self._account.leave(self._own)

    @property
    def _others_usd(self) -> float:
        """What counts against the limit beside what this run has spent."""
        return self._account.others_usd if self._account else self._earlier

    def _fits(self, usd: float) -> bool:
        if self.limit_usd is None:
            return True
        needed = self._own + self._reserved + usd
        if needed > self._granted:
            self._granted = self._ask_for(needed, self.limit_usd)
        return needed <= self._granted

    def _ask_for(self, needed: float, limit: float) -> float:
        """What this run may spend in all."""
        if self._account is None:
            return limit - self._earlier
        return self._account.grant(self._own, self._reserved, needed, limit)

    def _give_back(self) -> None:
        """Between stages nothing is kept from the others of the account."""
        if self._account is not None and self._in_flight == 0:
            self._granted = self._own
            self._account.settle(self._own)

    def _sentence(self, usd: float) -> str:
        others = self._others_usd
        who, its = "The run has", "its"
        if others > 0:
            who, its = "The run and those that share its budget have", "their"
        return (
            f"{who} spent ${self._own + others:.4f} of {its} budget of ${self.limit_usd:.4f}, and "
            f"the next call may cost ${usd:.4f}: raise budget_usd or LOOM_BUDGET_USD and run again; "
            "what was answered is kept and costs nothing."
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
