"""The gateway among others: whoever asks the same over one ledger at once, it is sent once."""

import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from methods.prompts.messages import Message
from resources.images.store import ImageStore
from resources.llm.gateway import Gateway
from resources.llm.ledger import Ledger
from resources.llm.registry import load_registry
from resources.llm.request import ChatRequest, Outcome
from resources.llm.usage import Usage
from resources.mock_server.process import MockServerProcess
from tests.doubles.faulty_api import FaultyApi, Weather
from tests.doubles.openai_api import Api, answer_to, serving
from tests.doubles.scripts import start
from tests.resources.llm.test_request_locks import PIPES, together

pytestmark = pytest.mark.slow

MODELS = """
profiles: {{p: {{writer: it, judge: it, evaluate: [it]}}}}
models:
  it: {{provider: openai, base_url: "{url}", concurrency: 8, retry_wait: {{first: 0, most: 0}}}}
"""
TEXTS = [f"Question {number}: which way is north?" for number in range(20)]
ASKER = """
    import json, sys
    from pathlib import Path
    import openai, aiohttp
    import resources.llm.errors
    from tests.resources.llm.test_gateway_request_locks import ask

    print("ready", flush=True)
    sys.stdin.readline()
    outcomes, usage = ask(Path(sys.argv[1]), sys.argv[2])
    print(json.dumps([[each.text for each in outcomes], usage.calls, usage.cache_hits]))
"""


def ask(folder: Path, url: str) -> tuple[list[Outcome], Usage]:
    """What a run of its own gets that asks everything, over the one ledger in `folder`."""
    models = folder / f"models-{os.getpid()}-{threading.get_ident()}.yaml"
    models.write_text(MODELS.format(url=url))
    ledger, images = Ledger(folder / "ledger.sqlite"), ImageStore(folder / "images")
    requests = [
        ChatRequest("it", (Message.from_text("user", text),), "test/flight@1") for text in TEXTS
    ]
    return Gateway(load_registry(models), "p", ledger, images, launcher=MockServerProcess()).ask(
        "s", requests
    )


def test_two_processes_on_a_bad_day_send_each_request_once_more_for_each_of_its_faults(tmp_path):
    faults = ("429 seconds", "500", "502 html", "reset", "reset in body", "truncated", "no choices")
    weather = Weather(0.4, dict.fromkeys(faults, 1), latency=("uniform", 5, 30), passes_after=4)
    with FaultyApi(weather) as api, start(ASKER, tmp_path, api.url, **PIPES) as one:
        with start(ASKER, tmp_path, api.url, **PIPES) as other:
            together([one, other])
            told = [json.loads(asker.stdout.readline()) for asker in (one, other)]
        ends = api.ends()

    assert ends == {text: weather.plan(text) for text in TEXTS}
    assert {len(each) for each in ends.values()} >= {1, 2, 3}, "a day that is bad enough"
    # Each answer was paid for by one of them and found by the other.
    assert [answers for answers, _, _ in told] == [[answer_to(text) for text in TEXTS]] * 2
    assert sum(calls for _, calls, _ in told) == sum(hits for _, _, hits in told) == 20


def test_who_waits_for_an_asker_that_is_killed_asks_what_that_left_open(tmp_path):
    heard: list[str] = []
    # Slow enough for the second to come before the first has its answers.
    with (
        serving(Api((150, 200), lambda _key, text: heard.append(text))) as url,
        start(ASKER, tmp_path, url, **PIPES) as killed,
        ThreadPoolExecutor(1) as pool,
    ):
        together([killed])
        end = time.monotonic() + 30
        while len(heard) < 8:
            assert time.monotonic() < end
            time.sleep(0.005)
        waits = pool.submit(ask, tmp_path, url)
        time.sleep(0.1)
        killed.kill()
        before = list(heard)
        outcomes, _ = waits.result(60)

    assert len(set(before)) == len(before), "nothing is sent beside who is at it"
    assert [outcome.text for outcome in outcomes] == [answer_to(text) for text in TEXTS]
