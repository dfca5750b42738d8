"""Messages reach a webhook and a mail server, or say in a sentence without secrets why they do not."""

import json
import socketserver
from collections.abc import Callable

import pytest

from resources.web import alerts
from resources.web.alerts import EMAIL, SMTP, WEBHOOK, send, variables_set
from resources.web.ports import HOST
from tests.doubles.odd_api import Asked, OddApi, answering, never
from tests.doubles.serving import free_ports, serving

SECRET = "T0K3N"


def webhook(server: OddApi) -> str:
    return f"http://{server.address}/services/{SECRET}"


def status(code: int) -> Callable[[Asked], None]:
    return lambda asked: asked.send(b"", code)


def test_a_webhook_gets_slacks_form_with_slacks_characters_spelled_out(monkeypatch):
    with answering(status(200)) as server:
        monkeypatch.setenv(WEBHOOK, webhook(server))
        assert variables_set() == [WEBHOOK]
        assert send("build failed", "a <!channel> & b") == []
        assert send("s", "x" * 9000) == []
    first, long = (json.loads(asked.body) for asked in server.received)
    assert first == {"text": "build failed\na &lt;!channel&gt; &amp; b"}
    assert len(long["text"]) < 3100


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        *((status(code), str(code)) for code in (302, 404, 500)),
        (never, "did not answer (ReadTimeout)"),
    ],
)
def test_a_webhook_that_refuses_or_hangs_is_a_sentence_without_the_address(
    monkeypatch, answer, said
):
    monkeypatch.setattr(alerts, "TIMEOUT", 0.3)
    with answering(answer) as server:
        monkeypatch.setenv(WEBHOOK, webhook(server))
        (trouble,) = send("s", "t")
    assert said in trouble and WEBHOOK in trouble and SECRET not in trouble


@pytest.mark.parametrize("address", [f"http://{HOST}:1/{SECRET}", f"ftp://x/{SECRET}", f"{SECRET}"])
def test_an_address_where_nobody_answers_is_a_sentence(monkeypatch, address):
    monkeypatch.setenv(WEBHOOK, address)
    (trouble,) = send("s", "t")
    assert WEBHOOK in trouble and SECRET not in trouble


class _Mail(socketserver.StreamRequestHandler):
    """As much of SMTP as sending one message takes, without encryption."""

    server: "MailServer"

    def handle(self) -> None:
        self.wfile.write(b"220 here\r\n")
        while line := self.rfile.readline():
            said = line.decode().strip()
            self.server.said.append(said)
            if said.upper() == "DATA":
                self.wfile.write(b"354 go on\r\n")
                while (part := self.rfile.readline()) != b".\r\n":
                    self.server.message += part.decode()
            if said.upper() == "QUIT":
                self.wfile.write(b"221 bye\r\n")
                return
            self.wfile.write(b"250 ok\r\n")


class MailServer(socketserver.ThreadingTCPServer):
    def __init__(self) -> None:
        self.said: list[str] = []
        self.message = ""
        super().__init__((HOST, 0), _Mail)


def test_a_mail_has_subject_text_and_all_receivers(monkeypatch):
    with serving(MailServer()) as server:
        monkeypatch.setenv(EMAIL, "ada@example.org, eva@example.org")
        monkeypatch.setenv(SMTP, f"smtp://{HOST}:{server.server_address[1]}")
        assert send("build\nfailed", "The server is down.") == []
    assert "Subject: build failed" in server.message
    assert "The server is down." in server.message
    receivers = [said for said in server.said if said.lower().startswith("rcpt")]
    assert len(receivers) == 2


def test_a_password_is_not_sent_in_the_clear(monkeypatch):
    with serving(MailServer()) as server:
        monkeypatch.setenv(EMAIL, "ada@example.org")
        monkeypatch.setenv(SMTP, f"smtp://ada:{SECRET}@{HOST}:{server.server_address[1]}")
        (trouble,) = send("s", "t")
    assert SMTP in trouble and SECRET not in trouble
    assert not any("AUTH" in said for said in server.said) and server.message == ""


@pytest.mark.parametrize("address", ["", "example.org:25", f"http://{SECRET}@x", "smtp://h:99999"])
def test_a_mail_server_that_is_none_is_refused(monkeypatch, address):
    monkeypatch.setenv(EMAIL, "ada@example.org")
    monkeypatch.setenv(SMTP, address)
    (trouble,) = send("s", "t")
    assert f"{EMAIL} needs {SMTP}" in trouble and SECRET not in trouble


def test_one_way_that_fails_leaves_the_other(monkeypatch):
    (nobody,) = free_ports(1)
    with answering(status(200)) as server:
        monkeypatch.setenv(WEBHOOK, webhook(server))
        monkeypatch.setenv(EMAIL, "ada@example.org")
        monkeypatch.setenv(SMTP, f"smtp://{HOST}:{nobody}")
        troubles = send("s", "t")
    assert len(troubles) == 1 and SMTP in troubles[0]
    assert len(server.received) == 1
