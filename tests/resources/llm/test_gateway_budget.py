"""The gateway on a budget: it stops before it passes it, and what was answered is kept."""

import asyncio
from collections.abc import Iterator

import pytest

from resources.llm.budget import BudgetReached
from resources.llm.ledger import Ledger
from tests.doubles.openai_api import Api, answer_to, serving
from tests.resources.llm.priced import COST, priced, requests, spent
from tests.resources.llm.priced import TEXTS as EVERY_TEXT

TEXTS = EVERY_TEXT[:10]


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
        priced(tmp_path, url, "poor", budget=200).ask("s", requests(TEXTS))

    assert spent(tmp_path) == {"poor": 4 * COST}
    kept = {call.response for call in Ledger(tmp_path / "ledger.sqlite")}
    assert kept == {answer_to(text) for text in heard}, "all that was sent was answered and kept"

    outcomes, usage = priced(tmp_path, url, "rich", budget=1000).ask("s", requests(TEXTS))

    assert [outcome.text for outcome in outcomes] == [answer_to(text) for text in TEXTS]
    assert (usage.calls, usage.cache_hits, usage.cost_usd) == (6, 4, 6 * COST)
    assert spent(tmp_path) == {"poor": 4 * COST, "rich": 6 * COST}
    assert sorted(heard) == TEXTS


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
                gateway.map("s", [*requests(TEXTS[stage : stage + 1]), None], fall)

    # Each was sent, and is answered and billed whether anybody still waits or not: 42 and 42, and the
    # third, 84 + 70 = 154, was not to go.
    assert len(heard) * COST <= 100


def test_what_is_in_the_ledger_costs_no_budget(tmp_path, url):
    priced(tmp_path, url).ask("s", requests(TEXTS))

    outcomes, usage = priced(tmp_path, url, budget=0).ask("s", requests(TEXTS))

    assert len(outcomes) == usage.cache_hits == 10
