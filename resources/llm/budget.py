"""The budget of a run in US dollars.

The highest cost of a request is computed by `estimate.py`; its actual cost is in its outcome. Which
runs share their dollars is in `budget_store.py`.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Sequence

from methods.errors import UserError
from resources.llm.budget_store import ROUNDING_USD, ChainBudget
from resources.llm.watchdog import waits_for

ASK_AGAIN_SECONDS = 0.25
"""Seconds between two checks whether calls of other processes have ended."""
PATIENCE_SECONDS = 60.0
"""Seconds without a change after which a call stops waiting for other
processes, which may have been killed."""


class BudgetReached(UserError):
    """The next request could exceed the run's budget: the stage stops, answers are kept."""


class Budget:
    """The US dollars that one run may spend. One event loop at a time uses it.

    A call reserves its highest cost before it is sent, and releases the difference to its actual cost.
    If a model bills more than its estimate, later calls reserve more by the same factor. So only the
    calls in flight at the first such bill can exceed the limit.

    Args:
        limit_usd: The limit of the run's chain; None for no limit.
        chain: The budget row of the chain; None without a limit. All runs of the chain share the row,
            and each run compares it with its own limit.
        earlier_usd: The costs of earlier processes of this run and of the runs that it retries or
            continues. They are added to `spent_usd`.
    """

    def __init__(
        self, limit_usd: float | None, chain: ChainBudget | None = None, earlier_usd: float = 0.0
    ):
        assert (limit_usd is None) == (chain is None)
        self.limit_usd = limit_usd
        self._chain = chain
        self._earlier, self._own = earlier_usd, 0.0
        self._rates = defaultdict[str, float](lambda: 1.0)
        """The highest ratio of cost to estimate of each model's calls; at least 1."""
        self._in_flight = 0
        self._settled = asyncio.Event()
        """Set by the next call of this run that ends. Each event is waited for in one event loop."""

    @property
    def spent_usd(self) -> float:
        """The US dollars spent by this run and by the runs that it retries or continues."""
        return self._earlier + self._own

    async def reserve(self, model: str, estimate_usd: float) -> float:
        """Reserve the highest cost of a call, as soon as it fits into the budget.

        Args:
            model: The model, an entry of models.yaml.
            estimate_usd: The highest cost of the call by its estimate.

        Returns:
            The US dollars that are reserved.

        Raises:
            BudgetReached: The call will never fit.
        """
        until, last = time.monotonic() + PATIENCE_SECONDS, (0.0, 0.0)
        while not await self._take(usd := self.highest(model, estimate_usd)):
            waits_for("the budget, until it is known what other calls cost")
            if self._in_flight:
                await self._settled.wait()
                continue
            assert self._chain is not None and self.limit_usd is not None
            spent, reserved = await self._chain.calls.call(self._chain.read)
            if (spent, reserved) != last:
                until, last = time.monotonic() + PATIENCE_SECONDS, (spent, reserved)
            if spent + reserved + usd <= self.limit_usd:
                continue
            if reserved <= ROUNDING_USD or time.monotonic() >= until:
                raise BudgetReached(self._sentence(spent, usd))
            await asyncio.sleep(ASK_AGAIN_SECONDS)
        self._in_flight += 1
        return usd

    def highest(self, model: str, estimate_usd: float) -> float:
        """Estimate the highest cost of a call from the bills of the model so far.

        Args:
            model: The model, an entry of models.yaml.
            estimate_usd: The highest cost by the estimate of the request.

        Returns:
            US dollars, at least `estimate_usd`.
        """
        return estimate_usd * self._rates[model]

    def billed(self, model: str, estimate_usd: float, usd: float) -> None:
        """Record the bill of a call.

        Args:
            model: The model, an entry of models.yaml.
            estimate_usd: The highest cost by the estimate of the request.
            usd: The actual cost.
        """
        if estimate_usd > 0:
            self._rates[model] = max(self._rates[model], usd / estimate_usd)

    async def still_holds(self) -> bool:
        """Tell whether the spent and the reserved dollars still fit into the limit.

        They do not if a call has cost more than was reserved for it.
        """
        if self._chain is None or self.limit_usd is None:
            return True
        return sum(await self._chain.calls.call(self._chain.read)) <= self.limit_usd + ROUNDING_USD

    async def spend(self, usd: float) -> None:
        """Spend `usd` at once, without waiting for others. Raises BudgetReached if they do not fit."""
        if not await self._take(usd):
            assert self._chain is not None
            spent, _ = await self._chain.calls.call(self._chain.read)
            raise BudgetReached(self._sentence(spent, usd))
        self._own += usd
        self._add(-usd, usd)

    def settle(self, reserved_usd: float, cost_usd: float) -> None:
        """Release a reservation and book the actual cost.

        Args:
            reserved_usd: The reserved US dollars.
            cost_usd: The actual cost.
        """
        self._in_flight -= 1
        self._own += cost_usd
        try:
            self._add(-reserved_usd, cost_usd)
        finally:
            self._settled.set()
            self._settled = asyncio.Event()

    def finish(self, ancestors: Sequence[str]) -> None:
        """End the chain of these runs: a later run that names them starts a new budget."""
        if self._chain is not None:
            self._chain.finish(ancestors)

    def close(self) -> None:
        """Declare that this run spends no more."""
        if self._chain is not None:
            self._chain.close()

    async def _take(self, usd: float) -> bool:
        """Reserve `usd` in the budget row. If the caller is cancelled, the reservation is released."""
        chain, limit = self._chain, self.limit_usd
        if chain is None or limit is None or not usd:
            return True

        def give_back(is_charged: bool) -> None:
            if is_charged:
                chain.change(-usd, 0.0)

        return await chain.calls.take(lambda: chain.charge(usd, limit), give_back)

    def _add(self, reserved_usd: float, spent_usd: float) -> None:
        """Change the budget row in the background, or later if the store is unreachable."""
        chain = self._chain
        if chain is not None and (reserved_usd or spent_usd):
            chain.calls.later(lambda: chain.change(reserved_usd, spent_usd))

    def _sentence(self, spent_usd: float, usd: float) -> str:
        is_alone = spent_usd <= self._own + ROUNDING_USD
        who, its = (
            ("The run has", "its")
            if is_alone
            else ("The run and those that share its budget have", "their")
        )
        return (
            f"{who} spent ${spent_usd:.4f} of {its} budget of ${self.limit_usd:.4f} (requests without "
            f"a reply count at their highest cost), and the next call may cost ${usd:.4f}. Raise "
            "budget_usd or LOOM_BUDGET_USD and execute the run again, or start a new run, which has a "
            "whole budget of its own; what was answered is kept and costs nothing."
        )
