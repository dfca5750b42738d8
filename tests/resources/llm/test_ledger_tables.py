"""The ledger's tables: charges stand beside calls; threads and processes use them at once."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy.exc import IntegrityError

from resources.llm.ledger import Charge, Ledger
from resources.llm.ledger.file import LEDGER
from resources.llm.request import Completion
from resources.stores import open_store
from tests.resources.llm.entries import charges_of
from tests.resources.llm.test_ledger import call, in_order

pytestmark = pytest.mark.usefixtures("stores_on")


def charge(number: int, **changes: object) -> Charge:
    """What the request of `call(number)` cost without an answer."""
    lost = call(number, outcome="refused", finish_reason="content_filter")
    return lost.as_charge("Withheld.")._replace(**changes)


def query(path: Path, text: str) -> list[tuple[object, ...]]:
    store = open_store(LEDGER, path)
    try:
        with store.read() as connection:
            return [tuple(row) for row in connection.exec_driver_sql(text)]
    finally:
        store.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


# Charges


def test_what_was_charged_twice_is_there_twice_and_may_be_answered_yet(path):
    ledger = Ledger(path)

    ledger.add([charge(0), charge(0)])
    ledger.add([charge(0, cost_usd=0.5)])
    assert ledger.find([call(0).key]) == {} and len(ledger) == 0
    ledger.add([call(0)])

    kept = [charge(0), charge(0), charge(0, cost_usd=0.5)]
    assert charges_of(ledger) == charges_of(Ledger(path)) == kept
    assert query(path, "SELECT status, sum(cost_usd) FROM paid_calls GROUP BY 1 ORDER BY 1") == [
        ("answered", 0.0025),
        ("lost", 0.505),
    ]
    assert ledger.find([call(0).key])[call(0).key] == Completion(
        call(0).key, call(0).response, "stop", 1000, 10, 0.0025, True, "Thought 0 …"
    )


def test_what_runs_have_paid_is_for_answers_and_for_none(path):
    ledger = Ledger(path)
    ledger.add(
        [
            call(0, run="a", cost_usd=0.5),
            call(1, run="a", cost_usd=0.25),
            charge(1, run="a", cost_usd=1.0),
            charge(2, run="b", cost_usd=2.0),
            call(3, run="c", cost_usd=4.0),
        ]
    )

    assert ledger.cost_of(["a"]) == 1.75
    assert ledger.cost_of(["b", "a"]) == 3.75
    assert ledger.cost_of(["nobody"]) == ledger.cost_of([]) == 0


@pytest.mark.parametrize("lacking", [call(1, model=None), charge(1, model=None)])
def test_calls_and_charges_that_come_together_are_kept_together_or_not_at_all(path, lacking):
    ledger = Ledger(path)

    with pytest.raises(IntegrityError, match="model"):
        ledger.add([call(0), charge(0), lacking])

    assert list(ledger) == [] and charges_of(ledger) == []


def test_the_mean_answer_is_that_of_a_stage_and_a_model(path):
    ledger = Ledger(path)
    assert ledger.mean_completion("dialogue.answers", "gpt") is None
    ledger.add(
        [
            call(0, completion_tokens=10),
            call(1, completion_tokens=25),
            call(2, completion_tokens=1000, stage="dialogue.questions"),
            call(3, completion_tokens=2000, model="mini"),
            charge(4, completion_tokens=3000),
        ]
    )

    assert ledger.mean_completion("dialogue.answers", "gpt") == 17.5
    assert ledger.mean_completion("dialogue.answers", "mini") == 2000
    assert ledger.mean_completion("dialogue.questions", "mini") is None


# Connections


def test_threads_use_one_ledger_at_once_and_one_of_them_may_close_it(path):
    ledger = Ledger(path)

    def add_and_find(number: int) -> bool:
        ledger.add([call(number)])
        ledger.close()
        return call(number).key in ledger.find([call(number).key])

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(add_and_find, range(20)))
    assert len(ledger) == 20


def test_a_child_process_does_not_go_on_with_its_parents_connection(path):
    ledger = Ledger(path)
    ledger.add([call(0)])
    mine = connection_of(ledger)

    def in_child() -> None:
        ledger.add([call(1)])
        assert connection_of(ledger) is not mine and len(ledger) == 2

    child = multiprocessing.get_context("fork").Process(target=in_child)
    child.start()
    child.join(60)

    assert child.exitcode == 0 and connection_of(ledger) is mine
    ledger.add([call(2)])
    assert list(ledger) == in_order([call(0), call(1), call(2)])


def connection_of(ledger: Ledger) -> object:
    with ledger._store.read() as connection:
        return connection.connection.driver_connection
