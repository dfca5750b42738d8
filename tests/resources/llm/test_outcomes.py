"""What is an answer: each form of reply, its outcome, its row in the ledger, what is asked again."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from resources.llm.batches import read_results
from resources.llm.gateway import Gateway
from resources.llm.ledger import Call
from resources.llm.ledger.batch_state import BatchItem, FailedRequest
from resources.llm.ledger.calls import KEPT_CHARACTERS
from resources.llm.ledger_entries import LedgerRequest, entry_from_reply
from resources.llm.model_spec import ModelSpec, Price
from resources.llm.reply import answer_in_reasoning_field, reply_of
from resources.llm.request import Completion, Failure, Outcome
from tests.doubles.openai_api import ScriptedApi, scripted
from tests.resources.llm.entries import change_entries, charges_of
from tests.resources.llm.test_gateway import make_gateway, question


@pytest.fixture
def server() -> Iterator[ScriptedApi]:
    with scripted() as api:
        yield api


@pytest.fixture
def gateway(tmp_path: Path, server: ScriptedApi, monkeypatch: pytest.MonkeyPatch) -> Gateway:
    monkeypatch.setenv("PAID_KEY", "a-key-of-nobody")
    return change_entries(make_gateway(tmp_path, server.url), retry_wait={"first": 0, "most": 0})


def asked(gateway: Gateway) -> Outcome:
    (outcome,), _ = gateway.ask("s", [question()])
    return outcome


def body(message: object, finish_reason: str = "stop", **fields: Any) -> bytes:
    usage = {"prompt_tokens": 30, "completion_tokens": 20}
    choice = {"message": message, "finish_reason": finish_reason}
    return json.dumps({"choices": [choice], "usage": usage, **fields}).encode()


THOUGHT = "First I look at the needle."
ANSWERS = {
    "a text": ({"content": "North."}, None),
    "reasoning in its own field": ({"content": "North.", "reasoning_content": THOUGHT}, THOUGHT),
    "reasoning in vLLM's and Ollama's field": (
        {"content": "North.", "reasoning": THOUGHT},
        THOUGHT,
    ),
    "reasoning in front": ({"content": f"<think>\n{THOUGHT}\n</think>\n\nNorth."}, THOUGHT),
    "reasoning that the template opened": ({"content": f"{THOUGHT}\n</think>\n\nNorth."}, THOUGHT),
    "two blocks of reasoning": (
        {"content": f"<think>{THOUGHT}</think>\n<think></think>\nNorth."},
        THOUGHT,
    ),
    "reasoning in reasoning": (
        {"content": f"<think>{THOUGHT}<think>no</think></think>North."},
        f"{THOUGHT}<think>no</think>",
    ),
    "marks beside a blank field": (
        {"content": f"<think>{THOUGHT}</think>North.", "reasoning_content": "\n\n"},
        THOUGHT,
    ),
    "marks beside a full field": (
        {"content": "<think>again</think>North.", "reasoning_content": THOUGHT},
        f"{THOUGHT}\nagain",
    ),
    "the second field where the first is blank": (
        {"content": "North.", "reasoning_content": "", "reasoning": THOUGHT},
        THOUGHT,
    ),
    "details": (
        {
            "content": "North.",
            "reasoning_details": [
                {"type": "reasoning.encrypted", "data": "c2VjcmV0"},
                {"type": "reasoning.text", "text": THOUGHT},
            ],
        },
        THOUGHT,
    ),
    "capital letters": ({"content": f"<THINK>{THOUGHT}</THINK>North."}, THOUGHT),
    "marks of Magistral": ({"content": f"[THINK]{THOUGHT}[/THINK]North."}, THOUGHT),
    "marks of Kimi": ({"content": f"◁think▷{THOUGHT}◁/think▷North."}, THOUGHT),
    "channels of gpt-oss": (
        {
            "content": f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant"
            "<|channel|>final<|message|>North.<|return|>"
        },
        THOUGHT,
    ),
    "parts": (
        {"content": [{"type": "text", "text": "Nor"}, {"type": "text", "text": "th."}]},
        None,
    ),
    "parts with reasoning": (
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]},
                {"type": "text", "text": "North."},
            ]
        },
        THOUGHT,
    ),
}


@pytest.mark.parametrize("form", ANSWERS)
def test_an_answer_is_the_text_without_the_reasoning(
    gateway: Gateway, server: ScriptedApi, form: str
) -> None:
    message, thought = ANSWERS[form]
    server.replies(body(message))

    outcome = asked(gateway)

    assert isinstance(outcome, Completion)
    assert (outcome.text, outcome.reasoning) == ("North.", thought)
    (call,) = gateway.ledger
    assert (call.outcome, call.response, call.reasoning) == ("answered", "North.", thought)


@pytest.mark.parametrize(
    "text",
    [
        "The model writes <think> and then </think> around it.",
        "The closing tag </think> marks the end of it.",
        "Like so:\n```\nthought\n</think>\nanswer\n```\nand no other way.",
    ],
)
def test_a_text_that_speaks_of_the_mark_is_left_as_it_is(
    gateway: Gateway, server: ScriptedApi, text: str
) -> None:
    server.replies(body({"content": text}))

    outcome = asked(gateway)

    assert isinstance(outcome, Completion) and outcome.text == text


KEPT = {
    "cut off": ({"content": "North, or"}, "length", "truncated", None),
    "cut off, in Anthropic's word": ({"content": "North, or"}, "max_tokens", "truncated", None),
    "cut off before the first word": ({"content": ""}, "length", "truncated", None),
    "reasoning cut off": (
        {"content": f"<think>{THOUGHT}"},
        "length",
        "reasoning_only",
        THOUGHT,
    ),
    "cut off, in Mistral's word": ({"content": "North, or"}, "model_length", "truncated", None),
    "a second block cut off": (
        {"content": f"<think>{THOUGHT}</think><think>And"},
        "length",
        "reasoning_only",
        f"{THOUGHT}\nAnd",
    ),
    "reasoning field alone": (
        {"content": None, "reasoning_content": THOUGHT},
        "length",
        "reasoning_only",
        THOUGHT,
    ),
    "reasoning and blanks": (
        {"content": "\n \t", "reasoning": THOUGHT},
        "max_tokens",
        "reasoning_only",
        THOUGHT,
    ),
}


@pytest.mark.parametrize("form", KEPT)
def test_what_would_come_again_is_kept_and_is_not_asked_again(
    gateway: Gateway, server: ScriptedApi, form: str
) -> None:
    message, finish_reason, kind, thought = KEPT[form]
    server.replies(body(message, finish_reason))

    first, again = asked(gateway), asked(gateway)

    assert isinstance(first, Failure) and isinstance(again, Failure)
    assert (first.kind, first.finish_reason, first.reasoning) == (kind, finish_reason, thought)
    assert (first.completion_tokens, first.cached) == (20, False)
    assert (again.kind, again.detail, again.cached) == (first.kind, first.detail, True)
    assert "token_limit.tokens" in first.detail
    assert len(server.received) == 1
    (call,) = gateway.ledger
    assert (call.outcome, call.finish_reason, call.reasoning) == (kind, finish_reason, thought)


def test_a_larger_limit_is_another_request(gateway: Gateway, server: ScriptedApi) -> None:
    server.replies(body({"content": "North, or"}, "length"))
    assert isinstance(asked(gateway), Failure)

    spec = gateway.registry.models["careful"]
    limit = spec.token_limit.model_copy(update={"tokens": 9000})
    gateway.registry.models["careful"] = spec.model_copy(update={"token_limit": limit})
    server.replies(body({"content": "North."}))

    outcome = asked(gateway)

    assert isinstance(outcome, Completion) and outcome.text == "North."
    assert server.received[-1]["max_tokens"] == 9000


CHARGED = {
    "nothing": (body({"content": None}), "empty"),
    "blanks": (body({"content": " \n"}), "empty"),
    "no parts": (body({"content": []}), "empty"),
    "a tool call": (
        body({"content": None, "tool_calls": [{"function": {"name": "look"}}]}, "tool_calls"),
        "empty",
    ),
    "nothing to be seen": (body({"content": "\u200b\x00\ufeff\x1b[31m<|im_end|>"}), "empty"),
    "a tool call after a word": (
        body({"content": "I look it up.", "tool_calls": [{"function": {}}]}, "tool_calls"),
        "empty",
    ),
    "a tool call in the text": (body({"content": '<tool_call>{"name": "look"}'}), "empty"),
    "an error amid the answer": (body({"content": "Nor"}, "error"), "bad_response"),
    "vLLM's abort": (body({"content": "Nor"}, "abort"), "bad_response"),
    "withheld, with a hyphen": (body({"content": "Nor"}, "content-filter"), "refused"),
    "withheld": (body({"content": "Nor"}, "content_filter"), "refused"),
    "withheld, in Gemini's word": (body({"content": None}, "SAFETY"), "refused"),
    "a refusal": (body({"content": None, "refusal": "I will not."}), "refused"),
    "a refusal among parts": (
        body({"content": [{"type": "refusal", "refusal": "I will not."}]}),
        "refused",
    ),
    "no choices": (body(None, choices=[]), "bad_response"),
    "a number": (body({"content": 7}), "bad_response"),
    "no message": (body(None), "bad_response"),
}


@pytest.mark.parametrize("form", CHARGED)
def test_every_other_reply_that_cost_something_is_a_row_and_is_asked_again_next_time(
    gateway: Gateway, server: ScriptedApi, form: str
) -> None:
    reply, kind = CHARGED[form]
    server.replies(reply)

    outcome = asked(gateway)

    assert isinstance(outcome, Failure) and (outcome.kind, bool(outcome.detail)) == (kind, True)
    assert len(server.received) == 1, "it was billed, and would be billed again"
    assert list(gateway.ledger) == []
    (charge,) = charges_of(gateway.ledger)
    assert (charge.outcome, charge.prompt_tokens, charge.completion_tokens) == (kind, 30, 20)
    assert charge.detail == outcome.detail and charge.request["messages"]

    server.answers(content="North.")
    assert isinstance(asked(gateway), Completion)


USED = b'"usage": {"prompt_tokens": 30, "completion_tokens": 20}'


@pytest.mark.parametrize(
    "body",
    [
        b'data: {"choices": [{"delta": {"role": "assistant", "content": "No"}}]}\n\n'
        b'data: {"choices": [{"delta": {"content": "rth."}, "finish_reason": "stop"}]}\n\n'
        b'data: {"choices": [], ' + USED + b"}\n\ndata: [DONE]\n\n",
        b'data: {"choices": [{"message": {"content": "North."}, "finish_reason": "stop"}], '
        + USED
        + b"}\n\n",
        b": processing\n\n: processing\n\n"
        b'{"choices": [{"message": {"content": "North."}, "finish_reason": "stop"}], '
        + USED
        + b"}\n\ndata: [DONE]\n",
    ],
    ids=["chunks", "one event", "JSON between events"],
)
def test_a_whole_stream_that_nobody_asked_for_is_read(
    gateway: Gateway, server: ScriptedApi, body: bytes
) -> None:
    server.replies(body)

    outcome = asked(gateway)

    assert isinstance(outcome, Completion) and outcome.text == "North."
    assert (outcome.prompt_tokens, outcome.completion_tokens) == (30, 20)


def test_a_stream_that_breaks_off_and_was_billed_is_a_row_and_not_asked_for_again(
    gateway: Gateway, server: ScriptedApi
) -> None:
    server.replies(
        b'data: {"choices": [{"delta": {"content": "North."}}]}\n\n'
        b'data: {"choices": [], "usage": {"prompt_tokens": 30, "completion_tokens": 20}}\n\n'
    )

    outcome = asked(gateway)

    assert isinstance(outcome, Failure)
    assert outcome.detail == "The reply is a stream of events that breaks off."
    (charge,) = charges_of(gateway.ledger)
    assert (charge.prompt_tokens, charge.completion_tokens) == (30, 20)
    assert len(server.received) == 1


def test_an_error_in_place_of_a_message_is_told(gateway: Gateway, server: ScriptedApi) -> None:
    server.replies(b'{"error": {"message": "The upstream is overloaded.", "code": 502}}')

    outcome = asked(gateway)

    assert isinstance(outcome, Failure)
    assert outcome.detail == ("The server answered 502: The upstream is overloaded.")


@pytest.mark.parametrize(
    ("usage", "counts", "claimed"),
    [
        ({"prompt_tokens": 7, "completion_tokens": 3}, (7, 3), None),
        ({"prompt_tokens": 7.0, "completion_tokens": 3.0}, (7, 3), None),
        ({"prompt_tokens": 0, "completion_tokens": 0}, (11, 2), None),
        ({"prompt_tokens": 7.5, "completion_tokens": 3}, (11, 2), None),
        ({"total_tokens": 150}, (11, 139), None),
        ({"total_tokens": 5}, (5, 0), None),
        ({"prompt_tokens": 7}, (11, 2), None),
        (None, (11, 2), None),
        # Reasoning that is not shown is believed, up to 200,000 tokens beside four bytes a character.
        ({"prompt_tokens": 7, "completion_tokens": 200_024}, (7, 200_024), None),
        ({"prompt_tokens": 7, "completion_tokens": 200_025}, (11, 2), 200_032),
        ({"prompt_tokens": 7, "completion_tokens": 2**31 - 1}, (11, 2), 2**31 + 6),
        ({"prompt_tokens": 7, "completion_tokens": 1e300}, (11, 2), 2**62),
        ({"prompt_tokens": 10_000_001, "completion_tokens": 3}, (11, 2), 10_000_004),
        ({"total_tokens": 2**31 - 1}, (11, 2), 2**31 - 1),
    ],
)
def test_tokens_are_the_servers_own_counts_or_estimates(
    usage: dict[str, float] | None, counts: tuple[int, int], claimed: int | None
) -> None:
    message = {"choices": [{"message": {"content": "North."}}], "usage": usage}

    reply = reply_of(message, lambda: 11)

    assert (reply.prompt_tokens, reply.completion_tokens, reply.claimed_tokens) == (
        *counts,
        claimed,
    )


@pytest.mark.parametrize(
    ("details", "image_tokens"),
    [
        ({"cached_tokens": 0, "image_tokens": 640}, 640),
        ({"image_tokens": 0}, 0),
        ({"image_tokens": 640.0}, 640),
        ({"cached_tokens": 0}, None),
        ({"image_tokens": None}, None),
        ({"image_tokens": "640"}, None),
        ({"image_tokens": 701}, None),
        ([640], None),
        (None, None),
    ],
)
def test_the_tokens_of_images_are_those_that_the_server_reports(
    gateway: Gateway, server: ScriptedApi, details: object, image_tokens: int | None
) -> None:
    """As vLLM and SGLang do: more than the whole prompt has are not believed."""
    usage = {"prompt_tokens": 700, "completion_tokens": 3, "prompt_tokens_details": details}
    message = {"message": {"content": "North."}}
    server.replies(json.dumps({"choices": [message], "usage": usage}).encode())
    asked(gateway)
    (call,) = gateway.ledger
    assert (call.prompt_tokens, call.image_tokens) == (700, image_tokens)
    (rows,) = gateway.ledger.paid_calls(["key", "image_tokens"], 10)
    assert rows == [(call.key, image_tokens)]


def test_what_a_reply_says_of_itself_is_kept_and_counted_each_time(
    gateway: Gateway, server: ScriptedApi
) -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 2**31 - 1}
    message = {"message": {"content": "North."}}
    server.replies(json.dumps({"choices": [message], "usage": usage, "model": "mini"}).encode())

    for n_received in (1, 1):
        (outcome,), counted = gateway.ask("s", [question()])
        assert (outcome.answered_as, outcome.claimed_tokens) == ("mini", 2**31 + 6)
        assert (
            counted.metadata()
            | {
                "replies that name another model": 1,
                "models that they name": "mini (1)",
                "replies with implausible token counts": 1,
            }
            == counted.metadata()
        )
        assert len(server.received) == n_received
    # A dollar for each of eight tokens asked, by estimate, and next to nothing for two answered.
    (call,) = gateway.ledger
    assert (call.answered_as, call.claimed_tokens) == ("mini", 2**31 + 6)
    assert 8 <= call.cost_usd < 8.01


@pytest.mark.parametrize(
    ("asked", "named", "another"),
    [
        ("gpt-4o", "gpt-4o", False),
        ("gpt-4o", "gpt-4o-2024-08-06", False),
        ("gpt-4o-2024-08-06", "gpt-4o", False),
        ("gpt-4", "gpt-4-0613", False),
        ("llama3", "llama3:latest", False),
        ("Qwen/Qwen3-VL-8B", "qwen3-vl-8b", False),
        ("gemini-2.5-flash", "models/gemini-2.5-flash-001", False),
        ("gpt-4o", "gpt-4o-mini", True),
        ("gpt-4", "gpt-4.1", True),
        ("qwen3-vl:8b", "qwen3-vl:4b", True),
        ("claude-opus-4", "claude-opus-4-7", True),
        ("llama-3", "llama-3-70b", True),
        ("gpt-4o", None, False),
        ("gpt-4o", "", False),
        ("gpt-4o", {"name": "mini"}, False),
    ],
)
def test_a_version_of_a_model_is_no_other_model(asked: str, named: object, another: bool) -> None:
    reply = reply_of({"choices": [{"message": {"content": "North."}}], "model": named}, lambda: 11)
    spec = ModelSpec(name="m", provider="openai", model=asked)
    entry = entry_from_reply(reply, spec, LedgerRequest("k", {}, "p@1", "s", "r", "live"), 0.1, 1)

    assert entry.answered_as == (named if another else None)


def batched(reply: bytes) -> Call | FailedRequest:
    """What is made of a reply in a batch's file."""
    item = BatchItem("key", "batch", 1, "waiting", None, None, "s", "r", "p@1", {"asked": "?"})
    row = {"custom_id": "key", "response": {"status_code": 200, "body": json.loads(reply)}}
    spec = ModelSpec(name="m", provider="openai", model="m", price=Price(prompt=1, completion=1))
    (read,) = read_results([json.dumps(row).encode()], {"key": item}, spec)
    return read


