"""What is an answer: each form of reply, its outcome, its row in the ledger, what is asked again."""

import json
from pathlib import Path
from typing import Any

import pytest

from resources.llm.ledger import Call, Charge
from resources.llm.ledger.batch_state import FailedRequest
from resources.llm.ledger.calls import KEPT_CHARACTERS
from resources.llm.ledger_entries import LedgerRequest, entry_from_reply
from resources.llm.model_spec import Price
from resources.llm.reply import BadResponse, answer_in_reasoning_field, read_reply, reply_of
from resources.llm.request import ChatRequest, Completion, Failure, Outcome
from tests.doubles.openai_api import ScriptedApi
from tests.resources.llm.entries import (
    AskingGateway,
    batch_result,
    change_entries,
    charges_of,
    gateway_of,
    questions,
    spec_of,
)

PRICE = {"prompt": 1_000_000, "completion": 10}
TOKENS = {"prompt_tokens": 30, "completion_tokens": 20}


@pytest.fixture
def gateway(tmp_path: Path, api: ScriptedApi) -> AskingGateway:
    return gateway_of(tmp_path, {"it": {"base_url": api.url, "price": PRICE}})


def question() -> ChatRequest:
    return questions(1)[0]


def outcome_of(gateway: AskingGateway) -> Outcome:
    (outcome,), _ = gateway.ask("s", [question()])
    return outcome


def body(message: object, finish_reason: str | None = "stop", **fields: Any) -> dict[str, Any]:
    choice = {"message": message, "finish_reason": finish_reason}
    return {"choices": [choice], "usage": TOKENS, **fields}


def sent(reply: dict[str, Any]) -> bytes:
    return json.dumps(reply).encode()


def entry_of(reply: dict[str, Any], **fields: Any) -> Call | Charge:
    request = LedgerRequest("k", {}, "p@1", "s", "r", "live")
    return entry_from_reply(reply_of(reply, "it", lambda: 11), spec_of(**fields), request, 0.1, 1)


THOUGHT = "First I look at the needle."
DETAILS = [
    {"type": "reasoning.encrypted", "data": "c2VjcmV0"},
    {"type": "reasoning.text", "text": THOUGHT},
]
PARTS = [
    {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]},
    *({"type": "text", "text": text} for text in ("Nor", "th.")),
]
ANSWERS = {
    "a text": ({"content": "North."}, None),
    "reasoning in front": ({"content": f"<think>\n{THOUGHT}\n</think>\n\nNorth."}, THOUGHT),
    "parts": ({"content": PARTS[1:]}, None),
    "parts with reasoning": ({"content": PARTS}, THOUGHT),
    "a part of reasoning": (
        {"content": [{"type": "reasoning", "reasoning": THOUGHT}, *PARTS[1:]]},
        THOUGHT,
    ),
    "DeepSeek's field": ({"content": "North.", "reasoning_content": THOUGHT}, THOUGHT),
    "vLLM's and Ollama's field": (
        {"content": "North.", "reasoning_content": "", "reasoning": THOUGHT},
        THOUGHT,
    ),
    "details": ({"content": "North.", "reasoning_details": DETAILS}, THOUGHT),
    "marks beside a full field": (
        {"content": "<think>again</think>North.", "reasoning_content": THOUGHT},
        f"{THOUGHT}\nagain",
    ),
}


@pytest.mark.parametrize(("message", "thought"), ANSWERS.values(), ids=ANSWERS)
def test_an_answer_is_the_text_without_the_reasoning(message, thought):
    call = entry_of(body(message))

    assert isinstance(call, Call)
    assert (call.outcome, call.response, call.reasoning) == ("answered", "North.", thought)


def test_what_cannot_be_stored_and_an_unknown_end_cost_no_answer():
    call = entry_of(body({"content": "broken \ud83d off, NUL \x00, whole \U0001f600"}, None))

    assert (call.outcome, call.finish_reason) == ("answered", "unknown")
    assert call.response == "broken ? off, NUL \x00, whole \U0001f600"


KEPT = {
    "cut off": ({"content": "North, or"}, "length", "truncated", None),
    "in Anthropic's word": ({"content": "North, or"}, "max_tokens", "truncated", None),
    "before the first word": ({"content": ""}, "length", "truncated", None),
    "reasoning": ({"content": f"<think>{THOUGHT}"}, "length", "reasoning_only", THOUGHT),
    "a second block": (
        {"content": f"<think>{THOUGHT}</think><think>And"},
        "length",
        "reasoning_only",
        f"{THOUGHT}\nAnd",
    ),
    "field": ({"content": None, "reasoning_content": THOUGHT}, "length", "reasoning_only", THOUGHT),
    "blanks": ({"content": "\n \t", "reasoning": THOUGHT}, "max_tokens", "reasoning_only", THOUGHT),
}


