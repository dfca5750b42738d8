"""Credentials in a server's address: they arrive where they should, and are shown nowhere."""

import logging
from base64 import b64encode
from functools import partial
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from resources.llm.ledger import Ledger
from resources.llm.model_spec import ModelSpec, RegistryError
from resources.llm.request import Completion, Failure
from resources.llm.server_address import read_address
from tests.doubles.odd_api import Asked, answering
from tests.resources.llm.entries import charges_of
from tests.resources.llm.loopback import ask, gateway_of

USER, PASSWORD, TOKEN = "loom user", "p@ss/w:rd", "t0ken+of=the query"
IN_URL = "loom%20user:p%40ss%2Fw%3Ard"
QUERY = "sig=t0ken%2Bof%3Dthe%20query&api-version=2026-01-01&part=a&part=b"
BASIC = "Basic " + b64encode(f"{USER}:{PASSWORD}".encode()).decode()
SHOWN = [
    *(PASSWORD, "p%40ss%2Fw%3Ard", "p%40ss%2fw%3ard", "p%40ss/w%3Ard", f"{USER}:{PASSWORD}"),
    *(BASIC.removeprefix("Basic "), BASIC.removeprefix("Basic ").rstrip("=")),
    *(TOKEN, "t0ken%2Bof%3Dthe%20query", "t0ken%2Bof%3Dthe+query"),
]
"""The secrets in the forms in which a server may send them back."""


def entry_of(address: str, **entry: object) -> dict[str, object]:
    return {"base_url": f"http://{IN_URL}@{address}?{QUERY}", "attempts": 2, **entry}


def all_that_is_shown(
    folder: Path, outcomes: list[object], caplog: pytest.LogCaptureFixture
) -> str:
    ledger = Ledger(folder / "ledger.sqlite")
    rows = [repr(call) for call in ledger] + [repr(charge) for charge in charges_of(ledger)]
    return "\n".join([*map(repr, outcomes), caplog.text, *rows])


@pytest.mark.parametrize(
    ("path", "key"),
    [("/v1", None), ("/v1/", "sk-of-the-environment"), ("", None), ("/deep/er/v1", None)],
)
def test_the_request_arrives_at_its_path_with_its_query_and_its_credentials(
    tmp_path: Path,
    path: str,
    key: str | None,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("KEY_OF_IT", key or "")
    entry = {"api_key_env": "KEY_OF_IT"} if key else {}
    with answering(Asked.says) as api:
        outcomes = ask(gateway_of(tmp_path, {"it": entry_of(f"{api.address}{path}", **entry)}))
        (asked,) = api.received

    assert isinstance(outcomes[0], Completion)
    assert urlsplit(asked.path).path == f"{path.rstrip('/')}/chat/completions"
    assert parse_qsl(urlsplit(asked.path).query) == [
        *(("sig", TOKEN), ("api-version", "2026-01-01"), ("part", "a"), ("part", "b"))
    ]
    assert asked.headers["authorization"] == BASIC
    shown = all_that_is_shown(tmp_path, outcomes, caplog)
    assert "HTTP Request: POST" in shown and not [form for form in SHOWN if form in shown]


def test_without_credentials_in_the_address_the_key_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY_OF_IT", "sk-of-the-environment")
    with answering(Asked.says) as api:
        model = {"base_url": f"http://{api.address}/v1/?a=b", "api_key_env": "KEY_OF_IT"}
        ask(gateway_of(tmp_path, {"it": model}))
        (asked,) = api.received

    assert asked.path == "/v1/chat/completions?a=b"
    assert asked.headers["authorization"] == "Bearer sk-of-the-environment"


def test_no_header_comes_from_the_environment_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer sk-for-openai-alone")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-for-openai-alone")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-for-openai-alone")
    with answering(Asked.says) as api:
        ask(gateway_of(tmp_path, {"it": {"base_url": f"http://{api.address}/v1"}}))
        (asked,) = api.received

    assert "for-openai-alone" not in str(dict(asked.headers))


def repeats(asked: Asked, status: int) -> None:
    """A page that names all that was asked, in every form there is."""
    said = f"Nothing at http://{IN_URL}@host{asked.path} for {asked.headers['authorization']}; "
    asked.send((said + " ".join(SHOWN)).encode(), status, Content_Type="text/html")


def repeats_in_json(asked: Asked) -> None:
    """An error of the API that says the same."""
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
def test_a_failure_repeats_none_of_it(
    tmp_path: Path, answer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with answering(answer) as api:
        outcomes = ask(gateway_of(tmp_path, {"it": entry_of(f"{api.address}/v1")}))

    assert isinstance(outcomes[0], Failure) and outcomes[0].detail
    shown = all_that_is_shown(tmp_path, outcomes, caplog)
    assert not [form for form in SHOWN if form in shown]


def test_a_redirect_within_the_server_is_followed_with_the_credentials(tmp_path: Path) -> None:
    def answer(asked: Asked) -> None:
        if asked.path.startswith("/v1/"):
            asked.send(b"", 308, Location=f"http://x:y@{asked.server.address}/v2?c=d")
        else:
            asked.says()

    with answering(answer) as api:
        (outcome,) = ask(gateway_of(tmp_path, {"it": entry_of(f"{api.address}/v1")}))
        first, second = api.received

    assert isinstance(outcome, Completion) and second.path == "/v2?c=d"
    assert second.headers["authorization"] == BASIC and second.body == first.body


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_no_other_server_is_sent_the_request(tmp_path: Path, host: str) -> None:
    with answering(Asked.says) as other, answering(lambda asked: moved(asked)) as api:
        # Another port of the same host, or the same port of another host.
        port = (other if host == "127.0.0.1" else api).server_port
        target = f"http://{host}:{port}"

        def moved(asked: Asked) -> None:
            asked.send(b"", 307, Location=f"{target}/v1")

        (outcome,) = ask(gateway_of(tmp_path, {"it": entry_of(f"{api.address}/v1")}))

    assert isinstance(outcome, Failure) and outcome.kind == "bad_request"
    assert outcome.detail == (
        f"The server answered 307: it redirects to {target}, and the redirect was not followed: set "
        "base_url in models.yaml to the final address."
    )
    assert other.received == [] and len(api.received) == 1


def test_a_short_password_is_masked_in_errors_as_a_word(tmp_path: Path) -> None:
    def answer(asked: Asked) -> None:
        asked.send(b'{"error": {"message": "No hunter2 here, hunters."}}', 400)

    with answering(answer) as api:
        (outcome,) = ask(
            gateway_of(tmp_path, {"it": {"base_url": f"http://a:hunter2@{api.address}"}})
        )

    assert isinstance(outcome, Failure) and "No *** here, hunters." in outcome.detail


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("http://u:p@h:80/v1/?k=v#f", "http://h/v1"),
        ("https://h:8443", "https://h:8443"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
    ],
)
def test_what_is_public_of_an_address(address: str, public: str) -> None:
    assert read_address(address).public == public


def test_an_address_that_cannot_be_used_is_named_by_its_setting_alone() -> None:
    spec = ModelSpec.model_validate(
        {"name": "it", "provider": "openai", "model": "m", "base_url": "ftp://u:pass-word@h/v1"}
    )
    with pytest.raises(RegistryError, match=r"The address of it \(base_url\)") as caught:
        spec.server()

    assert "pass-word" not in str(caught.value)
