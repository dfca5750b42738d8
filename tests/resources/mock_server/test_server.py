"""The mock model server as a process: the real client's round trip, errors and its end."""

import os
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx2
import openai
import pytest

from resources.mock_server import process
from resources.mock_server.process import MockServerError, MockServerProcess
from tests.doubles.scripts import has_ended, start
from tests.resources.mock_server.mock_drawings import chat_messages, draw

pytestmark = pytest.mark.slow

HELLO = [{"role": "user", "content": "Hello"}]


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    server = MockServerProcess()
    yield server.start()
    server.stop()


@pytest.fixture(scope="module")
def http(base_url: str) -> Iterator[httpx2.Client]:
    root = base_url.removesuffix("/v1")
    with httpx2.Client(base_url=root, trust_env=False, timeout=10) as client:
        yield client


@pytest.fixture(scope="module")
def client(base_url: str) -> Iterator[openai.OpenAI]:
    plain = httpx2.Client(trust_env=False)
    with openai.OpenAI(
        base_url=base_url, api_key="none", max_retries=0, timeout=10, http_client=plain
    ) as found:
        yield found


def test_round_trip(client):
    messages = chat_messages([draw("red", "white", size=(600, 400))], "Describe <image-1>.")
    raw = client.chat.completions.with_raw_response.create(
        model="offline-careful", messages=messages
    )
    assert raw.headers["x-mock"] == "true"
    first = raw.parse()
    again = client.chat.completions.create(model="offline-careful", messages=messages)
    assert first.model_dump() == again.model_dump()
    assert first.id.startswith("chatcmpl-offline-") and first.model == "offline-careful"
    choice = first.choices[0]
    assert choice.finish_reason == "stop" and "white" in choice.message.content
    assert first.usage.prompt_tokens > 85 + 170 * 2
    assert first.usage.completion_tokens >= len(choice.message.content) // 4
    assert "offline-judge" in {model.id for model in client.models.list()}


@pytest.mark.parametrize(
    "header", [{"origin": "http://127.0.0.1:8000"}, {"sec-fetch-site": "same-site"}]
)
def test_a_page_in_a_browser_is_refused(http, header):
    body = {"model": "offline-writer", "messages": HELLO}
    assert http.get("/v1/models", headers=header).status_code == 403
    assert http.post("/v1/chat/completions", json=body, headers=header).status_code == 403


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b'{"model": "offline-writer"}',
        b'{"model": "offline-writer", "messages": [{"role": "king", "content": "x"}]}',
        b'{"model": "offline-writer", "stream": true, "messages": []}',
        b'{"model": "offline-writer", "messages": [{"role": "user", "content": '
        b'[{"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}]}]}',
    ],
)
def test_wrong_requests_are_400(http, body):
    answer = http.post("/v1/chat/completions", content=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "invalid_request_error"


def test_it_starts_once_and_stops_once():
    server = MockServerProcess()
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(lambda _: server.start(), range(4)))) == 1
    pid = server.pid
    server.stop()
    server.stop()
    assert server.pid is None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_failure_to_start_is_one_sentence(monkeypatch):
    monkeypatch.setattr(process.sys, "executable", "/bin/false")
    with pytest.raises(MockServerError, match="did not print its address within") as caught:
        MockServerProcess().start()
    assert "\n" not in str(caught.value)


def test_server_exits_with_its_parent():
    script = """
        import time
        from resources.mock_server.process import MockServerProcess

        server = MockServerProcess()
        server.start()
        print(server.pid, flush=True)
        time.sleep(60)
    """
    with start(script, stdout=subprocess.PIPE) as parent:
        pid = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 3
    while not has_ended(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert has_ended(pid)
