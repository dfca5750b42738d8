"""Secrets of addresses, keys and headers: they arrive where they should, and are shown nowhere."""

import json
import logging
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from resources.llm.ledger import Ledger
from resources.llm.masking import one_line
from resources.llm.model_spec import RegistryError
from resources.llm.request import Completion, Failure, Outcome
from resources.llm.server_address import read_address
from tests.doubles.odd_api import Asked, OddApi, answering
from tests.doubles.openai_api import completion
from tests.resources.llm.entries import (
    ask,
    ask_server,
    batch_result,
    charges_of,
    gateway_of,
    questions,
    spec_of,
)

USER, PASSWORD, TOKEN = "loom user", "p@ss/w:rd", "t0ken+of=the query"
IN_URL = "loom%20user:p%40ss%2Fw%3Ard"
QUERY = "sig=t0ken%2Bof%3Dthe%20query&api-version=2026-01-01&part=a&part=b"
BASIC = "Basic " + b64encode(f"{USER}:{PASSWORD}".encode()).decode()
SHOWN = [
    *(PASSWORD, "p%40ss%2Fw%3Ard", "p%40ss%2fw%3ard", "p%40ss/w%3Ard", f"{USER}:{PASSWORD}"),
    *(BASIC.removeprefix("Basic "), BASIC.removeprefix("Basic ").rstrip("=")),
    *(TOKEN, "t0ken%2Bof%3Dthe%20query", "t0ken%2Bof%3Dthe+query"),
]
"""The secrets of an address in the forms in which a server may send them back."""
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
"""A key and a header in such forms."""
SAID = "; ".join(FORMS)
MESSAGES = {
    "text": {"content": f"You sent {SAID}."},
    "parts": {"content": [{"type": "text", "text": f"You sent {SAID}."}]},
    "reasoning": {"content": "Fine.", "reasoning_content": f"I was sent {SAID}."},
    "thinking": {"content": f"<think>I was sent {SAID}.</think>Fine."},
    "reasoning only": {"content": None, "reasoning": f"I was sent {SAID}."},
    "refusal": {"content": None, "refusal": f"I say nothing of {SAID}."},
}
WITH_SECRETS = {"api_key_env": "KEY_OF_IT", "extra_headers": {"X-Door": {"env": "HEADER_OF_IT"}}}


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY_OF_IT", KEY)
    monkeypatch.setenv("HEADER_OF_IT", HEADER)


def rows(folder: Path) -> str:
    ledger = Ledger(folder / "ledger.sqlite")
    return repr([*ledger, *charges_of(ledger)])


def ask_address(
    folder: Path, answer: Callable[[Asked], None], path: str = "/v1", **entry: object
) -> tuple[Outcome, OddApi]:
    """The outcome of a question to a server with secrets in its address, and the server."""
    with answering(answer) as api:
        url = f"http://{IN_URL}@{api.address}{path}?{QUERY}"
        (outcome,) = ask(gateway_of(folder, {"it": {"base_url": url, "attempts": 2, **entry}}))
    return outcome, api


@pytest.mark.parametrize(
    ("path", "entry"),
    [("/v1", {}), ("/v1/", {"api_key_env": "KEY_OF_IT"}), ("", {}), ("/deep/er/v1", {})],
)
def test_the_request_arrives_at_its_path_with_its_query_and_its_credentials(
    tmp_path, path, entry, caplog
):
    caplog.set_level(logging.DEBUG)
    outcome, api = ask_address(tmp_path, Asked.says, path, **entry)

    assert isinstance(outcome, Completion)
    (asked,) = api.received
    assert urlsplit(asked.path).path == f"{path.rstrip('/')}/chat/completions"
    assert parse_qsl(urlsplit(asked.path).query) == [
        *(("sig", TOKEN), ("api-version", "2026-01-01"), ("part", "a"), ("part", "b"))
    ]
    assert asked.headers["authorization"] == BASIC
    shown = repr(outcome) + caplog.text + rows(tmp_path)
    assert "HTTP Request: POST" in shown and not [form for form in SHOWN if form in shown]


