"""The gateway under a model's limits, against a real server."""

import time

import pytest

from resources.llm import circuit_breaker, run_context
from resources.llm.canary import FIRST_RESULTS
from resources.llm.model_calls import AuthError
from resources.llm.progress import ProgressReport
from tests.doubles.odd_api import Asked, answering, never, refusing
from tests.resources.llm.entries import ask, ask_server, charges_of, gateway_of, kinds, questions


@pytest.mark.parametrize("limit", [{"requests_per_minute": 10}, {"tokens_per_minute": 5_100}])
def test_a_limit_per_minute_holds_across_stages(tmp_path, monkeypatch, limit):
    # A minute of 0.4 seconds. 25 requests at 10 a minute: 10, 10, 5, so two minutes are waited. Each
    # is estimated at 503 tokens and uses 510, so ten fit into 5,100 as well.
    monkeypatch.setattr(run_context, "WINDOW", 0.4)
    with answering(lambda asked: asked.says(tokens=(10, 500))) as api:
        gateway = gateway_of(tmp_path, {"it": {"base_url": api.url, "concurrency": 8, **limit}})
        began = time.monotonic()
        for stage, n in (("one", 12), ("two", 25)):
            outcomes, _ = gateway.ask(stage, questions(n, max_tokens=500))
            assert kinds(outcomes) == ["answered"] * n
        assert time.monotonic() - began >= 0.8
    assert len(gateway.ledger) == 25


def test_refusals_for_asking_too_much_leave_fewer_in_flight(tmp_path):
    with answering(refusing(429, to=lambda asked: len(asked.server.received) <= 3)) as api:
        gateway = gateway_of(tmp_path, {"it": {"base_url": api.url, "concurrency": 8}})
        assert kinds(ask(gateway, 6)) == ["answered"] * 6
    # One halving of the first 4, then one more for each round of answers: two and three of the six.
    spec = gateway.registry.model("it")
    assert 2 <= gateway.context.limits(spec).allowed <= 4


@pytest.mark.slow
def test_requests_that_hang_end_together_and_the_failure_names_the_setting(tmp_path):
    entry = {"give_up_seconds": 0.6, "attempts": 50, "concurrency": 4, "timeouts": {"whole": 0.5}}
    outcomes, api = ask_server(tmp_path, never, 12, **entry)

    ((kind, detail),) = {(each.kind, each.detail) for each in outcomes}
    assert kind == "unreachable"
    assert "gave no reply for 0.6 seconds (give_up_seconds), so the stage stopped" in detail
    assert len(api.received) <= 8, "what was in flight, and each once more"


def test_a_stage_that_gave_a_server_up_does_not_keep_the_next_one_from_asking(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(circuit_breaker, "FIRST_PAUSE", 0.05)
    is_down = True
    with answering(refusing(503, "Service unavailable.", lambda _: is_down)) as api:
        entry = {"base_url": api.url, "concurrency": 4, "give_up_seconds": 0.5, "attempts": 50}
        entry["timeouts"] = {"whole": 0.4}
        gateway = gateway_of(tmp_path, {"it": entry})
        before, _ = gateway.ask("one", questions(12))
        n_while_down = len(api.received)
        is_down = False
        after, _ = gateway.ask("two", questions(12))

    assert kinds(before) == ["server_error"] * 12
    assert all("503 Service unavailable" in each.detail for each in before)
    assert n_while_down < 30, "few requests are sent while the server is down"
    assert kinds(after) == ["answered"] * 12


@pytest.mark.parametrize(
    ("forbidden", "status", "kind"),
    [(0, 403, "refused"), (30, 401, "auth")],
    ids=["a 403 for the first question", "a 401 for a key that has worked"],
)
def test_one_refusal_costs_one_question(tmp_path, forbidden, status, kind):
    text = f"Question {forbidden}?".encode()
    answer = refusing(
        status, "Requests of this kind are not served.", lambda asked: text in asked.body
    )
    outcomes, _ = ask_server(tmp_path, answer, 40, concurrency=1)

    expected = ["answered"] * 40
    expected[forbidden] = kind
    assert kinds(outcomes) == expected


def test_a_key_that_is_withdrawn_amid_a_run_stops_it(tmp_path):
    with answering(refusing(401, to=lambda asked: len(asked.server.received) > 10)) as api:
        gateway = gateway_of(tmp_path, {"it": {"base_url": api.url, "concurrency": 2}})
        with pytest.raises(AuthError, match="it: The server"):
            ask(gateway, 200)
        assert len(api.received) < 10 + 2 * FIRST_RESULTS


def test_timeouts_and_what_is_sent_again_are_counted(tmp_path):
    def answer(asked: Asked) -> None:
        if len(asked.server.received) == 1:
            never(asked)
        else:
            asked.says()

    with answering(answer) as api:
        entry = {"base_url": api.url, "concurrency": 1, "timeouts": {"whole": 0.3}}
        gateway = gateway_of(tmp_path, {"it": entry})
        outcomes, usage = gateway.ask("s", questions(3))

    assert kinds(outcomes) == ["answered"] * 3
    assert (usage.timeouts, usage.sent_again) == (1, 1)
    line = ProgressReport("s", 3, 3, usage, 1.0, None).line()
    assert "0 failed, 1 attempt failed, 1 timed out, 1 sent again, 1.0/s" in line
    assert "last attempt" not in line
    assert usage.metadata()["attempts that timed out"] == 1


def test_the_line_and_the_ledger_have_the_cause_of_what_a_server_did_not_answer(tmp_path):
    gateway = gateway_of(tmp_path, {"it": {"base_url": "http://127.0.0.1:1/v1", "attempts": 1}})
    _, usage = gateway.ask("s", questions(1))

    line = ProgressReport("s", 0, 3, usage, 0.0, None).line()
    sentence = "Nothing listens at 127.0.0.1:1: start the server, or correct base_url of it"
    assert f"1 attempt failed; the last attempt: {sentence}" in line
    (charge,) = charges_of(gateway.ledger)
    assert (charge.outcome, charge.cost_usd, charge.stage) == ("unreachable", 0.0, "s")
    assert charge.detail == f"{sentence} in models.yaml."
