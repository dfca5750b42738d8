"""A server that never answers is given up after `give_up_seconds`; one that answers at times is not."""

import time
from pathlib import Path

import pytest

from resources.llm.request import Failure
from tests.doubles.odd_api import Asked, answering, never
from tests.resources.llm.loopback import ask, gateway_of

pytestmark = pytest.mark.slow


def trickles(asked: Asked) -> None:
    """A body that is on its way for as long as the server lives."""
    asked.begin(200, Content_Length="100000")
    while not asked.server.ending.wait(0.05):
        asked.write(b" ")


@pytest.mark.parametrize("answer", [never, trickles])
def test_requests_that_hang_end_together_and_the_failure_names_the_setting(
    tmp_path: Path, answer
) -> None:
    with answering(answer) as api:
        entry = {"base_url": api.url, "give_up_seconds": 0.6, "attempts": 50, "concurrency": 4}
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


def test_a_server_that_throttles_does_answer(tmp_path: Path) -> None:
    def answer(asked: Asked) -> None:
        time.sleep(0.4)
        asked.send(b'{"error": {"message": "Not now."}}', 429)

    with answering(answer) as api:
        entry = {"base_url": api.url, "give_up_seconds": 1.4, "attempts": 4, "concurrency": 1}
        entry["timeouts"] = {"whole": 1.3}
        (outcome,) = ask(gateway_of(tmp_path, {"it": entry}))

    assert isinstance(outcome, Failure) and "Not now" in outcome.detail
