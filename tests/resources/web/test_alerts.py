"""Messages reach a webhook and a mail server, or say in a sentence without secrets why they do not."""

import smtplib
from unittest.mock import MagicMock, Mock

import pytest

from resources.web import alerts
from resources.web.alerts import EMAIL, SMTP, WEBHOOK, send, variables_set
from resources.web.ports import HOST
from tests.doubles.odd_api import OddApi, answering, never, with_status

SECRET = "T0K3N"


def webhook(server: OddApi) -> str:
    return f"http://{server.address}/services/{SECRET}"


def test_a_webhook_gets_slacks_form_with_slacks_characters_spelled_out(monkeypatch):
    with answering(with_status(200)) as server:
        monkeypatch.setenv(WEBHOOK, webhook(server))
        assert variables_set() == [WEBHOOK]
        assert send("build failed", 'a <!channel> & "b"') == []
        assert send("s", "x" * 9000) == []
    first, long = (asked.json for asked in server.received)
    assert first == {"text": 'build failed\na &lt;!channel&gt; &amp; "b"'}
    assert len(long["text"]) < 3100


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        *((with_status(code), str(code)) for code in (302, 404, 500)),
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


@pytest.fixture
def smtp(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """The connection to a mail server without encryption."""
    connection = MagicMock(spec=smtplib.SMTP)
    connection.__enter__.return_value = connection
    connection.has_extn.return_value = False
    connection.starttls.side_effect = smtplib.SMTPNotSupportedError("STARTTLS is not supported")
    monkeypatch.setattr(smtplib, "SMTP", Mock(return_value=connection))
    return connection


def test_a_mail_has_subject_text_and_all_receivers(monkeypatch, smtp):
    receivers = "ada@example.org, eva@example.org"
    monkeypatch.setenv(EMAIL, receivers)
    monkeypatch.setenv(SMTP, f"smtp://{HOST}:2525")
    assert send("build\nfailed", "The server is down.") == []
    (message,) = smtp.send_message.call_args.args
    assert (message["Subject"], message["To"]) == ("build failed", receivers)
    assert message.get_content() == "The server is down.\n"


@pytest.mark.parametrize(
    ("address", "said"),
    [
        (f"smtp://ada:{SECRET}@{HOST}:2525", SMTP),
        *((none, f"{EMAIL} needs {SMTP}") for none in ("", "example.org:25", "smtp://h:99999")),
        (f"http://{SECRET}@x", f"{EMAIL} needs {SMTP}"),
    ],
)
def test_a_password_is_not_sent_in_the_clear_nor_anything_to_no_mail_server(
    monkeypatch, smtp, address, said
):
    monkeypatch.setenv(EMAIL, "ada@example.org")
    monkeypatch.setenv(SMTP, address)
    (trouble,) = send("s", "t")
    assert said in trouble and SECRET not in trouble
    assert not smtp.login.called and not smtp.send_message.called
