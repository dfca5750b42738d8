"""The gateway on a provider's bad days: everything is answered right, and nothing is paid for twice.

The provider is `faulty_api`, which draws what becomes of an attempt from the request and the attempt's
number alone. So what a caller that does everything right sends is known before, attempt by attempt,
and the record of what arrived is compared with that.
"""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from resources.llm import circuit_breaker, concurrency
from resources.llm.budget import BudgetReached
from resources.llm.ledger import Charge, Ledger
from resources.llm.request import Completion, Outcome
from resources.llm.usage import Usage
from tests.doubles.faulty_api import (
    ABANDONED,
    ANSWERED,
    FILTERED,
    LOST,
    REJECTED,
    FaultyApi,
    Weather,
)
from tests.doubles.openai_api import answer_to, serving
from tests.resources.llm.entries import (
    DOLLAR_A_TOKEN,
    AskingGateway,
    change_entries,
    charges_of,
    gateway_of,
    requests_of,
)

pytestmark = pytest.mark.slow


def make_gateway(folder, url, concurrency=8, budget_usd=None) -> AskingGateway:
    entry = {"base_url": url, "concurrency": concurrency, "price": DOLLAR_A_TOKEN}
    return gateway_of(folder, {"it": entry}, budget_usd)


def ask(
    gateway: AskingGateway, texts: list[str], **params: int
) -> tuple[dict[str, Outcome], Usage]:
    outcomes, usage = gateway.ask("stage", requests_of(texts, **params))
    return dict(zip(texts, outcomes, strict=True)), usage


def answers_in(ledger: Ledger) -> dict[str, str]:
    return {call.request["messages"][0]["parts"][0]: call.response for call in ledger}  # type: ignore[index]


TEXTS = [f"Question {number}: which way is north?" for number in range(400)]
BAD_DAY = Weather(share=0.3, rejected=0.01, filtered=0.01, seed=1)
CONCURRENCY = 64


class Day(NamedTuple):
    """What the requests were told, what arrived at the provider by then, and what was kept."""

    outcomes: dict[str, Outcome]
    usage: Usage
    ends: dict[str, list[str]]
    answers: dict[str, str]
    charges: list[Charge]


@pytest.fixture(scope="module")
def days(tmp_path_factory) -> Iterator[tuple[Day, Day]]:
    """Everything asked, and asked again on the same ledger."""
    folder = tmp_path_factory.mktemp("days")

    def live() -> Day:
        gateway = change_entries(
            make_gateway(folder, url, CONCURRENCY),
            # 0.3 ** 16 of the requests, one in 200 million, would fail so often.
            attempts=16,
            # Far above what 64 side by side take on two cores, 0.2 s, so that none of these is early.
            timeouts={"whole": 2.0},
            retry_wait={"first": 0.02, "most": 0.02},
        )
        outcomes, usage = ask(gateway, TEXTS)
        kept = gateway.ledger
        return Day(outcomes, usage, api.ends(), answers_in(kept), charges_of(kept))

    api = FaultyApi(BAD_DAY)
    with serving(api) as url:
        yield live(), live()


def price_of(text: str) -> int:
    """Dollars that the provider's work on a request costs: one a token, and it counts characters."""
    return len(text) + len(answer_to(text))


def test_every_request_has_its_own_end_and_is_sent_counted_and_paid_for_once(days):
    day, again = days
    lots = {text: BAD_DAY.lot(text) for text in TEXTS}
    answered, filtered, rejected = (
        {text for text in TEXTS if lots[text] == end} for end in (ANSWERED, FILTERED, REJECTED)
    )
    told = {
        text: outcome.text if isinstance(outcome, Completion) else outcome.kind
        for text, outcome in day.outcomes.items()
    }
    kinds = {FILTERED: "refused", REJECTED: "bad_request"}
    assert told == {text: kinds.get(lots[text], answer_to(text)) for text in TEXTS}
    # The whole of it: no attempt too many, none too few, none after the answer, none given up early.
    assert day.ends == {text: BAD_DAY.plan(text) for text in TEXTS}
    # 0.3 ** 4 of 400, 3, are asked more than four times.
    assert max(map(len, day.ends.values())) > 4
    # The ledger has exactly what was answered and what was withheld or rejected.
    assert day.answers == {text: answer_to(text) for text in answered}
    keys = {text: day.outcomes[text].key for text in TEXTS}
    assert sorted(each.key for each in day.charges) == sorted(
        keys[text] for text in filtered | rejected
    )
    assert {each.key for each in day.charges if each.cost_usd} == {keys[text] for text in filtered}
    assert (day.usage.calls, day.usage.cache_hits) == (len(answered), 0)
    assert day.usage.failures == {"refused": len(filtered), "bad_request": len(rejected)}
    # What the filter withheld was paid for like what it let through.
    assert day.usage.cost_usd == sum(price_of(text) for text in answered | filtered)

    # Asked again, nothing that was answered is sent.
    assert {text for text in TEXTS if again.ends[text] == day.ends[text]} == answered
    assert (again.usage.calls, again.usage.cache_hits) == (0, day.usage.calls)
    assert again.usage.failures == day.usage.failures and again.answers == day.answers
    cached = {text for text, each in again.outcomes.items() if getattr(each, "cached", False)}
    assert cached == answered


def test_a_moment_that_takes_all_in_flight_is_one_pause_and_gives_nobody_up(tmp_path, monkeypatch):
    monkeypatch.setattr(circuit_breaker, "FIRST_PAUSE", 0.2)
    monkeypatch.setattr(concurrency, "START", 128)
    # A server that kept up with 128 requests starts again: all connections are gone, then all is well.
    api = FaultyApi(Weather(share=1.0, mix={"reset": 1}, passes_after=1, latency=(100, 0)))
    with serving(api) as url:
        outcomes, _ = ask(make_gateway(tmp_path, url, concurrency=128), TEXTS[:128])

    assert all(isinstance(outcome, Completion) for outcome in outcomes.values())
    assert api.ends() == {text: ["reset", ANSWERED] for text in TEXTS[:128]}


@pytest.mark.parametrize("kind", sorted(LOST - {ABANDONED}))
def test_what_is_lost_counts_against_the_budget(tmp_path, kind):
    # Each time the provider works is 31 characters asked and 49 answered, $80. Of $640 an attempt sets
    # 31 + 8 + 100 = $139 aside, the most it may cost: four are under way. Twenty would be $1,600.
    asked = TEXTS[:10]
    api = FaultyApi(Weather(share=1.0, mix={kind: 1}, latency=(2, 0)))
    with serving(api) as url:
        # Patience is short where nothing else ends the attempt.
        whole = 0.6 if kind in ("silence", "trickle") else 30.0
        gateway = make_gateway(tmp_path, url, budget_usd=640)
        change_entries(gateway, attempts=2, timeouts={"whole": whole})
        with pytest.raises(BudgetReached):
            ask(gateway, asked, max_tokens=100)
        ends = api.ends()

    # Each of them is work of the provider that was lost.
    charged = sum(len(of_text) * price_of(text) for text, of_text in ends.items())
    assert 0 < charged <= 640