@pytest.mark.parametrize(("message", "finish", "kind", "thought"), KEPT.values(), ids=KEPT)
def test_what_would_come_again_is_a_call_live_and_in_a_batch(message, finish, kind, thought):
    for call in (entry_of(body(message, finish)), batch_result(body(message, finish), spec_of())):
        assert isinstance(call, Call)
        assert (call.outcome, call.finish_reason, call.reasoning) == (kind, finish, thought)


def test_a_kept_failure_is_not_asked_again_but_with_a_larger_limit(gateway, api):
    api.replies(sent(body({"content": f"<think>{THOUGHT}"}, "length")))

    first, again = outcome_of(gateway), outcome_of(gateway)

    assert isinstance(first, Failure) and isinstance(again, Failure)
    assert (first.kind, first.reasoning) == ("reasoning_only", THOUGHT)
    assert (first.finish_reason, first.completion_tokens, first.cached) == ("length", 20, False)
    kept = (again.kind, again.detail, again.finish_reason, again.reasoning, again.cached)
    assert kept == (first.kind, first.detail, "length", THOUGHT, True)
    assert "token_limit.tokens" in first.detail
    assert len(api.received) == 1

    change_entries(gateway, token_limit={"tokens": 9000})
    api.replies(sent(body({"content": "North."})))
    assert isinstance(outcome_of(gateway), Completion)
    assert api.received[-1]["max_tokens"] == 9000


TOOL = {"tool_calls": [{"function": {"name": "look"}}]}
REFUSAL = [{"type": "refusal", "refusal": "I will not."}]
CHARGED = {
    "nothing to be seen": (body({"content": "\u200b\x00\ufeff\x1b[31m<|im_end|>"}), "empty"),
    "a tool call after a word": (body({"content": "I look it up.", **TOOL}, "tool_calls"), "empty"),
    "a tool call in the text": (body({"content": '<tool_call>{"name": "look"}'}), "empty"),
    "an error amid the answer": (body({"content": "Nor"}, "error"), "bad_response"),
    "vLLM's abort": (body({"content": "Nor"}, "abort"), "bad_response"),
    "withheld, with a hyphen": (body({"content": "Nor"}, "content-filter"), "refused"),
    "a refusal among parts": (body({"content": REFUSAL}), "refused"),
    "a tool call and reasoning": (body({"content": None, "reasoning": "B", **TOOL}), "empty"),
    "a refusal and reasoning": (
        body({"content": None, "reasoning": "B", "refusal": "No."}),
        "refused",
    ),
    "no message": (body(None), "bad_response"),
}


@pytest.mark.parametrize(("reply", "kind"), CHARGED.values(), ids=CHARGED)
def test_every_other_reply_that_cost_something_is_a_charge(reply, kind):
    failed = batch_result(reply, spec_of(price=Price(prompt=1, completion=1)))

    assert isinstance(failed, FailedRequest) and failed.charge is not None
    assert (failed.kind, failed.charge.outcome, failed.again) == (kind, kind, False)
    # A batch costs half: 50 tokens at a millionth of a dollar.
    assert failed.charge.cost_usd == pytest.approx(25e-6)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("internal error happened, status code ResponseType.INPUT_LENGTH_ERROR", "too_long"),
        ("Input length 9000 exceeds the maximum context length.", "too_long"),
        ("The harbour has three", "bad_response"),
    ],
)
def test_the_text_of_a_reply_that_an_error_ended_is_shown(text, kind):
    charge = entry_of(body({"content": text}, "error"))

    assert isinstance(charge, Charge) and charge.outcome == kind
    assert charge.detail.endswith(f"finished by error. The reply says: {text}")


@pytest.mark.parametrize(
    "reply",
    [
        b"<html>Our gateway is having a nap.</html>",
        b"",
        b"[]",
        b"{}",
        b"\xff\xfe\xff",
        b'{"choices": [{"message": {"content": 7}}]}',
        b'{"choices": [{"message": "x"}], "usage": {}}',
        b'{"choices": %s}' % (b"[" * 973 + b"]" * 973),
    ],
    ids=lambda reply: reply[:40].decode("utf-8", "replace"),
)
def test_a_reply_that_is_no_completion_was_not_billed(reply):
    with pytest.raises(BadResponse) as caught:
        read_reply(reply, "it", lambda: 11)

    assert caught.value.billed is None


