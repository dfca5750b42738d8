"""The budgets of a run: US dollars, which it never exceeds, and retries.

The highest cost of a request is computed by `estimate.py`; its actual cost is in its outcome. Which
runs share their dollars is in `budget_store.py`.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from methods.errors import UserError
from resources.llm.budget_store import ROUNDING_USD, ChainBudget
from resources.llm.watchdog import waits_for

ASK_AGAIN_SECONDS = 0.25
"""How long a call waits for calls of other processes to end, before it looks again."""
PATIENCE_SECONDS = 60.0
"""How long a call waits while no call of another process ends: that process may have been killed."""
UNBILLED_AT_ONCE = 8
"""Calls in flight that failures without a bill allow at most, in addition to as many as were billed."""
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
    """US dollars that one run may spend. Used from one event loop at a time.

    A request reserves the most it can cost before it is sent, and releases what it did not cost. That
    is its estimate, or as many times its estimate as the model has billed for one; calls in flight
    count at that rate, too. The first call of a model goes alone, and no more are in flight than were
    billed before and one: a model that bills more than estimated is known before much can be lost.
    Calls that failed without a bill let others go as well, up to UNBILLED_AT_ONCE, at the rate that is
    known: where a server answers nothing but errors, those would be waited for one at a time.

    Args:
        limit_usd: What the run's chain may spend; None for no limit.
        chain: The row of the chain, None without a limit. Its runs share the row, and each compares it
            with the limit that it was given.
        earlier_usd: What the run, in an earlier process, and those that it retries or continues have
            spent. It is shown with what this process spends.
    """

    def __init__(
        self,
        limit_usd: float | None,
        chain: ChainBudget | None = None,
        earlier_usd: float = 0.0,
    ):
        assert (limit_usd is None) == (chain is None)
        self.limit_usd = limit_usd
        self._chain = chain
        self._earlier, self._own = earlier_usd, 0.0
        self._bills = defaultdict[str, _Bills](_Bills)
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def spent_usd(self) -> float:
        """What this run has spent, and those that it retries or continues."""
        return self._earlier + self._own

    async def reserve(self, model: str, estimate_usd: float) -> None:
        """Reserve what a call may cost, once it fits. Raises BudgetReached if it never will."""
        bills = self._bills[model]
        until, last = time.monotonic() + PATIENCE_SECONDS, (0.0, 0.0)
        while estimate_usd and not await self._charge(bills, estimate_usd):
            waits_for("the budget, until it is known what other calls cost")
            if any(each.in_flight for each in self._bills.values()):
                await self._change()
                continue
            assert self._chain is not None and self.limit_usd is not None
            spent, reserved = await self._chain.calls.call(self._chain.read)
            usd = bills.rate * estimate_usd
            if (spent, reserved) != last:
                until, last = time.monotonic() + PATIENCE_SECONDS, (spent, reserved)
            if spent + reserved + usd <= self.limit_usd:
                continue
            if reserved <= ROUNDING_USD or time.monotonic() >= until:
                raise BudgetReached(self._sentence(spent, usd))
            await asyncio.sleep(ASK_AGAIN_SECONDS)
        bills.estimated_usd += estimate_usd
        bills.in_flight += 1

    def highest(self, model: str, estimate_usd: float) -> float:
        """What a call may cost by what the model billed for others: more than estimated, perhaps."""
        return estimate_usd * self._bills[model].rate

    def billed(self, model: str, estimate_usd: float, usd: float) -> None:
        """The model billed `usd` for a call that was estimated to cost `estimate_usd` at most."""
        bills = self._bills[model]
        bills.n_billed += 1
        if estimate_usd > 0 and usd > bills.rate * estimate_usd:
            higher = usd / estimate_usd
            self._add((higher - bills.rate) * bills.estimated_usd, 0.0)
            bills.rate = higher

    def unbilled(self, model: str) -> None:
        """A call of the model that was sent has failed, and nobody said what it cost."""
        self._bills[model].n_unbilled += 1

    async def still_holds(self) -> bool:
        """Whether all that is spent and in flight fits into the limit.

        It did when each was reserved, and does no more once a call has cost more than that.
        """
        if self._chain is None or self.limit_usd is None:
            return True
        return sum(await self._chain.calls.call(self._chain.read)) <= self.limit_usd + ROUNDING_USD

    async def spend(self, usd: float) -> None:
        """Spend `usd` at once, without waiting for others. Raises BudgetReached if they do not fit."""
        if self._chain is not None and not await self._take(usd):
            spent, _ = await self._chain.calls.call(self._chain.read)
            raise BudgetReached(self._sentence(spent, usd))
        self._own += usd
        self._add(-usd, usd)

    def settle(self, model: str, estimate_usd: float, cost_usd: float) -> None:
        """Release a reservation and spend `cost_usd` of it."""
        bills = self._bills[model]
        bills.in_flight -= 1
        # Rounding leaves a remainder of the sum; with nothing in flight it is zero.
        bills.estimated_usd = bills.estimated_usd - estimate_usd if bills.in_flight else 0.0
        self._own += cost_usd
        try:
            self._add(-bills.rate * estimate_usd, cost_usd)
        finally:
            for waiting in self._waiting:
                if not waiting.done():
                    waiting.set_result(None)

    def finish(self, ancestors: Sequence[str]) -> None:
        """The work of these runs is done: the next run that names them has a budget of its own."""
        if self._chain is not None:
            self._chain.finish(ancestors)

    def close(self) -> None:
        """This run spends no more."""
        if self._chain is not None:
            self._chain.close()

    async def _charge(self, bills: _Bills, estimate_usd: float) -> bool:
        """Reserve a call in the row, if it may go by the model's bills and fits."""
        if self._chain is None:
            return True
        if not self._may_go(bills):
            return False
        rate = bills.rate
        if not await self._take(rate * estimate_usd):
            return False
        # While the store was asked another call may have gone: then this one may not any more.
        if self._may_go(bills) and bills.rate == rate:
            return True
        self._add(-rate * estimate_usd, 0.0)
        return False

    async def _take(self, usd: float) -> bool:
        """Reserve `usd` in the row; a caller that is cancelled meanwhile leaves nothing reserved."""
        chain, limit = self._chain, self.limit_usd
        assert chain is not None and limit is not None

        def give_back(is_charged: bool) -> None:
            if is_charged:
                chain.change(-usd, 0.0)

        return await chain.calls.take(lambda: chain.charge(usd, limit), give_back)

    def _add(self, reserved_usd: float, spent_usd: float) -> None:
        """Change the row. Nobody waits for that, and a row that is away is changed later."""
        chain = self._chain
        if chain is not None and (reserved_usd or spent_usd):
            chain.calls.later(lambda: chain.change(reserved_usd, spent_usd))

    def _may_go(self, bills: _Bills) -> bool:
        """Whether no more calls are in flight than were billed before, or failed without a bill."""
        n_known = bills.n_billed + min(bills.n_unbilled, UNBILLED_AT_ONCE)
        return bills.in_flight <= n_known

    async def _change(self) -> None:
        """Wait until a call is settled."""
        changed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(changed)
        try:
            await changed
        finally:
            self._waiting.remove(changed)

    def _sentence(self, spent_usd: float, usd: float) -> str:
        is_alone = spent_usd <= self._own + ROUNDING_USD
        who, its = (
            ("The run has", "its")
            if is_alone
            else ("The run and those that share its budget have", "their")
        )
        return (
            f"{who} spent ${spent_usd:.4f} of {its} budget of ${self.limit_usd:.4f}, and "
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
