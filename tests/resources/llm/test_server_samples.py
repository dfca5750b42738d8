"""Replies and errors in the words of real servers, from the shared samples: outcome and sentence."""

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from resources.llm.chat_client import _status_error
from resources.llm.errors import ANY_TROUBLE, failure_kind, forbids_request, is_retryable, why
from resources.llm.ledger import Call
from resources.llm.ledger_entries import LedgerRequest, entry_from_reply, failure_of
from resources.llm.reply import answer_in_reasoning_field, read_reply
from resources.llm.request import Completion, Outcome
from tests.doubles.openai_api import completion
from tests.resources.llm.entries import spec_of

CASES = Path("../shared/data/public_reports/00-server/cases.json")
pytestmark = pytest.mark.skipif(not CASES.exists(), reason="the shared samples are not here")

BOATS = "The harbour has three boats."

ANSWERS = {
    **dict.fromkeys(("think-inline", "gemma-channel", "glm-box"), "B"),
    "think-answer-tag": "<answer>B</answer>",
    **dict.fromkeys(("think-inline-text", "think-line"), "391"),
    **dict.fromkeys(("think-upper", "thinking-tag-inline", "reasoning-tag"), "B"),
    **dict.fromkeys(("analysis-plain", "glm-box-final", "im-end"), "B"),
    **dict.fromkeys(("glm-box-text", "reasoning-only"), BOATS),
    "think-inline-json": '{"Reason": "fine", "Rating": 8}',
    "glm-box-sentence": "The animal has a mane.\n\nThe answer is B.",
    "plain": "The answer is B.",
    **dict.fromkeys(("finish-eos-token", "finish-eos", "finish-end", "finish-end-turn"), BOATS),
    **dict.fromkeys(("finish-empty-reason", "finish-null-reason", "finish-no-reason"), BOATS),
    **dict.fromkeys(("finish-null-text-reason", "finish-stop", "finish-stop-sequence"), BOATS),
    **dict.fromkeys(("finish-eot", "finish-unknown-reason", "finish-complete"), BOATS),
    **dict.fromkeys(("sse-done-glued", "sse-stream", "sse-one-event", "sse-stream-usage"), BOATS),
    **dict.fromkeys(("bom", "keepalive-blank", "openrouter-comments"), BOATS),
}
"""The answer that each case gives."""

FAILURES = {
    "refused": (
        *("xai-403", "openrouter-403", "moonshot-risk", "deepseek-risk", "alibaba-inspection"),
        *("openai-limited", "ok-error-403"),
    ),
    "auth": (
        *("openai-inactive", "moonshot-quota", "alibaba-arrears", "openai-quota"),
        *("ok-error-429", "ok-error-402"),
    ),
    "too_long": (
        *(
            "vllm-set",
            "vllm-set-old",
            "vllm-atmost",
            "claude-images",
            "claude-media",
            "groq-images",
        ),
        *("claude-pixels", "claude-5mb", "bedrock-long", "bedrock-long2", "vllm-long-new"),
        *("openai-long", "status-400-long-openrouter", "ok-error-400-long"),
        *("lmstudio-keep", "lmstudio-keep-old", "lmstudio-200", "llamacpp-long"),
    ),
    "truncated": (
        *("cut", "finish-max-output", "finish-max-tokens", "finish-context-exceeded"),
        *("lmdeploy-empty", "negative-tokens"),
    ),
    "server_error": ("choice-error", "text-error-500"),
    "bad_response": ("ok-choices-null",),
    "bad_request": (
        *("waf-403", "text-error-key", "text-error-detail", "list-error-detail", "message-only"),
        *("plain-text", "msg-only", "xai-400-text"),
    ),
}
"""The cases that fail, by failure kind."""

WORDS = {
    "waf-403": "Sorry, you have been blocked",
    "text-error-key": "model requires more system memory",
    "text-error-detail": "Image format not supported",
    "list-error-detail": "messages.0.name: Field required",
    "message-only": "Requests of this kind are not allowed",
    "plain-text": "the request is broken because of the third picture",
    "msg-only": "picture three cannot be read",
    "text-error-500": "llama runner process has terminated",
    "xai-403": "Content violates usage guidelines",
    "alibaba-arrears": "good standing",
    "claude-images": "max_images: 20",
    "claude-5mb": "max_side",
}
"""What the sentence of a failure says."""


SPEC = spec_of()


def load() -> dict[str, Any]:
    cases: dict[str, Any] = json.loads(CASES.read_text())
    return cases


def response_of(case: dict[str, Any]) -> httpx2.Response:
    """What the server of a case sends: a text, or a body with its status and headers."""
    status, headers = case.get("status", 200), case.get("headers", {})
    if "say" in case:
        message = {"role": "assistant", "content": case["say"]}
        content = completion(message, 10, 5, case.get("finish", "stop"))
    else:
        body = case["body"] if isinstance(case["body"], str) else json.dumps(case["body"])
        content = body.encode()
    asked = httpx2.Request("POST", "http://127.0.0.1/v1/chat/completions")
    return httpx2.Response(status, headers=headers, content=content, request=asked)


def outcome_of(response: httpx2.Response) -> Outcome:
    """The outcome of a request that was answered so."""
    if not response.is_success:
        raise _status_error(response)
    reply = answer_in_reasoning_field(read_reply(response.content, lambda: 10), SPEC)
    request = LedgerRequest("k", {}, "p@1", "s", "r", "live")
    entry = entry_from_reply(reply, SPEC, request, 0.1, 1)
    return entry.as_outcome(cached=False) if isinstance(entry, Call) else failure_of(entry)


def test_every_case_is_expected() -> None:
    failing = [case for cases in FAILURES.values() for case in cases]
    assert sorted([*ANSWERS, *failing]) == sorted(load())


@pytest.mark.parametrize("case", ANSWERS)
def test_answers(case: str) -> None:
    outcome = outcome_of(response_of(load()[case]))

    assert isinstance(outcome, Completion), outcome
    assert outcome.text == ANSWERS[case]


@pytest.mark.parametrize(
    ("case", "kind"), [(case, kind) for kind, cases in FAILURES.items() for case in cases]
)
def test_failures(case: str, kind: str) -> None:
    try:
        outcome = outcome_of(response_of(load()[case]))
    except ANY_TROUBLE as error:
        assert failure_kind(error) == kind
        assert WORDS.get(case, "") in why(error, SPEC, 1)
        assert is_retryable(error) == (kind in ("server_error", "bad_response"))
        assert forbids_request(error) == (case == "waf-403")
    else:
        assert not isinstance(outcome, Completion) and outcome.kind == kind
        assert WORDS.get(case, "") in outcome.detail


FORBIDDEN = CASES.parents[1] / "01-one-forbidden-question/cases.json"

MODELS_THAT_FORBID = (
    *("some-xai", "some-openrouter", "some-waf", "some-deepseek", "some-alibaba", "judge-xai"),
)


@pytest.mark.parametrize("model", MODELS_THAT_FORBID)
def test_a_forbidden_question_says_nothing_of_the_key(model: str) -> None:
    """Nor does it end a stage: gateways with such a server are in test_gateway_limits.py."""
    forbidden, _ = json.loads(FORBIDDEN.read_text())[model]
    with pytest.raises(ANY_TROUBLE) as caught:
        outcome_of(response_of(forbidden))
    assert failure_kind(caught.value) == "refused" or forbids_request(caught.value)
