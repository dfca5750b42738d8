"""The limit of tokens per minute counts what the model may answer, before it has answered."""

import threading
import time
from pathlib import Path

import pytest

from tests.doubles.odd_api import Asked, answering
from tests.resources.llm.loopback import ask, gateway_of


def most_at_once(folder: Path, entry: dict[str, object], seconds: float, **params: int) -> int:
    """How many of eight requests were with the server at the same time, of eight that may be."""
    lock, here, most = threading.Lock(), 0, 0

    def answer(asked: Asked) -> None:
        nonlocal here, most
        with lock:
            here += 1
            most = max(most, here)
        time.sleep(seconds)
        with lock:
            here -= 1
        asked.says()

    with answering(answer) as api:
        model = {"base_url": api.url, "concurrency": 8, "tokens_per_minute": 5000, **entry}
        outcomes = ask(gateway_of(folder, {"it": model}), 8, **params)
    assert len(outcomes) == 8
    return most


@pytest.mark.parametrize(
    ("entry", "params"),
    [({}, {}), ({"token_limit": {"tokens": 4096}}, {"max_tokens": 100})],
    ids=["no limit is sent", "the entry's own limit"],
)
def test_two_of_the_longest_answers_do_not_fit_into_a_minute_of_5000_tokens(
    tmp_path: Path, entry: dict[str, object], params: dict[str, int]
) -> None:
    assert most_at_once(tmp_path, entry, 0.02, **params) == 1
