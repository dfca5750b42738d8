"""The size of a reply is limited while it arrives, and that of a request before it is sent."""

import asyncio
import gzip
import json
import resource
import zlib
from dataclasses import replace
from functools import cache, partial

import openai
import pytest

from methods.prompts.messages import Message
from resources.llm import reply
from resources.llm.clients import Clients
from resources.llm.errors import server_error
from resources.llm.ledger.batch_state import FailedRequest
from resources.llm.request import ChatRequest, Completion, Failure
from resources.mock_server.process import MockServerProcess
from tests.doubles.odd_api import PIECE, Asked, answering, refusing
from tests.doubles.openai_api import completion
from tests.resources.llm.entries import (
    ask,
    ask_server,
    batch_result,
    change_entries,
    gateway_of,
    spec_of,
)

MB = 1_000_000
GIGABYTE = 1_000 * MB
COMPLETION = completion({"role": "assistant", "content": "Fine."}, 10, 5)


@cache
def squeezed() -> bytes:
    """64 megabytes of zeros, packed by gzip."""
    squeeze = zlib.compressobj(9, wbits=31)
    return b"".join(squeeze.compress(bytes(MB)) for _ in range(64)) + squeeze.flush()


def announced(asked: Asked) -> None:
    asked.begin(200, Content_Length=str(GIGABYTE))
    while asked.server.n_sent < GIGABYTE:
        asked.write(PIECE)


def endless(asked: Asked) -> None:
    asked.begin(200, Transfer_Encoding="chunked")
    while asked.server.n_sent < GIGABYTE:
        asked.write_chunk(PIECE)


def until_closed(asked: Asked) -> None:
    """A body that ends with the connection, and it never ends."""
    asked.close_connection = True
    asked.begin(200)
    while asked.server.n_sent < GIGABYTE:
        asked.write(PIECE)


def bomb(asked: Asked, status: int = 200, layers: int = 1) -> None:
    """64 kilobytes that are 64 megabytes once decoded; less in two layers."""
    body = squeezed()
    for _ in range(layers - 1):
        body = gzip.compress(body)
    asked.send(body, status, Content_Encoding=", ".join(["gzip"] * layers))


def behind_its_end(asked: Asked) -> None:
    """A small compressed body, and after its end what no decoder passes on but keeps."""
    asked.begin(200, Transfer_Encoding="chunked", Content_Encoding="gzip")
    asked.write_chunk(gzip.compress(COMPLETION))
    while asked.server.n_sent < GIGABYTE:
        asked.write_chunk(PIECE)


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def test_a_reply_as_large_as_allowed_is_read_compressed_or_not(tmp_path):
    def answer(asked: Asked) -> None:
        if "1" in asked.json["messages"][0]["content"]:
            asked.send(gzip.compress(COMPLETION), Content_Encoding="gzip")
        else:
            asked.send(COMPLETION)

    outcomes, _ = ask_server(tmp_path, answer, 2, max_reply_bytes=len(COMPLETION))

    assert [isinstance(each, Completion) and each.text for each in outcomes] == ["Fine.", "Fine."]


ENDLESS = {
    **{answer.__name__: answer for answer in (announced, endless, until_closed, behind_its_end)},
    "a bomb in an error": partial(bomb, status=503),
    "a bomb in a bomb": partial(bomb, layers=2),
}


@pytest.mark.parametrize("answer", ENDLESS.values(), ids=ENDLESS)
def test_a_reply_without_an_end_is_a_failure_after_one_attempt_and_takes_little_memory(
    tmp_path, answer
):
    with answering(answer) as api:
        gateway = gateway_of(tmp_path, {"it": {"base_url": api.url, "max_reply_bytes": MB}})
        ask(gateway_of(tmp_path, {"it": {"base_url": "http://127.0.0.1:9/v1", "attempts": 1}}))
        assert len(squeezed()) < MB
        before = peak_mb()
        (outcome,) = ask(gateway)
        grown = peak_mb() - before
        sent, n_received = api.n_sent, len(api.received)

    assert isinstance(outcome, Failure) and outcome.kind == "bad_response"
    assert "larger than the 1000000 bytes that max_reply_bytes of it allows" in outcome.detail
    assert n_received == 1
    # A megabyte is kept, and a few are on their way.
    assert sent < 20 * MB
    assert grown < 20