USED = b'"usage": {"prompt_tokens": 30, "completion_tokens": 20}'
WHOLE = b'{"choices": [{"message": {"content": "North."}, "finish_reason": "stop"}], ' + USED + b"}"
STREAMS = {
    "chunks": b'data: {"choices": [{"delta": {"role": "assistant", "content": "No"}}]}\n\n'
    b'data: {"choices": [{"delta": {"content": "rth."}, "finish_reason": "stop"}]}\n\n'
    b'data: {"choices": [], ' + USED + b"}\n\ndata: [DONE]\n\n",
    "chunks without a mark of the end": b'data: {"choices": [{"delta": {"content": "North."}, '
    b'"finish_reason": "stop"}]}\n\ndata: {"choices": [], ' + USED + b"}\n\n",
    "chunks with the counts so far": b'data: {"choices": [{"delta": {"content": "No"}}], "usage": '
    b'{"prompt_tokens": 30, "completion_tokens": 1}}\n\ndata: {"choices": [{"delta": {"content": '
    b'"rth."}, "finish_reason": "stop"}], ' + USED + b"}\n\ndata: [DONE]\n\n",
    "one event": b"data: " + WHOLE + b"\n\n",
    "JSON before the end": WHOLE + b"\n\ndata: [DONE]\n\n",
    "JSON after blank lines": b"\n\n   \n" + WHOLE,
    "JSON after a mark of the byte order": b"\xef\xbb\xbf" + WHOLE,
    "JSON between events": b": processing\n\n: processing\n\n" + WHOLE + b"\n\ndata: [DONE]\n",
}


def test_a_finish_reason_of_any_length_is_shortened():
    reply = reply_of(
        body({"content": "North."}, "content_filter: " + "x" * 200_000), "it", lambda: 11
    )

    assert reply.finish_reason == "content_filter: " + "x" * 184


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_a_whole_stream_is_read(stream):
    reply = read_reply(stream, "it", lambda: 11)

    assert (reply.text, reply.prompt_tokens, reply.completion_tokens) == ("North.", 30, 20)


def test_what_came_of_a_billed_stream_that_breaks_off_is_kept_cut_and_not_asked_for_again(
    gateway, api
):
    text = b"x" * 3 * KEPT_CHARACTERS
    api.replies(
        b'data: {"choices": [{"delta": {"content": "' + text + b'"}}]}\n\n'
        b'data: {"choices": [], ' + USED + b"}\n\n"
    )

    outcome = outcome_of(gateway)

    assert isinstance(outcome, Failure)
    assert outcome.detail == "The reply is a stream of events that breaks off."
    (charge,) = charges_of(gateway.ledger)
    assert (charge.prompt_tokens, charge.completion_tokens) == (30, 20)
    assert len(charge.response) == KEPT_CHARACTERS and "xxx" in charge.response
    assert len(api.received) == 1


@pytest.mark.parametrize(
    ("usage", "counts", "claimed"),
    [
        ({"prompt_tokens": 7, "completion_tokens": 3}, (7, 3), None),
        ({"prompt_tokens": 0, "completion_tokens": 0}, (11, 3), None),
        ({"prompt_tokens": 7.5, "completion_tokens": 3}, (11, 3), None),
        ({"prompt_tokens": "many"}, (11, 3), None),
        ({"total_tokens": 150}, (11, 139), None),
        ({"total_tokens": 5}, (5, 0), None),
        ({"prompt_tokens": 7}, (11, 3), None),
        (None, (11, 3), None),
        # Reasoning that is not shown is believed, up to 200,000 tokens beside four bytes a character.
        ({"prompt_tokens": 7, "completion_tokens": 200_032}, (7, 200_032), None),
        ({"prompt_tokens": 7, "completion_tokens": 200_033}, (11, 3), 200_040),
        ({"prompt_tokens": 7, "completion_tokens": 1e300}, (11, 3), 2**62),
        ({"prompt_tokens": 10_000_000, "completion_tokens": 3}, (10_000_000, 3), None),
        ({"prompt_tokens": 10_000_001, "completion_tokens": 3}, (11, 3), 10_000_004),
        ({"total_tokens": 2**31 - 1}, (11, 3), 2**31 - 1),
    ],
)
def test_tokens_are_the_servers_own_counts_or_estimates(usage, counts, claimed):
    reply = reply_of(body({"content": "<think>So</think>North."}, usage=usage), "it", lambda: 11)

    assert (reply.prompt_tokens, reply.completion_tokens) == counts
    assert reply.claimed_tokens == claimed


