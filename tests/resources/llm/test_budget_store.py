"""Budgets that runs share: with those they continue, and with those beside them."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import timedelta
from typing import NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import MetaData, Table, insert

from resources.llm import budget_store as module
from resources.llm.budget import Budget, BudgetReached
from resources.llm.budget_store import ChainBudget
from resources.llm.ledger import Ledger, current_time
from resources.migrations import StoreUnavailable
from resources.stores import StoreKind, open_store, postgres
from resources.stores.columns import integer, number, numbered, text
from tests.resources.llm.entries import call

pytestmark = [pytest.mark.usefixtures("stores_on"), pytest.mark.slow]


@pytest.fixture
def rows(tmp_path) -> Iterator[Callable[..., ChainBudget]]:
    with ExitStack() as stack:
        ledger = stack.enter_context(closing(Ledger(tmp_path / "ledger.sqlite")))
        # What runs paid without a budget, or before its file was deleted.
        ledger.add([call(0, run="paid", cost_usd=0.5), call(1, run="paid", cost_usd=0.25)])

        def join(run: str, *at_work: str, **options: object) -> ChainBudget:
            path = tmp_path / "limits.sqlite"
            row = ChainBudget(path, ledger, run, at_work=at_work, together=True, **options)
            return stack.enter_context(closing(row))

        yield join


def test_what_is_spent_and_reserved_by_all_runs_of_a_chain_is_bounded(rows):
    one, two = rows("one"), rows("two", "one")

    assert one.charge(80, 100)
    assert not two.charge(20.01, 100) and two.charge(20, 100)
    one.change(-80, 5)
    assert two.read() == (5, 20)
    assert two.charge(75, 100)


def test_when_all_have_ended_the_next_has_a_budget_of_its_own(rows):
    rows("one").change(0, 10)
    assert rows("two", "one").read() == (10, 0)
    assert rows("three", "two").read() == (10, 0), "the other of the two is at work"
    assert rows("four").read() == (0, 0)
    # So has who comes after work that is finished.
    label = ["vlm-loom demo"]
    rows("demo-1", ancestors=label).change(0, 10)
    second = rows("demo-2", ancestors=label)
    assert second.read() == (10, 0)
    Budget(100, second).finish(label)
    assert rows("demo-3", ancestors=label).read() == (0, 0)


def test_what_a_killed_run_had_reserved_is_free_when_the_chain_goes_on_without_it(rows):
    killed = rows("killed")
    killed.change(0, 10)
    assert killed.charge(80, 100)
    assert rows("beside", "killed").read() == (10, 80), "both are at work"

    # The ledger knows of nothing that it paid, and it had said that it spent 10.
    assert rows("retry", ancestors=["killed"]).read() == (10, 0)


def test_what_a_killed_run_paid_and_did_not_book_is_known_from_the_ledger(rows, tmp_path):
    rows("killed").change(0, 10)
    with closing(Ledger(tmp_path / "ledger.sqlite")) as ledger:
        ledger.add([call(2, run="killed", cost_usd=14)])

    assert rows("retry", ancestors=["killed"]).read() == (14, 0)
    # What ancestors spent without a row is known from it, too.
    assert rows("another", ancestors=["paid"]).read() == (0.75, 0)


async def test_a_run_whose_process_is_started_again_goes_on_with_what_was_spent(rows):
    rows("run").change(0, 10)

    budget = Budget(100, rows("run"))

    await budget.spend(90)
    shared = r"^The run and those that share its budget have spent \$100\.0000 of their budget of "
    with pytest.raises(BudgetReached, match=shared):
        await budget.spend(0.01)


def test_a_change_that_an_outage_kept_from_the_store_is_made_by_the_next_transaction(
    rows, monkeypatch
):
    row = rows("run")
    assert row.charge(80, 100)
    with monkeypatch.context() as outage, pytest.raises(StoreUnavailable):
        outage.setattr(row._store, "transaction", away)
        row.change(-80, 5)

    assert row.read() == (5, 0)
    assert row.charge(95, 100) and not row.charge(0.01, 100)
    assert rows("another", "run").read() == (5, 95)


def away(**_: object) -> NoReturn:
    raise StoreUnavailable("The database is away.")


def test_a_chain_without_a_call_for_a_month_is_forgotten(rows, monkeypatch):
    rows("old").change(0, 10)
    monkeypatch.setattr(module, "_KEPT", timedelta(seconds=-1))  # both may share a millisecond

    assert rows("retry", ancestors=["old"]).read() == (0, 0)


OLD = MetaData()
TAKEN = Table("taken", OLD, text("minute", key=True))
SPENDERS = Table(
    "spenders",
    OLD,
    numbered("seq"),
    *(text(name) for name in ("account", "run", "joined_at")),
    integer("together"),
    *(number(name) for name in ("spent_usd", "granted_usd")),
)


@pytest.mark.new_database
def test_the_accounts_of_an_earlier_version_become_rows(tmp_path, monkeypatch):
    with monkeypatch.context() as earlier:
        earlier.setattr(postgres, "_opened", {})
        store = open_store(StoreKind("limits", OLD, tmp_path / "none"), tmp_path / "limits.sqlite")
    row = {"account": "a", "together": 0, "granted_usd": 90.0, "joined_at": current_time()}
    with store.transaction() as connection:
        for run, spent in (("first", 10.0), ("retry", 5.0), ("retry", 1.0)):
            values = {**row, "run": run, "spent_usd": spent}
            connection.execute(insert(SPENDERS), values)
    store.close()

    chain = ChainBudget(
        tmp_path / "limits.sqlite", Ledger(tmp_path / "ledger.sqlite"), "again", ["retry"]
    )

    assert chain.read() == (16, 0)
    chain.close()


async def test_a_call_does_not_wait_for_ever_for_a_killed_process(rows, monkeypatch):
    monkeypatch.setattr("resources.llm.budget.PATIENCE_SECONDS", 0.3)
    assert rows("killed").charge(8, 10)
    budget = Budget(10, rows("beside", "killed"))

    async with asyncio.timeout(30):
        with pytest.raises(BudgetReached):
            await budget.reserve("it", 5)


AT_WORK = ("one", "two", "three")
calls = st.lists(
    st.tuples(st.integers(0, 2), st.integers(1, 40), st.integers(0, 4), st.integers(0, 3)),
    max_size=25,
)


@pytest.mark.files_alone  # several stores
@settings(max_examples=25, deadline=None)
@given(calls, st.integers(0, 120))
async def test_whatever_runs_spend_side_by_side_the_limit_is_never_passed(
    tmp_path_factory, drawn, limit
):
    folder = tmp_path_factory.mktemp("budgets")
    ledger = Ledger(folder / "ledger.sqlite")

    def budget(run: str) -> Budget:
        path = folder / "limits.sqlite"
        return Budget(limit, ChainBudget(path, ledger, run, at_work=AT_WORK, together=True))

    budgets = [budget(run) for run in AT_WORK]
    under_way: list[int] = []
    done: list[int] = []
    refused: list[tuple[int, int]] = []

    async def ask(run: int, most: int, part: int, steps: int) -> None:
        try:
            await budgets[run].reserve("it", most)
        except BudgetReached:
            refused.append((most, sum(done)))
            return
        under_way.append(most)
        assert sum(done) + sum(under_way) <= limit + 1e-9
        for _ in range(steps):
            await asyncio.sleep(0)
        under_way.remove(most)
        done.append(most * part // 4)
        budgets[run].settle(most, most * part // 4)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("resources.llm.budget.ASK_AGAIN_SECONDS", 0.001)
        await asyncio.wait_for(asyncio.gather(*(ask(*each) for each in drawn)), 60)
    for store in (*budgets, ledger):
        store.close()

    assert len(done) + len(refused) == len(drawn)
    assert sum(budget.spent_usd for budget in budgets) == sum(done) <= limit
    # Nobody was sent away who would have fitted.
    assert all(spent + most > limit - 1e-9 for most, spent in refused)
