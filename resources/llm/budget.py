"""The budgets of a run: US dollars, which it never exceeds, and retries.

What belongs here: the two budgets that all stages of a run share. The highest cost of a request is
computed by `estimate.py`; its actual cost is in its outcome. Which runs share their dollars is decided
in `shared/accounts.py`.
"""

import asyncio
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from methods.errors import UserError
from resources.llm.shared.accounts import Account
from resources.llm.waiting_line import WaitingLine
from resources.llm.watchdog import waits_for

ASK_AGAIN_SECONDS = 0.25
"""How long a call waits that other runs of the account may leave room for, before it asks again."""
UNBILLED_AT_ONCE = 8
"""Calls in flight, beside as many as were billed, that failures without a bill allow at most."""
FREE_RETRIES = 1_000
"""Retries that a run may make before its first request; each request adds one more."""


class BudgetReached(UserError):
    """The next request could exceed the run's budget: the stage stops, answers are kept."""


@dataclass
class _Bills:
    """What one model billed in this run: `rate` is the most that a call cost, in its estimates.

    `n_unbilled` calls failed without a bill. `in_flight` calls are estimated to cost `estimated_usd` in
    all.
    """

    rate: float = 1.0
    n_billed: int = 0
    n_unbilled: int = 0
    in_flight: int = 0
    estimated_usd: float = 0.0


class Budget:
    """US dollars that one run may spend; None for no limit. Used from one event loop at a time.

    A request reserves the most it can cost before it is sent, and releases what it did not cost. That
    is its estimate, or as many times its estimate as the model has billed for one; what is in flight
    counts at that rate, too. The first call of a model goes alone, and no more are in flight than were
    billed before and one: a model that bills more than estimated is known before much can be lost.
    Calls that failed without a bill let others go as well, up to UNBILLED_AT_ONCE, at the rate that is
    known: where a server answers nothing but errors, those would be waited for one at a time.
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
        self._granted = math.inf if account is None else 0.0
        """What this run may spend by its account: at most what the account has of it."""
        self._line, self._n_given_back = WaitingLine(), 0
        self._bills = defaultdict[str, _Bills](_Bills)
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def spent_usd(self) -> float:
        """What this run has spent, and those that it retries or continues."""
        return self._earlier + self._own

    async def reserve(self, model: str, estimate_usd: float) -> None:
        """Reserve what a call may cost, once it fits. Raises BudgetReached if it never will."""
        bills = self._bills[model]

        def cost() -> float:
            return bills.rate * estimate_usd

        # While the account is asked another call may go: then this one may not any more.
        while estimate_usd and not (
            self._may_go(bills) and await self._holds(cost) and self._may_go(bills)
        ):
            others_at_work = self._account is not None and self._account.others_at_work
            if self._in_flight == 0 and not others_at_work:
                raise BudgetReached(self._sentence(cost()))
            waits_for("the budget, until it is known what other calls cost")
            await self._change(ASK_AGAIN_SECONDS if others_at_work else None)
        bills.estimated_usd += estimate_usd
        bills.in_flight += 1

    def highest(self, model: str, estimate_usd: float) -> float:
        """What a call may cost by what the model billed for others: more than estimated, perhaps."""
        return estimate_usd * self._bills[model].rate

    def billed(self, model: str, estimate_usd: float, usd: float) -> None:
        """The model billed `usd` for a call that was estimated to cost `estimate_usd` at most."""
        bills = self._bills[model]
        bills.n_billed += 1
        if usd > estimate_usd > 0:
            bills.rate = max(bills.rate, usd / estimate_usd)

    def unbilled(self, model: str) -> None:
        """A call of the model that was sent has failed, and nobody said what it cost."""
        self._bills[model].n_unbilled += 1

    async def still_holds(self) -> bool:
        """Whether all that is spent and in flight fits into the limit.

        It did when each was reserved, and does no more once a call has cost more than that.
        """
        return await self._holds(lambda: 0.0)

    async def spend(self, usd: float) -> None:
        """Spend `usd` at once, without waiting for others. Raises BudgetReached if they do not fit."""
        if not await self._holds(lambda: usd):
            raise BudgetReached(self._sentence(usd))
        self._own += usd
        self._give_back()

    def settle(self, model: str, estimate_usd: float, cost_usd: float) -> None:
        """Release a reservation and spend `cost_usd` of it."""
        bills = self._bills[model]
        bills.in_flight -= 1
        # Rounding leaves a remainder of the sum; with nothing in flight it is zero.
        bills.estimated_usd = bills.estimated_usd - estimate_usd if bills.in_flight else 0.0
        self._own += cost_usd
        try:
            self._give_back()
        finally:
            for waiting in self._waiting:
                if not waiting.done():
                    waiting.set_result(None)

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

    @property
    def _in_flight(self) -> int:
        return sum(bills.in_flight for bills in self._bills.values())

    @property
    def _reserved(self) -> float:
        """What is in flight may cost by what its models have billed so far."""
        return sum(bills.rate * bills.estimated_usd for bills in self._bills.values())

    def _may_go(self, bills: _Bills) -> bool:
        """Whether no more calls are in flight than were billed before, or failed without a bill."""
        n_known = bills.n_billed + min(bills.n_unbilled, UNBILLED_AT_ONCE)
        return self.limit_usd is None or bills.in_flight <= n_known

    async def _holds(self, cost: Callable[[], float]) -> bool:
        """Whether a cost fits beside what is spent and what is in flight.

        The account is asked where that may help. What is needed may change meanwhile: then it is asked
        again.
        """
        if self.limit_usd is None:
            return True
        limit, refused = self.limit_usd, None
        while not self._is_granted(needed := self._needed(cost), limit) and needed != refused:
            refused = await self._ask_for(cost, limit)
        return self._is_granted(needed, limit)

    def _needed(self, cost: Callable[[], float]) -> float:
        return self._own + self._reserved + cost()

    def _is_granted(self, needed: float, limit: float) -> bool:
        # What is in flight is granted beyond the limit, too, once it may cost more.
        return needed <= self._granted and needed + self._others_usd <= limit

    async def _ask_for(self, cost: Callable[[], float], limit: float) -> float | None:
        """Ask the account for what is needed; returns that, or None if the reply is out of date."""
        async with self._line.turn():
            needed, account = self._needed(cost), self._account
            if account is None or self._is_granted(needed, limit):
                return needed
            n_given_back = self._n_given_back
            granted = await account.calls.call(
                account.grant, self._own, self._reserved, needed, limit
            )
            if n_given_back != self._n_given_back:
                return None
            self._granted = granted
            return needed

    async def _change(self, seconds: float | None) -> None:
        """Wait until a call is settled, or so many seconds."""
        changed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(changed)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await changed
        finally:
            self._waiting.remove(changed)

    def _give_back(self) -> None:
        """Between stages nothing is kept from the others of the account."""
        account, spent = self._account, self._own
        if account is not None and self._in_flight == 0:
            self._granted = spent
            self._n_given_back += 1
            account.calls.later(lambda: account.settle(spent))

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
