"""Secrets that a server sends back in a reply with status 200, live and in a batch."""

import json
from base64 import b64encode, urlsafe_b64encode
from pathlib import Path

import pytest

from resources.llm.gateway import Gateway
from resources.llm.ledger import Ledger
from resources.llm.masking import one_line
from resources.llm.request import Completion, Failure
from tests.doubles.odd_api import Asked, answering
from tests.doubles.openai_api import completion
from tests.resources.llm.entries import batch_result, charges_of, spec_of
from tests.resources.llm.loopback import ask, gateway_of

KEY, HEADER = "sk-key-of-the-environment", "secret of/the header"
FORMS = [
    KEY,
    HEADER,
    "secret%20of/the%20header",
    "secret%20of%2Fthe%20header",
    "secret+of%2Fthe+header",
    "secret+of%2fthe+header",
    KEY.upper(),
    HEADER.title(),
    *(b64encode(f"{before}{KEY}&".encode()).decode() for before in ("", "x", "id")),
    urlsafe_b64encode(f"?>{HEADER}".encode()).decode().rstrip("="),
]
SAID = "; ".join(FORMS)
MESSAGES = {
    "text": {"content": f"You sent {SAID}."},
    "parts": {"content": [{"type": "text", "text": f"You sent {SAID}."}]},
    "reasoning": {"content": "Fine.", "reasoning_content": f"I was sent {SAID}."},
    "thinking": {"content": f"<think>I was sent {SAID}.</think>Fine."},
    "reasoning only": {"content": None, "reasoning": f"I was sent {SAID}."},
    "refusal": {"content": None, "refusal": f"I say nothing of {SAID}."},
}


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY_OF_IT", KEY)
    monkeypatch.setenv("HEADER_OF_IT", HEADER)


def gateway_with_secrets(folder: Path, url: str, **entry: object) -> Gateway:
    model = {"api_key_env": "KEY_OF_IT", "extra_headers": {"X-Door": {"env": "HEADER_OF_IT"}}}
    return gateway_of(folder, {"it": {"base_url": url, "attempts": 1, **model, **entry}})


def rows(folder: Path) -> str:
    ledger = Ledger(folder / "ledger.sqlite")
    return repr([*ledger, *charges_of(ledger)])


def leaked(*shown: object) -> list[str]:
    # Of base64, what holds the secret's letters whole.
    return [form for form in FORMS for each in shown if form[4:-4] in str(each)]


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_no_secret_is_in_an_outcome_or_the_ledger(tmp_path: Path, message: dict) -> None:
    with answering(lambda asked: asked.send(completion(message, 10, 5))) as api:
        (outcome,) = ask(gateway_with_secrets(tmp_path, api.url))
        (asked,) = api.received

    assert (asked.headers["authorization"], asked.headers["x-door"]) == (f"Bearer {KEY}", HEADER)
    assert leaked(repr(outcome), rows(tmp_path)) == []
    assert "***; ***; ***; ***; ***; ***; ***; ***; ***" in repr(outcome) and "***" in rows(
        tmp_path
    )


@pytest.mark.parametrize("value", [{"env": "TOKEN_OF_IT"}, "Bearer token-of-the-header"])
def test_a_scheme_before_a_secret_is_no_part_of_it(
    tmp_path: Path, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN_OF_IT", "Bearer token-of-the-header")
    model = {"attempts": 1, "extra_headers": {"Authorization": value}}

    def repeat(asked: Asked) -> None:
        token = asked.headers["authorization"].removeprefix("Bearer ")
        asked.send(completion({"content": f"Your key is {token}."}, 10, 5))

    with answering(repeat) as api:
        (outcome,) = ask(gateway_of(tmp_path, {"it": {"base_url": api.url, **model}}))

    assert isinstance(outcome, Completion) and outcome.text == "Your key is ***."
    assert "token-of-the-header" not in rows(tmp_path)


@pytest.mark.parametrize(
    "body",
    [
        completion({"content": "Fine."}, 10, 5, f"stopped by {SAID}"),
        json.dumps(
            {"choices": [], "said": SAID, "usage": {"prompt_tokens": 1, "completion_tokens": 1}}
        ).encode(),
        json.dumps({"choices": [], "said": SAID}).encode(),
        SAID.encode(),
    ],
    ids=["finish reason", "billed and unreadable", "unreadable", "no JSON"],
)
def test_nor_is_one_that_stands_elsewhere_in_the_reply(tmp_path: Path, body: bytes) -> None:
    with answering(lambda asked: asked.send(body)) as api:
        (outcome,) = ask(gateway_with_secrets(tmp_path, api.url))

    assert isinstance(outcome, Completion | Failure)
    assert leaked(repr(outcome), rows(tmp_path)) == []


@pytest.mark.parametrize("status", [400, 401, 404])
def test_nor_is_one_in_an_error(tmp_path: Path, status: int) -> None:
    def answer(asked: Asked) -> None:
        asked.send(
            json.dumps({"error": {"message": f"Not with {SAID}", "code": KEY}}).encode(), status
        )

    with answering(answer) as api:
        try:
            shown = repr(ask(gateway_with_secrets(tmp_path, api.url)))
        except Exception as refused:  # 401 ends the stage
            shown = str(refused)

    assert leaked(shown, rows(tmp_path)) == [] and "***" in shown


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_the_same_holds_for_a_batch(message: dict) -> None:
    headers = {"X-Door": {"env": "HEADER_OF_IT"}}
    spec = spec_of(api_key_env="KEY_OF_IT", extra_headers=headers)
    read = batch_result(json.loads(completion(message, 10, 5)), spec)

    assert leaked(repr(read)) == [] and "***; ***; ***; ***; ***" in repr(read)


@pytest.mark.parametrize("filler", [0, 255, 265])
def test_no_part_of_a_secret_is_left_where_an_error_is_cut(filler: int) -> None:
    shown = one_line(f"{'x' * filler} wrong: {KEY}", spec_of(api_key_env="KEY_OF_IT"))
    assert KEY[:8] not in shown