@pytest.mark.parametrize("form", KEPT)
def test_in_a_batch_it_is_kept_alike(form: str) -> None:
    message, finish_reason, kind, thought = KEPT[form]

    read = batched(body(message, finish_reason))

    assert isinstance(read, Call)
    assert (read.outcome, read.reasoning, read.via) == (kind, thought, "batch")


@pytest.mark.parametrize("form", CHARGED)
def test_in_a_batch_it_is_charged_alike(form: str) -> None:
    reply, kind = CHARGED[form]

    read = batched(reply)

    assert isinstance(read, FailedRequest) and read.charge is not None
    assert (read.kind, read.charge.outcome, read.again) == (kind, kind, False)
    # A batch costs half: 50 tokens at a millionth of a dollar.
    assert read.charge.cost_usd == pytest.approx(25e-6)


def test_what_came_in_a_reply_that_cannot_be_read_is_kept_cut(
    gateway: Gateway, server: ScriptedApi
) -> None:
    server.replies(body({"content": {"text": "x" * 3 * KEPT_CHARACTERS}}))

    asked(gateway)

    (charge,) = charges_of(gateway.ledger)
    assert charge.outcome == "bad_response"
    assert len(charge.response) == KEPT_CHARACTERS and "xxx" in charge.response


@pytest.mark.parametrize(
    ("message", "finish_reason", "settings", "text"),
    [
        ({"content": None, "reasoning_content": "B"}, "stop", {}, "B"),
        ({"content": "\n", "reasoning": "B"}, "stop", {"reasoning": "none"}, "B"),
        (
            {"content": "", "reasoning": "B"},
            "stop",
            {"extra_body": {"thinking": {"type": "disabled"}}},
            "B",
        ),
        ({"content": None, "reasoning_content": "B"}, "length", {}, ""),
        ({"content": None, "reasoning_content": "B"}, "unknown", {}, ""),
        ({"content": None, "reasoning_content": "B"}, "stop", {"reasoning": "low"}, ""),
        (
            {"content": None, "reasoning_content": "B"},
            "stop",
            {"extra_body": {"chat_template_kwargs": {"enable_thinking": True}}},
            "",
        ),
        ({"content": "<think>B", "reasoning_content": None}, "stop", {}, ""),
        ({"content": "<think>B", "reasoning_content": "B"}, "stop", {}, ""),
    ],
)
def test_a_whole_answer_in_the_field_for_reasoning_is_the_answer_of_a_model_that_does_not_think(
    message: dict[str, str | None], finish_reason: str, settings: dict[str, Any], text: str
) -> None:
    spec = ModelSpec(name="m", provider="openai", model="m", **settings)
    choice = {"message": message, "finish_reason": finish_reason}

    reply = answer_in_reasoning_field(reply_of({"choices": [choice]}, lambda: 11), spec)

    assert reply.text == text
    assert reply.reasoning and reply.reasoning.startswith("B")


def test_answers_in_the_field_for_reasoning_are_counted_each_time(
    gateway: Gateway, server: ScriptedApi
) -> None:
    server.replies(body({"content": None, "reasoning_content": "North."}))
    for _ in range(2):
        (outcome,), counted = gateway.ask("s", [question()])
        assert isinstance(outcome, Completion) and outcome.text == "North."
        assert counted.metadata()["answers in the field for reasoning"] == 1
    assert len(server.received) == 1


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("internal error happened, status code ResponseType.INPUT_LENGTH_ERROR", "too_long"),
        ("Input length 9000 exceeds the maximum context length.", "too_long"),
        ("The harbour has three", "bad_response"),
    ],
)
def test_the_text_of_a_reply_that_an_error_ended_is_shown(
    gateway: Gateway, server: ScriptedApi, text: str, kind: str
) -> None:
    server.answers(content=text, finish_reason="error")

    outcome = asked(gateway)

    assert isinstance(outcome, Failure) and outcome.kind == kind
    assert outcome.detail.endswith(f"finished by error. The reply says: {text}")