@pytest.mark.parametrize(
    ("details", "image_tokens"),
    [
        ({"cached_tokens": 0, "image_tokens": 700}, 700),
        ({"image_tokens": 0}, 0),
        ({"cached_tokens": 0}, None),
        ({"image_tokens": "640"}, None),
        ({"image_tokens": 701}, None),
        ([640], None),
        (None, None),
    ],
)
def test_the_tokens_of_images_are_those_that_the_server_reports(details, image_tokens):
    """As vLLM and SGLang do: more than the whole prompt has are not believed."""
    usage = {"prompt_tokens": 700, "completion_tokens": 3, "prompt_tokens_details": details}
    call = entry_of(body({"content": "North."}, usage=usage))
    assert isinstance(call, Call)
    assert (call.prompt_tokens, call.image_tokens) == (700, image_tokens)


def test_what_a_reply_says_of_itself_is_kept_and_counted_each_time(gateway, api):
    details = {"prompt_tokens_details": {"image_tokens": 5}}
    usage = {"prompt_tokens": 7, "completion_tokens": 2**31 - 1, **details}
    message = {"content": None, "reasoning_content": "North."}
    api.replies(sent(body(message, usage=usage, model="mini")))

    for _ in range(2):
        (outcome,), counted = gateway.ask("s", [question()])
        assert isinstance(outcome, Completion) and outcome.text == "North."
        assert (outcome.answered_as, outcome.claimed_tokens) == ("mini", 2**31 + 6)
        noticed = {
            "replies that name another model": 1,
            "models that they name": "mini (1)",
            "replies with implausible token counts": 1,
            "answers in the field for reasoning": 1,
        }
        assert noticed.items() <= counted.metadata().items()
        assert len(api.received) == 1
    (call,) = gateway.ledger
    assert (call.answered_as, call.claimed_tokens) == ("mini", 2**31 + 6)
    # By estimate three tokens asked of a dollar each, and next to nothing for two answered.
    assert 3 <= call.cost_usd < 3.01
    (rows,) = gateway.ledger.paid_calls(["key", "image_tokens"], 10)
    assert rows == [(call.key, None)]


@pytest.mark.parametrize(
    ("asked", "named", "another"),
    [
        ("gpt-4o", "gpt-4o", False),
        ("gpt-4o", "gpt-4o-2024-08-06", False),
        ("llama3", "llama3:latest", False),
        ("Qwen/Qwen3-VL-8B", "qwen3-vl-8b", False),
        ("gemini-2.5-flash", "models/gemini-2.5-flash-001", False),
        ("gpt-4o", "gpt-4o-mini", True),
        ("gpt-4", "gpt-4.1", True),
        ("qwen3-vl:8b", "qwen3-vl:4b", True),
        ("llama-3", "llama-3-70b", True),
        ("gpt-4o", None, False),
        ("gpt-4o", {"name": "mini"}, False),
    ],
)
def test_a_version_of_a_model_is_no_other_model(asked, named, another):
    entry = entry_of(body({"content": "North."}, model=named), model=asked)

    assert entry.answered_as == (named if another else None)


THINKS = {"chat_template_kwargs": {"enable_thinking": True}, "top_k": 5}


@pytest.mark.parametrize(
    ("content", "finish", "settings", "text"),
    [
        (None, "stop", {}, "B"),
        ("\n", "stop", {"reasoning": "none"}, "B"),
        ("", "stop", {"extra_body": {"thinking": {"type": "disabled"}}}, "B"),
        (None, "length", {}, ""),
        (None, "unknown", {}, ""),
        (None, "stop", {"reasoning": "low"}, ""),
        (None, "stop", {"extra_body": THINKS}, ""),
        ("<think>B", "stop", {}, ""),
    ],
)
def test_a_whole_answer_in_the_field_for_reasoning_is_the_answer_of_a_model_that_does_not_think(
    content, finish, settings, text
):
    reply = reply_of(body({"content": content, "reasoning": "B"}, finish), "it", lambda: 11)

    reply = answer_in_reasoning_field(reply, spec_of(**settings))

    assert reply.text == text
    assert reply.reasoning and reply.reasoning.startswith("B")
