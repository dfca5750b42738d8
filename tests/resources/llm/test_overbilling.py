"""A provider that bills more than was estimated: a budget is passed by calls in flight at most."""

import json
from pathlib import Path

import pytest

from resources.llm.budget import BudgetReached
from resources.llm.concurrency import START
from resources.llm.gateway import Gateway
from resources.llm.ledger import Ledger
from tests.doubles.odd_api import Asked, answering
from tests.resources.llm.conftest import NewBudget
from tests.resources.llm.entries import charges_of
from tests.resources.llm.loopback import ask, gateway_of

# A dollar a token: 11 bytes asked, 8 for the message and 31 answered are $50 at most. Ten questions are
# of that length; an eleventh is one byte longer.
MOST = 50
PRICE = {"prompt": 1_000_000, "completion": 1_000_000}


def bills(dollars: int):
    """An answer that was billed as so many tokens of a dollar each."""
    return lambda asked: asked.says(tokens=(dollars - 1, 1))


def priced(folder: Path, url: str, budget: float, concurrency: int, **entry: object) -> Gateway:
    model = {"base_url": url, "price": PRICE, "concurrency": concurrency, **entry}
    return gateway_of(folder, {"it": model}, budget)


def spent(folder: Path) -> float:
    ledger = Ledger(folder / "ledger.sqlite")
    return sum(call.cost_usd for call in ledger) + sum(each.cost_usd for each in charges_of(ledger))


@pytest.mark.parametrize(
    ("times", "budget", "n_sent"),
    [
        # Reserved at $50 each, 160 calls fit into $8,000. The first is billed $2,500, and as much
        # counts for each of the others: three are $7,500, and a fourth does not fit.
        (50, 160 * MOST, 3),
        # Nor does a second one where the first took more than there is.
        (50, 20 * MOST, 1),
        # $150 each: 150, 300, 450, 600, and 600 + 150 does not fit into $700.
        (3, 14 * MOST, 4),
    ],
)
@pytest.mark.parametrize("concurrency", [1, 32])
def test_a_budget_is_passed_by_the_calls_in_flight_at_the_first_bill_at_most(
    tmp_path: Path, times: int, budget: int, n_sent: int, concurrency: int
) -> None:
    with answering(bills(times * MOST)) as api:
        with pytest.raises(BudgetReached, match=rf"may cost \${times * MOST}\.0000"):
            ask(priced(tmp_path, api.url, budget, concurrency), 10, max_tokens=31)
        n_received = len(api.received)

    assert n_received == n_sent if concurrency == 1 else n_received >= n_sent
    assert spent(tmp_path) == n_received * times * MOST
    # Those in flight at the first bill cost so much more than they had reserved.
    assert spent(tmp_path) <= budget + START * (times - 1) * MOST


def test_replies_that_cannot_be_read_and_are_billed_count_as_billed(tmp_path: Path) -> None:
    def answer(asked: Asked) -> None:
        usage = {"prompt_tokens": 50 * MOST, "completion_tokens": 0}
        asked.send(json.dumps({"choices": [], "usage": usage}).encode())

    with answering(answer) as api:
        with pytest.raises(BudgetReached):
            ask(priced(tmp_path, api.url, 20 * MOST, 1), 10, max_tokens=31)
        n_received = len(api.received)

    assert n_received == 1


def test_one_model_that_bills_more_does_not_make_another_one_dearer(new_budget: NewBudget) -> None:
    budget = new_budget(100.0)
    budget.billed("dear", 2.0, 10.0)
    budget.billed("dear", 2.0, 6.0)
    budget.billed("cheap", 2.0, 1.0)

    assert (budget.highest("dear", 3.0), budget.highest("cheap", 3.0)) == (15.0, 3.0)
