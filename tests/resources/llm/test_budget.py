"""What a run may spend: the dollars are never passed."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from resources.llm.budget import Budget, BudgetReached
from resources.llm.budget_store import ChainBudget
from resources.llm.ledger import Ledger


@pytest.fixture
def new_budget(tmp_path: Path) -> Iterator[Callable[[float], Budget]]:
    """Makes budgets of so many US dollars, each of a run of its own, and closes them at the end."""
    with ExitStack() as stack:
        ledger = stack.enter_context(closing(Ledger(tmp_path / "ledger.sqlite")))

        def make(limit_usd: float) -> Budget:
            row = ChainBudget(tmp_path / "limits.sqlite", ledger, "")
            return stack.enter_context(closing(Budget(limit_usd, row)))

        yield make


async def fits_at_once(budget: Budget, usd: float) -> bool:
    """Whether `usd` can be set aside without waiting; then they are."""
    waiting = asyncio.ensure_future(budget.reserve("it", usd))
    await asyncio.sleep(0)
    if waiting.done():
        waiting.result()
        return True
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    return False


async def test_who_waits_goes_on_as_soon_as_it_fits(new_budget):
    budget, told = new_budget(10), []

    async def ask(name: str, usd: float) -> None:
        await budget.reserve("it", usd)
        told.append(name)

    await budget.reserve("it", 6)
    await budget.reserve("it", 4)
    waiting = [asyncio.ensure_future(ask("five", 5)), asyncio.ensure_future(ask("two", 2))]
    await asyncio.sleep(0.01)
    told.append("settled 4 for 1")  # 6 and 1 leave 3: two goes, past five, which still waits
    budget.settle(4, 1)
    await asyncio.sleep(0.01)
    told.append("settled 6 for 2")  # 1 and 2 are spent, two are under way: five are left
    budget.settle(6, 2)
    await asyncio.gather(*waiting)

    assert told == ["settled 4 for 1", "two", "settled 6 for 2", "five"]


async def test_what_never_fits_is_told_at_once_when_nothing_is_under_way(new_budget):
    with pytest.raises(BudgetReached) as caught:
        await new_budget(2.5).reserve("it", 3)

    assert str(caught.value) == (
        "The run has spent $0.0000 of its budget of $2.5000 (requests without a reply count at their "
        "highest cost), and the next call may cost $3.0000. Raise budget_usd or LOOM_BUDGET_USD and "
        "execute the run again, or start a new run, which has a whole budget of its own; what was "
        "answered is kept and costs nothing."
    )


async def test_without_a_limit_nobody_waits_and_what_is_spent_is_counted():
    budget = Budget(None)
    assert all([await fits_at_once(budget, 1e9) for _ in range(3)])
    budget.settle(1e9, 5.0)
    await budget.spend(1e12)
    assert budget.spent_usd == 1e12 + 5


async def test_sums_of_fractions_leave_nothing_reserved(new_budget):
    budget = new_budget(0.33)
    # For a computer 0.11 added and taken away three times are 2.8e-17, and 0.33 more do not fit.
    for _ in range(3):
        await budget.reserve("it", 0.11)
    for _ in range(3):
        budget.settle(0.11, 0)
    assert await fits_at_once(budget, 0.33)


def test_a_budget_outlives_the_event_loop_it_waited_in(new_budget):
    budget = new_budget(12)

    async def stage() -> None:
        async def call() -> None:
            await budget.reserve("it", 4)
            await asyncio.sleep(0.005)
            budget.settle(4, 1)

        await asyncio.gather(*(call() for _ in range(4)))

    # Three of four fit beside each other; the last of all eight with 7 spent, 7 + 4 = 11.
    for _ in range(2):
        asyncio.run(stage())
    assert budget.spent_usd == 8


async def test_money_is_spent_at_once_where_nobody_waits_for_the_answer(new_budget):
    budget = new_budget(10)
    await budget.reserve("it", 5)
    await budget.spend(3)
    with pytest.raises(BudgetReached, match=r"spent \$3\.0000 .* may cost \$2\.5000"):
        await budget.spend(2.5)
    # What did not fit was not spent: 5 under way and 3 leave 2.
    assert budget.spent_usd == 3 and await fits_at_once(budget, 2)


def test_one_model_that_bills_more_does_not_make_another_one_dearer():
    budget = Budget(None)
    budget.billed("dear", 2.0, 10.0)
    budget.billed("dear", 2.0, 6.0)
    budget.billed("cheap", 2.0, 1.0)

    assert (budget.highest("dear", 3.0), budget.highest("cheap", 3.0)) == (15.0, 3.0)
