"""Budgets that runs share: with those they continue, and with those beside them."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resources.images.store import ImageStore
from resources.llm.budget import Budget, BudgetReached
from resources.llm.gateway import Gateway
from resources.llm.ledger import Ledger
from resources.llm.registry import load_registry
from resources.llm.shared import SharedLimits
from resources.llm.shared.accounts import AHEAD, Account
from resources.offline.process import OfflineServer
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
            launcher=OfflineServer(),
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


def test_all_that_retry_one_run_share_what_it_left(runs):
    runs.spend("first", 400, TEXTS[:2])
    runs.spend("second", 400, TEXTS[2:4], ancestors=["first"])

    # 4 * 42 are spent: 4 * 42 + 42n + 70 <= 400 up to n = 3, so four more are asked.
    with pytest.raises(BudgetReached):
        runs.spend("third", 400, TEXTS[4:], ancestors=["first"])

    assert runs.spent() == {"first": 2 * COST, "second": 2 * COST, "third": 4 * COST}


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


# Side by side


def test_runs_side_by_side_spend_one_budget_together(runs):
    gateways = [runs.begin(run, 400, together=True) for run in ("one", "two", "three")]
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


def test_a_run_with_a_budget_of_its_own_does_not_share_it_with_those_beside_it(runs):
    beside = runs.begin("beside", 200, together=True)
    beside.ask("s", requests(TEXTS[:4]))

    runs.spend("own", 200, TEXTS[4:8])

    assert runs.spent() == {"beside": 4 * COST, "own": 4 * COST}


def test_when_all_have_ended_the_next_has_a_budget_of_its_own(runs):
    one, two = (runs.begin(run, 200, together=True) for run in ("one", "two"))
    one.ask("s", requests(TEXTS[:4]))
    runs.end(one)
    with pytest.raises(BudgetReached):  # The other of the two is at work.
        runs.spend("three", 200, TEXTS[4:8], together=True)
    runs.end(two)

    runs.spend("four", 200, TEXTS[4:8], together=True)

    assert runs.spent() == {"one": 4 * COST, "four": 4 * COST}


# What a killed process had


@pytest.fixture
def shared(tmp_path) -> Iterator[list[SharedLimits]]:
    made = [SharedLimits(tmp_path / "limits.sqlite") for _ in range(3)]
    yield made
    for each in made:
        each.close()


def account(shared: SharedLimits, run: str, **options: object) -> Account:
    ledger = Ledger(shared.path.with_name("ledger.sqlite"))
    return shared.account(ledger, run, **{"ancestors": (), "together": True, **options})


def test_a_run_is_granted_what_it_needs_and_a_little_of_the_rest(shared):
    one, two = account(shared[0], "one"), account(shared[1], "two")

    granted = one.grant(0, 0, 20, 100)
    assert granted == 20 + AHEAD * 80
    # 100 - 24 are left; 76 fit, and nothing more.
    assert two.grant(0, 0, 100 - granted, 100) == 100 - granted
    assert two.grant(0, 0, 100.1 - granted, 100) == 0

    one.settle(5)
    assert two.grant(0, 0, 95, 100) == 95


def test_what_a_killed_run_had_reserved_is_free_again(shared):
    killed, other = account(shared[0], "killed"), account(shared[1], "other")
    killed.grant(10, 0, 80, 100)
    assert other.grant(0, 0, 30, 100) == 0 and other.others_at_work

    shared[0].close()  # Its locks are gone, as with its process.

    # The ledger knows of nothing that it paid, and it had said that it spent 10.
    assert other.grant(0, 0, 90, 100) == 90
    assert not other.others_at_work


def test_a_run_whose_process_is_started_again_goes_on_with_what_it_spent(shared):
    account(shared[0], "run").grant(10, 0, 80, 100)
    shared[0].close()

    again = account(shared[1], "run")

    assert again.spent_before_usd == 10
    budget = Budget(100, 0.0, again)
    assert budget.spent_usd == 10
    asyncio.run(budget.spend(90))
    with pytest.raises(BudgetReached):
        asyncio.run(budget.spend(0.01))


def test_a_call_waits_for_runs_that_may_leave_room_and_not_for_others(shared):
    budgets = [Budget(10, 0.0, account(shared[number], f"run {number}")) for number in range(2)]

    async def run() -> str:
        await budgets[0].reserve("it", 8)
        waiting = asyncio.ensure_future(budgets[1].reserve("it", 5))
        await asyncio.sleep(0.01)
        assert not waiting.done()
        budgets[0].settle("it", 8, 4)
        await asyncio.wait_for(waiting, 10)
        budgets[1].settle("it", 5, 5)
        with pytest.raises(BudgetReached):
            await asyncio.wait_for(budgets[0].reserve("it", 2), 10)
        return "done"

    assert asyncio.run(asyncio.wait_for(run(), 30)) == "done"


calls = st.lists(
    st.tuples(st.integers(0, 2), st.integers(1, 40), st.integers(0, 4), st.integers(0, 3)),
    max_size=25,
)


@pytest.mark.files_alone  # several stores
@settings(max_examples=25, deadline=None)
@given(calls, st.integers(0, 120))
def test_whatever_runs_spend_side_by_side_the_limit_is_never_passed(tmp_path_factory, drawn, limit):
    path = tmp_path_factory.mktemp("accounts") / "limits.sqlite"
    shared = [SharedLimits(path) for _ in range(3)]
    budgets = [Budget(limit, 0.0, account(each, f"run {n}")) for n, each in enumerate(shared)]
    for budget in budgets:
        for _ in drawn:
            budget.billed("it", 1.0, 1.0)  # So none has to go alone.
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
        budgets[run].settle("it", most, most * part // 4)

    async def ask_all() -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("resources.llm.budget.ASK_AGAIN_SECONDS", 0.001)
            await asyncio.wait_for(asyncio.gather(*(ask(*each) for each in drawn)), 60)

    asyncio.run(ask_all())
    for each in shared:
        each.close()

    assert len(done) + len(refused) == len(drawn)
    # Nobody was sent away who would have fitted.
    assert all(spent + most > limit - 1e-9 for most, spent in refused)