def test_without_credentials_in_the_address_the_key_is_sent_and_nothing_of_the_environment(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer sk-for-openai-alone")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-for-openai-alone")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-for-openai-alone")
    with answering(Asked.says) as api:
        model = {"base_url": f"http://{api.address}/v1/?a=b"}
        models = {"it": {**model, "api_key_env": "KEY_OF_IT"}, "keyless": model}
        gateway = gateway_of(tmp_path, models)
        ask(gateway)
        gateway.ask("s", questions(1, "keyless"))
        with_key, without = api.received

    assert with_key.path == "/v1/chat/completions?a=b"
    assert with_key.headers["authorization"] == f"Bearer {KEY}"
    for asked in (with_key, without):
        assert "for-openai-alone" not in str(dict(asked.headers))


def repeats(asked: Asked, status: int) -> None:
    """A page that names all that was asked, in every form there is."""
    said = f"Nothing at http://{IN_URL}@host{asked.path} for {asked.headers['authorization']}; "
    asked.send((said + " ".join(SHOWN)).encode(), status, Content_Type="text/html")


def repeats_in_json(asked: Asked) -> None:
    said = b'{"error": {"message": "Not for %b or %b."}}'
    asked.send(said % (asked.headers["authorization"].encode(), PASSWORD.encode()), 400)


def redirect(asked: Asked, to: str) -> None:
    asked.send(b"", 307, Location=f"http://{IN_URL}@{to}?{QUERY}")


def hangs_up(asked: Asked) -> None:
    asked.close_connection = True


REPEATING = {
    **{str(status): partial(repeats, status=status) for status in (404, 400, 502, 200)},
    "json": repeats_in_json,
    "to itself": lambda asked: redirect(asked, f"{asked.server.address}{asked.path}"),
    "to nowhere": partial(redirect, to="127.0.0.1:9/v1"),
    "to no address": partial(redirect, to="[nowhere/v1"),
    "hangs up": hangs_up,
}


@pytest.mark.parametrize("answer", REPEATING.values(), ids=REPEATING)
def test_a_failure_repeats_nothing_of_the_address(tmp_path, answer, caplog):
    caplog.set_level(logging.DEBUG)
    outcome, _ = ask_address(tmp_path, answer)

    assert isinstance(outcome, Failure) and outcome.detail
    shown = repr(outcome) + caplog.text + rows(tmp_path)
    assert not [form for form in SHOWN if form in shown]


def test_a_redirect_within_the_server_is_followed_with_the_credentials(tmp_path):
    def answer(asked: Asked) -> None:
        if asked.path.startswith("/v1/"):
            asked.send(b"", 308, Location=f"http://x:y@{asked.server.address}/v2?c=d")
        else:
            asked.says()

    outcome, api = ask_address(tmp_path, answer)

    first, second = api.received
    assert isinstance(outcome, Completion) and second.path == "/v2?c=d"
    assert second.headers["authorization"] == BASIC and second.body == first.body


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_no_other_server_is_sent_the_request(tmp_path, host):
    with answering(Asked.says) as other:

        def moved(asked: Asked) -> None:
            # Another port of the same host, or the same port of another host.
            server = other if host == "127.0.0.1" else asked.server
            asked.send(b"", 307, Location=f"http://{host}:{server.server_port}/v1")

        outcome, api = ask_address(tmp_path, moved)

    target = f"http://{host}:{(other if host == '127.0.0.1' else api).server_port}"
    assert isinstance(outcome, Failure) and outcome.kind == "bad_request"
    assert outcome.detail == (
        f"The server answered 307: it redirects to {target}, and the redirect was not followed: set "
        "base_url in models.yaml to the final address."
    )
    assert other.received == [] and len(api.received) == 1


def test_a_short_password_is_masked_in_errors_as_a_word(tmp_path):
    said = b'{"error": {"message": "No hunter2 here, hunters."}}'
    with answering(lambda asked: asked.send(said, 400)) as api:
        model = {"base_url": f"http://a:hunter2@{api.address}"}
        (outcome,) = ask(gateway_of(tmp_path, {"it": model}))

    assert isinstance(outcome, Failure) and "No *** here, hunters." in outcome.detail


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("http://u:p@h:80/v1/?k=v#f", "http://h/v1"),
        ("https://h:8443", "https://h:8443"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
    ],
)
def test_what_is_public_of_an_address(address, public):
    assert read_address(address).public == public


