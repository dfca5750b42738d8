"""Servers that cannot be reached, and proxies of the environment: each has its own sentence."""

import re
import socket
import ssl
from pathlib import Path

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

from resources.llm.errors import sentence
from resources.llm.request import Completion, Failure
from resources.llm.server_address import is_this_machine, proxy_for
from tests.doubles.odd_api import Asked, answering, never
from tests.doubles.serving import free_ports
from tests.resources.llm.entries import ask, ask_server, gateway_of, spec_of


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for scheme in ("http", "https", "all", "no"):
        monkeypatch.delenv(f"{scheme}_proxy", raising=False)
        monkeypatch.delenv(f"{scheme}_PROXY".upper(), raising=False)


def failure(folder: Path, base_url: str, **entry: object) -> Failure:
    (outcome,) = ask(gateway_of(folder, {"it": {"base_url": base_url, "attempts": 1, **entry}}))
    assert isinstance(outcome, Failure)
    return outcome


def hangs_up(asked: Asked) -> None:
    asked.connection.shutdown(socket.SHUT_RDWR)


def no_text(asked: Asked) -> None:
    asked.write(b"HTTP/1.1 500 \xff\xfe\r\nContent-Length: 0\r\n\r\n")


@pytest.mark.parametrize(
    ("scheme", "answer", "kind", "said"),
    [
        ("https", Asked.says, "unreachable", r"^No secure connection to .* Use http://"),
        ("http", hangs_up, "unreachable", "^The connection to it broke: "),
        ("http", no_text, "bad_response", r"^The status line is not UTF-8\.$"),
    ],
)
def test_a_connection_that_breaks_says_how(tmp_path, scheme, answer, kind, said):
    with answering(answer) as api:
        outcome = failure(tmp_path, f"{scheme}://{api.address}/v1")

    assert outcome.kind == kind and re.search(said, outcome.detail)


@pytest.mark.parametrize(
    ("code", "reason", "advice"),
    [
        (18, "self-signed certificate", "Set SSL_CERT_FILE to "),
        (10, "certificate has expired", "Renew the certificate of the server"),
        (62, "Hostname mismatch, certificate is not valid for 'api'.", "Set base_url in models."),
        (23, "certificate revoked", "Correct the certificate of the server."),
    ],
)
def test_a_certificate_that_is_refused_says_why_and_what_helps(code, reason, advice):
    refused = ssl.SSLCertVerificationError(1, "CERTIFICATE_VERIFY_FAILED")
    refused.verify_code, refused.verify_message = code, reason
    key = ConnectionKey("api", 443, True, True, None, None, None)
    error = aiohttp.ClientConnectorCertificateError(key, refused)
    detail = sentence(error, spec_of(base_url="https://api/v1"))

    assert detail.startswith(f"No secure connection to api:443: {reason.rstrip('.')}. {advice}")
    assert "http://" not in detail and ("SSL_CERT_FILE" in detail) == (code == 18)


def test_a_timeout_names_the_setting_that_ended_it_and_the_attempts(tmp_path):
    with answering(never) as api:
        slow = failure(tmp_path, api.url, timeouts={"whole": 0.3})
        times = {"whole": 5, "first_byte": 0.3}
        silent = failure(tmp_path, api.url, timeouts=times, attempts=2)

    assert slow.kind == silent.kind == "timeout"
    assert slow.detail == (
        "The server of it did not answer within 0.3 s (timeouts.whole) in one attempt: raise "
        "timeouts.whole in its entry of models.yaml, or lower its concurrency."
    )
    assert "within 0.3 s (timeouts.first_byte) in each of 2 attempts" in silent.detail


AWAY = "The proxy 127.0.0.1:{port} ({variable} in the environment) cannot be reached"


@pytest.mark.parametrize(
    ("variable", "scheme", "said"),
    [
        ("HTTP_PROXY", "http", AWAY),
        ("ALL_PROXY", "http", AWAY),
        ("ALL_PROXY", "socks5", "SOCKS proxy of ALL_PROXY"),
    ],
)
def test_a_proxy_that_is_away_or_cannot_be_used_is_named(
    tmp_path, monkeypatch, variable, scheme, said
):
    (port,) = free_ports(1)
    monkeypatch.setenv(variable, f"{scheme}://127.0.0.1:{port}")
    outcome = failure(tmp_path, "http://192.0.2.1/v1")

    assert outcome.kind == "unreachable"
    assert said.format(port=port, variable=variable) in outcome.detail


def test_servers_on_this_machine_and_of_no_proxy_are_asked_without_one(tmp_path, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    (outcome,), _ = ask_server(tmp_path, Asked.says)

    assert isinstance(outcome, Completion)
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    monkeypatch.setenv("no_proxy", "inside.example,10.0.0.7")
    monkeypatch.delenv("http_proxy")
    monkeypatch.delenv("ALL_PROXY")
    assert proxy_for("https://api.example.com/v1") == ("https_proxy", "http://proxy:3128")
    assert proxy_for("https://gpu.inside.example/v1") is None
    assert proxy_for("https://10.0.0.7/v1") is None
    assert proxy_for("http://api.example.com/v1") is None


@pytest.mark.parametrize(
    ("host", "here"),
    [
        *((host, True) for host in ("LOCALHOST", "api.localhost", "127.1.2.3", "::1", "0.0.0.0")),
        *((host, False) for host in ("localhost.example.com", "10.0.0.1", "example.com", "")),
    ],
)
def test_which_hosts_are_this_machine(host, here):
    assert is_this_machine(host) is here
