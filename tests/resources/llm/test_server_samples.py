"""Replies and errors in the words of real servers, from the shared samples: outcome and sentence."""

import json
from pathlib import Path
from typing import Any

import pytest

from resources.llm.model_calls import ModelCalls
from resources.llm.request import Completion, Outcome
from tests.doubles.odd_api import Asked, answering
from tests.doubles.openai_api import completion
from tests.resources.llm.loopback import gateway_of, questions

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


def load() -> dict[str, Any]:
    cases: dict[str, Any] = json.loads(CASES.read_text())
    return cases


def answer(asked: Asked) -> None:
    send(asked, load()[json.loads(asked.body)["model"]])


def send(asked: Asked, case: dict[str, Any]) -> None:
    """Answer as a case says: with a text, or with a body and its status and headers."""
    if "say" in case:
        message = {"role": "assistant", "content": case["say"]}
        asked.send(completion(message, 10, 5, case.get("finish", "stop")))
        return
    body = case["body"] if isinstance(case["body"], str) else json.dumps(case["body"])
    headers = {"Content_Type": "application/json"}
    headers |= {name.replace("-", "_"): value for name, value in case.get("headers", {}).items()}
    asked.send(body.encode(), case.get("status", 200), **headers)


def ask_case(folder: Path, case: str) -> tuple[Outcome, int]:
    """The outcome of one request to the server of a case, and how many requests it received."""
    with answering(answer) as api:
        gateway = gateway_of(folder, {case: {"base_url": api.url, "attempts": 2}})
        asked = questions(1, case)
        # Models are asked apart, so that an error of the account is an outcome and not the stage's.
        (outcome,), _ = gateway.map("s", asked, ModelCalls.complete, apart=lambda each: each.model)
        return outcome, len(api.received)


def test_every_case_is_expected() -> None:
    failing = [case for cases in FAILURES.values() for case in cases]
    assert sorted([*ANSWERS, *failing]) == sorted(load())


@pytest.mark.parametrize("case", ANSWERS)
def test_answers(tmp_path: Path, case: str) -> None:
    outcome, n_requests = ask_case(tmp_path, case)

    assert isinstance(outcome, Completion), outcome
    assert outcome.text == ANSWERS[case]
    assert n_requests == 1


@pytest.mark.parametrize(
    ("case", "kind"), [(case, kind) for kind, cases in FAILURES.items() for case in cases]
)
def test_failures(tmp_path: Path, case: str, kind: str) -> None:
    outcome, n_requests = ask_case(tmp_path, case)

    assert not isinstance(outcome, Completion) and outcome.kind == kind, outcome
    assert WORDS.get(case, "") in outcome.detail
    # A 403 without words about key, account or content is tried once more while nothing is answered.
    may_pass = kind in ("server_error", "bad_response") or case == "waf-403"
    assert n_requests == (2 if may_pass else 1)


FORBIDDEN = CASES.parents[1] / "01-one-forbidden-question/cases.json"
MODELS_THAT_FORBID = (
    *("some-xai", "some-openrouter", "some-waf", "some-deepseek", "some-alibaba", "judge-xai"),
)


@pytest.mark.parametrize("model", MODELS_THAT_FORBID)
def test_one_forbidden_question_costs_one_question(tmp_path: Path, model: str) -> None:
    forbidden, answered = json.loads(FORBIDDEN.read_text())[model]

    def answer_unless_forbidden(asked: Asked) -> None:
        send(asked, forbidden if b"Question 7?" in asked.body else answered)

    with answering(answer_unless_forbidden) as api:
        gateway = gateway_of(tmp_path, {model: {"base_url": api.url, "concurrency": 2}})
        outcomes, usage = gateway.ask("s", questions(30, model))

    assert usage.failures == {"refused": 1} and not isinstance(outcomes[7], Completion)
