"""A server that never answers is given up after `give_up_seconds`; one that answers at times is not."""

import time
from collections import Counter
from pathlib import Path

import pytest

from resources.llm import circuit_breaker
from resources.llm.canary import FIRST_RESULTS
from resources.llm.request import Completion, Failure
from tests.doubles.odd_api import Asked, answering, never
from tests.resources.llm.loopback import ask, gateway_of, questions

pytestmark = pytest.mark.slow

PATIENT = {"attempts": 50}


def trickles(asked: Asked) -> None:
    """A body that is on its way for as long as the server lives."""
    asked.begin(200, Content_Length="100000")
    while not asked.server.ending.wait(0.05):
        asked.write(b" ")


def hangs_up(asked: Asked) -> None:
    """No answer, but the end of the connection."""
    asked.close_connection = True


@pytest.mark.parametrize("answer", [never, trickles])
def test_requests_that_hang_end_together_and_the_failure_names_the_setting(
    tmp_path: Path, answer
) -> None:
    with answering(answer) as api:
        entry = {"base_url": api.url, "give_up_seconds": 0.6, **PATIENT, "concurrency": 4}
        entry["timeouts"] = {"whole": 0.5}
        outcomes = ask(gateway_of(tmp_path, {"it": entry}), 12)
        n_received = len(api.received)

    assert {(each.kind, each.detail) for each in outcomes if isinstance(each, Failure)} == {
        (
            "unreachable",
            "The server of it gave no reply for 0.6 seconds (give_up_seconds), so the stage stopped "
            "asking it. Start the server, or raise give_up_seconds of the entry in models.yaml if "
            "the server needs longer, and run again.",
        )
    }
    assert n_received <= 8, "what was in flight, and each once more"


def test_attempts_that_time_out_one_after_another_count_together(tmp_path: Path) -> None:
    with answering(never) as api:
        entry = {"base_url": api.url, "give_up_seconds": 1, "attempts": 50}
        entry["timeouts"] = {"whole": 0.3}
        (outcome,) = ask(gateway_of(tmp_path, {"it": entry}))
        n_received = len(api.received)

    assert isinstance(outcome, Failure) and "gave no reply for 1 seconds" in outcome.detail
    # After 0.3, 0.6 and 0.9 seconds, where nothing else takes time; the last one is cut off.
    assert n_received <= 4


def test_the_pauses_for_a_server_that_is_down_count_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Ten failed attempts are a pause, the next ten one twice as long.
    monkeypatch.setattr(circuit_breaker, "FIRST_PAUSE", 0.2)
    with answering(hangs_up) as api:
        entry = {"base_url": api.url, "give_up_seconds": 0.5, "attempts": 50, "concurrency": 2}
        entry["timeouts"] = {"whole": 0.4}
        outcomes = ask(gateway_of(tmp_path, {"it": entry}), 2)

    assert {each.kind for each in outcomes if isinstance(each, Failure)} == {"unreachable"}
    assert all(isinstance(each, Failure) and "for 0.5 seconds" in each.detail for each in outcomes)


def test_a_slow_model_that_answers_now_and_then_is_never_given_up(tmp_path: Path) -> None:
    def answer(asked: Asked) -> None:
        number = len(asked.server.received)
        if number % 2:
            never(asked)
        else:
            time.sleep(0.1)
            asked.says()

    began = time.monotonic()
    with answering(answer) as api:
        entry = {"base_url": api.url, "give_up_seconds": 2, "concurrency": 2, "attempts": 50}
        entry["timeouts"] = {"whole": 0.5}
        outcomes = ask(gateway_of(tmp_path, {"it": entry}), 10)

    assert time.monotonic() - began > 2
    assert all(isinstance(each, Completion) for each in outcomes)


def test_a_server_that_throttles_does_answer(tmp_path: Path) -> None:
    def answer(asked: Asked) -> None:
        time.sleep(0.4)
        asked.send(b'{"error": {"message": "Not now."}}', 429)

    with answering(answer) as api:
        entry = {"base_url": api.url, "give_up_seconds": 1.4, "attempts": 4, "concurrency": 1}
        entry["timeouts"] = {"whole": 1.3}
        (outcome,) = ask(gateway_of(tmp_path, {"it": entry}))

    assert isinstance(outcome, Failure) and "Not now" in outcome.detail


def test_a_server_that_answers_with_errors_alone_is_given_up(tmp_path: Path) -> None:
    def answer(asked: Asked) -> None:
        time.sleep(0.2)
        asked.send(b'{"error": {"message": "Not now."}}', 500)

    with answering(answer) as api:
        entry = {"base_url": api.url, "give_up_seconds": 0.7, "attempts": 50, "concurrency": 1}
        entry["timeouts"] = {"whole": 0.6}
        (outcome,) = ask(gateway_of(tmp_path, {"it": entry}))

    assert isinstance(outcome, Failure) and outcome.kind == "server_error"
    assert "replied only with errors (500 Not now) for 0.7 seconds" in outcome.detail


def test_time_in_which_nothing_is_asked_does_not_count(tmp_path: Path) -> None:
    with answering(Asked.says) as api:
        entry = {"base_url": api.url, "give_up_seconds": 1, "timeouts": {"whole": 0.9}}
        gateway = gateway_of(tmp_path, {"it": entry})
        gateway.ask("one", questions(2))
        time.sleep(1.1)
        outcomes, _ = gateway.ask("two", questions(4))

    assert all(isinstance(each, Completion) for each in outcomes)


def test_one_that_hangs_does_not_hold_up_one_that_answers(tmp_path: Path) -> None:
    ended: list[str] = []

    async def work(calls, request):
        outcome = await calls.complete(request)
        ended.append(request.model)
        return outcome

    with answering(never) as silent, answering(Asked.says) as good:
        models = {
            "silent": {
                **{"base_url": silent.url, "give_up_seconds": 2, **PATIENT, "concurrency": 4},
                "timeouts": {"whole": 1.9},
            },
            "good": {"base_url": good.url, "concurrency": 4},
        }
        gateway = gateway_of(tmp_path, models)
        items = questions(40, "silent") + questions(40, "good")
        results, _ = gateway.map("stage", items, work, apart=lambda request: request.model)

    assert all(isinstance(each, Completion) for each in results[40:])
    # The good one had answered everything before the silent one was given up.
    assert ended == ["good"] * 40 + ["silent"] * 40
    kinds = Counter(each.kind for each in results[:40])
    assert kinds == {"unreachable": FIRST_RESULTS, "given_up": 40 - FIRST_RESULTS}