def test_without_a_setting_sixteen_megabytes_are_read_and_no_more(tmp_path):
    sizes = iter([16 * MB, 16 * MB + 1])

    def answer(asked: Asked) -> None:
        asked.send(COMPLETION + b" " * (next(sizes) - len(COMPLETION)))

    outcomes, _ = ask_server(tmp_path, answer, 2, concurrency=1)

    assert [*map(type, outcomes)] == [Completion, Failure]


MOST = 1_000_000
MESSAGES = {
    "text": lambda text: {"content": text},
    "parts": lambda text: {"content": [{"type": "text", "text": text[:9]}, text[9:]]},
    "reasoning": lambda text: {"content": "A", "reasoning_content": text},
    "reasoning in a part": lambda text: {"content": [{"type": "thinking", "thinking": text}, "A"]},
    "refusal": lambda text: {"content": None, "refusal": text},
}


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
@pytest.mark.parametrize("tokens", [(10, 100_000), (0, 0)], ids=["counted", "not counted"])
def test_a_text_of_more_than_a_million_characters_is_a_failure_after_one_attempt(
    tmp_path, monkeypatch, message, tokens
):
    scanned: list[str] = []
    monkeypatch.setattr(reply, "without_reasoning", scanned.append)
    text = ("(A) or B? " * 1_500_000)[: 15 * MB]

    def answer(asked: Asked) -> None:
        asked.send(completion({"role": "assistant", **message(text)}, *tokens))

    (outcome,), api = ask_server(tmp_path, answer)

    assert isinstance(outcome, Failure) and outcome.kind == "bad_response"
    assert "The reply of it has a text of 15,000,000 characters" in outcome.detail
    assert "at most 1,000,000 are read: set a lower token_limit.tokens" in outcome.detail
    assert scanned == []
    assert len(api.received) == 1
    failed = batch_result(json.loads(completion(message(text), *tokens)), spec_of())
    assert isinstance(failed, FailedRequest)
    assert (failed.kind, failed.again) == ("bad_response", False)


def test_a_text_of_a_million_characters_is_read_in_addition_to_as_much_reasoning(tmp_path):
    def answer(asked: Asked) -> None:
        text = "A" * MOST
        asked.send(
            completion({"content": text, "reasoning_content": text, "reasoning": text}, 10, 5)
        )

    (outcome,), _ = ask_server(tmp_path, answer)

    assert isinstance(outcome, Completion) and len(outcome.text) == MOST


REASON = b'{"error": {"message": "No tools here.", "input": "'


def refused_endlessly(asked: Asked) -> None:
    asked.begin(400, Transfer_Encoding="chunked")
    asked.write_chunk(REASON)
    while asked.server.n_sent < GIGABYTE:
        asked.write_chunk(PIECE)


def refused_and_compressed(asked: Asked) -> None:
    asked.send(gzip.compress(REASON + bytes(19 * MB)), 400, Content_Encoding="gzip")


@pytest.mark.parametrize("answer", [refused_endlessly, refused_and_compressed])
def test_of_an_error_a_megabyte_is_read_and_its_reason_is_kept(tmp_path, answer):
    outcomes, _ = ask_server(tmp_path, answer, 2, concurrency=1)

    for failure in outcomes:
        assert isinstance(failure, Failure) and failure.kind == "bad_request"
        assert "The server answered 400" in failure.detail and "No tools here." in failure.detail


def test_the_body_of_an_error_is_read_once():
    async def refusal(url: str) -> openai.APIStatusError:
        async with Clients(MockServerProcess()) as clients:
            client = await clients.client(spec_of(base_url=url))
            with pytest.raises(openai.APIStatusError) as raised:
                await client.chat.post(b"{}")
        return raised.value

    with answering(refusing(503, "Busy.")) as api:
        error = asyncio.run(refusal(api.url))
    response = server_error(error)
    assert response is not None and response.message == "Busy."
    assert server_error(error) is response


def test_the_limit_of_a_request_is_the_size_of_what_is_sent(tmp_path):
    asked_for = ChatRequest("it", (Message.from_text("user", "Où 字?"),), "q@1")
    with answering(Asked.says) as api:
        gateway = gateway_of(tmp_path, {"it": {"base_url": api.url}})
        gateway.ask("stage", [asked_for])
        size = len(api.received[0].body)
        assert api.received[0].json["messages"][0]["content"] == "Où 字?"
        for most, kind in ((size - 1, Failure), (size, Completion)):
            change_entries(gateway, max_request_bytes=most)
            (outcome,), _ = gateway.ask("s", [replace(asked_for, replicate=1)])
            assert isinstance(outcome, kind)