@pytest.mark.parametrize("setting", ["base_url", "URL_OF_IT", "OPENAI_BASE_URL"])
def test_an_address_that_cannot_be_used_is_named_by_its_setting_alone(setting, monkeypatch):
    address = "ftp://u:pass-word@h/v1"
    monkeypatch.setenv(setting, address)
    fields = {"base_url": {"base_url": address}, "URL_OF_IT": {"base_url_env": setting}}
    with pytest.raises(RegistryError, match=rf"The address of it \({setting}\)") as caught:
        spec_of(**fields.get(setting, {})).server()

    assert "pass-word" not in str(caught.value)


def leaked(*shown: object) -> list[str]:
    # Of base64, what holds the secret's letters whole.
    return [form for form in FORMS for each in shown if form[4:-4] in str(each)]


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_no_secret_is_in_an_outcome_or_the_ledger_live_or_in_a_batch(tmp_path, message):
    body = completion(message, 10, 5)
    (outcome,), api = ask_server(tmp_path, lambda asked: asked.send(body), **WITH_SECRETS)
    in_batch = batch_result(json.loads(body), spec_of(**WITH_SECRETS))

    (asked,) = api.received
    assert (asked.headers["authorization"], asked.headers["x-door"]) == (f"Bearer {KEY}", HEADER)
    assert leaked(repr(outcome), rows(tmp_path), repr(in_batch)) == []
    assert "***" in rows(tmp_path)
    for shown in (outcome, in_batch):
        assert "***; ***; ***; ***; ***; ***; ***; ***; ***" in repr(shown)


@pytest.mark.parametrize("value", [{"env": "TOKEN_OF_IT"}, "Bearer token-of-the-header"])
def test_a_scheme_before_a_secret_is_no_part_of_it(tmp_path, value, monkeypatch):
    monkeypatch.setenv("TOKEN_OF_IT", "Bearer token-of-the-header")

    def repeat(asked: Asked) -> None:
        asked.says(f"Your key is {asked.headers['authorization'].removeprefix('Bearer ')}.")

    (outcome,), _ = ask_server(tmp_path, repeat, extra_headers={"Authorization": value})

    assert isinstance(outcome, Completion) and outcome.text == "Your key is ***."
    assert "token-of-the-header" not in rows(tmp_path)


USAGE = {"prompt_tokens": 1, "completion_tokens": 1}


@pytest.mark.parametrize(
    "body",
    [
        completion({"content": "Fine."}, 10, 5, f"stopped by {SAID}"),
        json.dumps({"choices": [], "said": SAID, "usage": USAGE}).encode(),
        json.dumps({"choices": [], "said": SAID}).encode(),
        SAID.encode(),
    ],
    ids=["finish reason", "billed and unreadable", "unreadable", "no JSON"],
)
def test_nor_is_one_that_stands_elsewhere_in_the_reply(tmp_path, body):
    answer = partial(Asked.send, body=body)
    (outcome,), _ = ask_server(tmp_path, answer, attempts=1, **WITH_SECRETS)

    assert leaked(repr(outcome), rows(tmp_path)) == []


@pytest.mark.parametrize("status", [400, 401, 404])
def test_nor_is_one_in_an_error(tmp_path, status):
    error = {"error": {"message": f"Not with {SAID}", "code": KEY}}
    in_batch = repr(batch_result(error, spec_of(**WITH_SECRETS), status))
    assert leaked(in_batch) == [] and "Not with ***" in in_batch
    answer = partial(Asked.send, body=json.dumps(error).encode(), status=status)
    try:
        shown = repr(ask_server(tmp_path, answer, attempts=1, **WITH_SECRETS)[0])
    except Exception as refused:  # 401 ends the stage
        shown = str(refused)

    assert leaked(shown, rows(tmp_path)) == [] and "***" in shown


@pytest.mark.parametrize("filler", [0, 255, 265])
def test_no_part_of_a_secret_is_left_where_an_error_is_cut(filler):
    shown = one_line(f"{'x' * filler} wrong: {KEY}", spec_of(api_key_env="KEY_OF_IT"))
    assert KEY[:8] not in shown
