"""Budgets that runs share: with those they continue, and with those beside them."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import MetaData, Table, insert

from resources.images.store import ImageStore
from resources.llm import budget_store as module
from resources.llm.budget import Budget, BudgetReached
from resources.llm.budget_store import ChainBudget
from resources.llm.gateway import Gateway
from resources.llm.ledger import Ledger, current_time
from resources.llm.registry import load_registry
from resources.migrations import StoreUnavailable
from resources.mock_server.process import MockServerProcess
from resources.stores import StoreKind, open_store, postgres
from resources.stores.columns import integer, number, numbered, text
from tests.doubles.openai_api import Api, answer_to, serving
from tests.resources.llm.priced import COST, MODELS, MOST, TEXTS, requests

pytestmark = [pytest.mark.usefixtures("stores_on"), pytest.mark.slow]


class Runs:
    """Makes the gateways of runs as their processes do, over one home."""

    def __init__(self, folder: Path, url: str):
        self._folder, self._open = folder, list[Gateway]()
        (folder / "models.yaml").write_text(MODELS.format(url=url))

    def begin(self, run: str, budget: float, **options: object) -> Gateway:
        ledger = Ledger(self._folder / "ledger.sqlite")
        gateway = Gateway(
            load_registry(self._folder / "models.yaml"),
            "p",
            ledger,
            ImageStore(self._folder / "images"),
            run,
            budget,
            launcher=MockServerProcess(),
            **options,
        )
        self._open.append(gateway)
        return gateway

    def end(self, gateway: Gateway) -> None:
        """The process of a run is over."""
        gateway.close()
        self._open.remove(gateway)

    def spend(self, run: str, budget: float, texts: list[str], **options: object) -> None:
        """A run from its beginning to its end. Raises BudgetReached."""
        gateway = self.begin(run, budget, **options)
        try:
            gateway.ask("s", requests(texts))
        finally:
            self.end(gateway)

    def spent(self) -> dict[str, float]:
        costs: dict[str, float] = {}
        for call in Ledger(self._folder / "ledger.sqlite"):
            costs[call.run] = costs.get(call.run, 0) + call.cost_usd
        return costs

    def close(self) -> None:
        for gateway in self._open:
            gateway.close()


@pytest.fixture
def runs(tmp_path) -> Iterator[Runs]:
    assert [len(text) + len(answer_to(text)) for text in TEXTS] == [COST] * 40
    with serving(Api((5, 10))) as url:
        made = Runs(tmp_path, url)
        yield made
        made.close()


# One after another


def test_a_run_that_retries_another_has_what_is_left_of_its_budget(runs):
    # 3 * 42 + 70 = 196 fits into $200, 4 * 42 + 70 = 238 does not.
    with pytest.raises(BudgetReached, match=r"^The run has spent \$168\.0000 of its budget"):
        runs.spend("first", 200, TEXTS)

    with pytest.raises(
        BudgetReached,
        match=r"^The run and those that share its budget have spent \$168\.0000 of their budget of "
        r"\$200\.0000, and the next call may cost \$70\.0000: raise",
    ):
        runs.spend("retry", 200, TEXTS, ancestors=["first"])

    assert runs.spent() == {"first": 4 * COST}


def test_who_raises_the_budget_goes_on(runs):
    with pytest.raises(BudgetReached):
        runs.spend("first", 200, TEXTS[:7])

    runs.spend("retry", 4 * COST + 3 * MOST, TEXTS[:7], ancestors=["first"])

    assert runs.spent() == {"first": 4 * COST, "retry": 3 * COST}


def test_a_run_of_its_own_has_a_budget_of_its_own(runs):
    runs.spend("one", 200, TEXTS[:4])

    runs.spend("two", 200, TEXTS[4:8])
    runs.spend("three", 200, TEXTS[8:12], together=True)

    assert runs.spent() == {"one": 4 * COST, "two": 4 * COST, "three": 4 * COST}


def test_what_ancestors_spent_without_a_budget_counts(runs):
    runs.spend("first", None, TEXTS[:4])  # type: ignore[arg-type]

    with pytest.raises(BudgetReached):
        runs.spend("retry", 200, TEXTS, ancestors=["first"])

    assert runs.spent() == {"first": 4 * COST}


def test_what_ancestors_spent_is_known_where_the_file_was_deleted(runs, tmp_path):
    with pytest.raises(BudgetReached):
        runs.spend("first", 200, TEXTS)
    for path in tmp_path.glob("limits.sqlite*"):
        path.unlink()

    with pytest.raises(BudgetReached):
        runs.spend("retry", 200, TEXTS, ancestors=["first"])

    assert runs.spent() == {"first": 4 * COST}


def test_work_that_is_finished_leaves_the_next_a_budget_of_its_own(runs):
    label = ["vlm-loom demo"]
    with pytest.raises(BudgetReached):
        runs.spend("demo-1", 200, TEXTS[:8], ancestors=label)
    with pytest.raises(BudgetReached):
        runs.spend("demo-2", 200, TEXTS[:8], ancestors=label)

    demo = runs.begin("demo-3", 400, ancestors=label)
    demo.ask("s", requests(TEXTS[:8]))
    demo.budget.finish(label)
    runs.end(demo)
    runs.spend("demo-4", 200, TEXTS[8:12], ancestors=label)

    assert runs.spent() == {"demo-1": 4 * COST, "demo-3": 4 * COST, "demo-4": 4 * COST}


# Side by side: Dagster says which runs are at work

AT_WORK = ("one", "two", "three")
BESIDE = {"together": True, "at_work": AT_WORK}


def test_runs_side_by_side_spend_one_budget_together(runs):
    gateways = [runs.begin(run, 400, **BESIDE) for run in AT_WORK]
    refused: list[str] = []

    def ask(number: int) -> None:
        try:
            gateways[number].ask("s", requests(TEXTS[number * 10 : number * 10 + 10]))
        except BudgetReached as error:
            refused.append(str(error))

    asking = [threading.Thread(target=ask, args=[number]) for number in range(3)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()

    # As one run would: 42n + 70 <= 400 up to n = 7, so eight are asked, and nobody is sent away before.
    assert sum(runs.spent().values()) == 8 * COST
    assert len(refused) == 3


def test_when_all_have_ended_the_next_has_a_budget_of_its_own(runs):
    one, two = (runs.begin(run, 200, **BESIDE) for run in ("one", "two"))
    one.ask("s", requests(TEXTS[:4]))
    runs.end(one)
    with pytest.raises(BudgetReached):  # The other of the two is at work.
        runs.spend("three", 200, TEXTS[4:8], together=True, at_work=["two"])
    runs.end(two)

    runs.spend("four", 200, TEXTS[4:8], together=True)

    assert runs.spent() == {"one": 4 * COST, "four": 4 * COST}


# The row of a chain


@pytest.fixture
def rows(tmp_path) -> Iterator[Callable[..., ChainBudget]]:
    made: list[ChainBudget] = []
    ledger = Ledger(tmp_path / "ledger.sqlite")

    def join(run: str, *at_work: str, **options: object) -> ChainBudget:
        path = tmp_path / "limits.sqlite"
        made.append(ChainBudget(path, ledger, run, at_work=at_work, together=True, **options))
        return made[-1]

    yield join
    for row in made:
        row.close()
    ledger.close()


def test_what_is_spent_and_reserved_by_all_runs_of_a_chain_is_bounded(rows):
    one, two = rows("one"), rows("two", "one")

    assert one.charge(80, 100)
    assert not two.charge(20.01, 100) and two.charge(20, 100)
    one.change(-80, 5)
    assert two.read() == (5, 20)
    assert two.charge(75, 100)


def test_what_a_killed_run_had_reserved_is_free_when_the_chain_goes_on_without_it(rows):
    killed = rows("killed")
    killed.change(0, 10)
    assert killed.charge(80, 100)
    assert rows("beside", "killed").read() == (10, 80), "both are at work"

    # The ledger knows of nothing that it paid, and it had said that it spent 10.
    assert rows("retry", ancestors=["killed"]).read() == (10, 0)


def test_a_run_whose_process_is_started_again_goes_on_with_what_was_spent(rows):
    rows("run").change(0, 10)

    budget = Budget(100, rows("run"))

    asyncio.run(budget.spend(90))
    with pytest.raises(BudgetReached):
        asyncio.run(budget.spend(0.01))


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


# Stores of earlier versions

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


# Calls of several processes


def test_a_call_waits_for_runs_that_may_leave_room_and_not_for_others(rows):
    budgets = [Budget(10, rows("one")), Budget(10, rows("two", "one"))]

    async def run() -> str:
        await budgets[0].reserve("it", 8)
        waiting = asyncio.ensure_future(budgets[1].reserve("it", 5))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        budgets[0].settle(8, 4)
        await asyncio.wait_for(waiting, 10)
        budgets[1].settle(5, 5)
        with pytest.raises(BudgetReached):
            await asyncio.wait_for(budgets[0].reserve("it", 2), 10)
        return "done"

    assert asyncio.run(asyncio.wait_for(run(), 30)) == "done"


def test_a_call_does_not_wait_for_ever_for_a_killed_process(rows, monkeypatch):
    monkeypatch.setattr("resources.llm.budget.PATIENCE_SECONDS", 0.3)
    assert rows("killed").charge(8, 10)
    budget = Budget(10, rows("beside", "killed"))

    with pytest.raises(BudgetReached):
        asyncio.run(asyncio.wait_for(budget.reserve("it", 5), 30))


calls = st.lists(
    st.tuples(st.integers(0, 2), st.integers(1, 40), st.integers(0, 4), st.integers(0, 3)),
    max_size=25,
)


@pytest.mark.files_alone  # several stores
@settings(max_examples=25, deadline=None)
@given(calls, st.integers(0, 120))
def test_whatever_runs_spend_side_by_side_the_limit_is_never_passed(tmp_path_factory, drawn, limit):
    folder = tmp_path_factory.mktemp("budgets")
    ledger = Ledger(folder / "ledger.sqlite")
    budgets = [
        Budget(limit, ChainBudget(folder / "limits.sqlite", ledger, run, **BESIDE))
        for run in AT_WORK
    ]
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

    async def ask_all() -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("resources.llm.budget.ASK_AGAIN_SECONDS", 0.001)
            await asyncio.wait_for(asyncio.gather(*(ask(*each) for each in drawn)), 60)

    asyncio.run(ask_all())
    for budget in budgets:
        budget.close()
    ledger.close()

    assert len(done) + len(refused) == len(drawn)
    # Nobody was sent away who would have fitted.
    assert all(spent + most > limit - 1e-9 for most, spent in refused)
