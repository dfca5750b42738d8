"""The gateway on a budget: it stops before it passes it, or by calls in flight where more is billed."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from resources.llm.budget import BudgetReached
from resources.llm.concurrency import START
from resources.llm.ledger import Ledger
from tests.doubles.odd_api import Asked, answering
from tests.doubles.openai_api import Api, answer_to, serving
from tests.resources.llm.entries import (
    DOLLAR_A_TOKEN,
    AskingGateway,
    ask,
    charges_of,
    gateway_of,
    requests_of,
)

# A dollar a token, and the stand-in counts characters: 12 asked and 12 + 18 answered are $42. At most a
# call may cost a token a byte, 8 for the message and its 50 answered: 12 + 8 + 50 = $70.
TEXTS = [f"Question {number:02}?" for number in range(10)]
REQUESTS = requests_of(TEXTS, max_tokens=50)
COST = 42
MOST = 50
"""Dollars that a question of `entries` may cost with 31 tokens answered: 11 + 8 + 31."""


def priced(
    folder: Path, url: str, run: str = "", budget: float | None = None, concurrency: int = 8
) -> AskingGateway:
    """A gateway as each run makes its own, over one ledger."""
    entry = {"base_url": url, "concurrency": concurrency, "price": DOLLAR_A_TOKEN}
    return gateway_of(folder, {"it": entry}, budget, run=run)


def spent(folder: Path) -> Counter[str]:
    """By run, what answers and lost answers cost."""
    ledger, costs = Ledger(folder / "ledger.sqlite"), Counter[str]()
    for each in (*ledger, *charges_of(ledger)):
        costs[each.run] += each.cost_usd  # type: ignore[assignment]
    return costs


@pytest.fixture
def heard() -> list[str]:
    return []


@pytest.fixture
def url(heard: list[str]) -> Iterator[str]:
    with serving(Api((5, 10), lambda _key, text: heard.append(text))) as address:
        yield address


def test_a_run_stops_before_it_passes_its_budget_and_the_next_asks_only_the_rest(
    tmp_path, url, heard
):
    assert [len(text) + len(answer_to(text)) for text in TEXTS] == [COST] * 10
    # Of $200, two of $70 are set aside; a third fits when the first has cost 42, a fourth when the
    # third has: 3 * 42 + 70 = 196. Then 4 * 42 + 70 = 238.
    with pytest.raises(BudgetReached, match=r"has spent \$168\.0000 .* may cost \$70\.0000"):
        priced(tmp_path, url, "poor", budget=200).ask("s", REQUESTS)

    assert spent(tmp_path) == {"poor": 4 * COST}
    kept = {call.response for call in Ledger(tmp_path / "ledger.sqlite")}
    assert kept == {answer_to(text) for text in heard}, "all that was sent was answered and kept"

    outcomes, usage = priced(tmp_path, url, "rich", budget=1000).ask("s", REQUESTS)

    assert [outcome.text for outcome in outcomes] == [answer_to(text) for text in TEXTS]
    assert (usage.calls, usage.cache_hits, usage.cost_usd) == (6, 4, 6 * COST)
    assert spent(tmp_path) == {"poor": 4 * COST, "rich": 6 * COST}
    assert sorted(heard) == TEXTS

    # What is in the ledger costs no budget.
    _, usage = priced(tmp_path, url, "broke", budget=0).ask("s", REQUESTS)
    assert usage.cache_hits == 10


def test_what_is_cut_off_with_its_stage_counts_against_the_budget(tmp_path, heard):
    async def fall(session, request):
        if request is not None:
            await session.complete(request)
        while len(heard) < stage:
            await asyncio.sleep(0.001)
        raise ZeroDivisionError  # as a key does that is refused

    with serving(Api((500, 500), lambda _key, text: heard.append(text))) as slow:
        gateway = priced(tmp_path, slow, budget=100)
        for stage in (1, 2, 3):
            with pytest.raises((ZeroDivisionError, BudgetReached)):
                gateway.map("s", [REQUESTS[stage], None], fall)

    # Each was sent, and is answered and billed whether anybody still waits or not: 42 and 42, and the
    # third, 84 + 70 = 154, was not to go.
    assert len(heard) * COST <= 100


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
    tmp_path, times, budget, n_sent, concurrency
):
    with answering(lambda asked: asked.says(tokens=(times * MOST - 1, 1))) as api:
        with pytest.raises(BudgetReached, match=rf"may cost \${times * MOST}\.0000"):
            gateway = priced(tmp_path, api.url, budget=budget, concurrency=concurrency)
            ask(gateway, 10, max_tokens=31)
        n_received = len(api.received)

    assert n_received == n_sent if concurrency == 1 else n_received >= n_sent
    assert spent(tmp_path).total() == n_received * times * MOST
    # Those in flight at the first bill cost so much more than they had reserved.
    assert spent(tmp_path).total() <= budget + START * (times - 1) * MOST


def test_replies_that_cannot_be_read_and_are_billed_count_as_billed(tmp_path):
    def answer(asked: Asked) -> None:
        usage = {"prompt_tokens": 50 * MOST, "completion_tokens": 0}
        asked.send(json.dumps({"choices": [], "usage": usage}).encode())

    with answering(answer) as api:
        with pytest.raises(BudgetReached):
            gateway = priced(tmp_path, api.url, budget=20 * MOST, concurrency=1)
            ask(gateway, 10, max_tokens=31)
        assert len(api.received) == 1
