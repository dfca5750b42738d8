"""Alerts by webhook (in Slack's format) and by e-mail.

Error messages never contain the addresses, which may have secrets in them.
"""

import os
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit

import httpx2

from methods.errors import UserError

if TYPE_CHECKING:
    from smtplib import SMTP as Connection

WEBHOOK, EMAIL, SMTP = "LOOM_ALERT_WEBHOOK", "LOOM_ALERT_EMAIL", "LOOM_ALERT_SMTP"
TIMEOUT = 10.0
"""Timeout in seconds for each network operation of the sending."""
LONGEST = 3000
"""Longer messages are cut to this many characters: receivers would cut or refuse them."""


class AlertError(UserError):
    """A message could not be sent; the sentence says what to correct."""


def variables_set() -> list[str]:
    """List the variables of the receivers, webhook and e-mail, that are set."""
    return [variable for variable in (WEBHOOK, EMAIL) if os.environ.get(variable)]


def require_valid() -> None:
    """Raise AlertError if `LOOM_ALERT_EMAIL` is not one line, as headers of mails are."""
    receivers = os.environ.get(EMAIL, "")
    if receivers != "".join(receivers.splitlines()):
        raise AlertError(
            f"{EMAIL} has a line break: write the addresses in one line, separated by commas."
        )


def send(subject: str, text: str) -> list[str]:
    """Send an alert to the configured webhook and e-mail address.

    Args:
        subject: The subject.
        text: The text, which is cut if it is too long.

    Returns:
        A sentence for each of `variables_set()` to which sending failed.
    """
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]} …"
    ways = {WEBHOOK: _post, EMAIL: _mail}
    troubles = []
    for variable in variables_set():
        try:
            ways[variable](os.environ[variable], subject, text)
        except AlertError as error:
            troubles.append(str(error))
    return troubles


def _post(address: str, subject: str, text: str) -> None:
    # The text may quote models and web pages, and Slack reads <…> as a link or a mention.
    escaped = escape(f"{subject}\n{text}", quote=False)
    try:
        with httpx2.stream("POST", address, json={"text": escaped}, timeout=TIMEOUT) as answer:
            status = answer.status_code
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, OSError) as error:
        raise AlertError(
            f"The webhook of {WEBHOOK} did not answer ({type(error).__name__}): correct its address, "
            "or look after its server."
        ) from None
    if status >= 300:
        raise AlertError(
            f"The webhook of {WEBHOOK} answered with status {status}: correct its address, or look "
            "after its server."
        )


def _mail(receivers: str, subject: str, text: str) -> None:
    # Imported here, since mails are rare.
    import smtplib
    from email.message import EmailMessage

    require_valid()
    server = _server()
    message = EmailMessage()
    user = unquote(server.username or "")
    message["From"] = user if "@" in user else f"vlm-loom@{server.hostname}"
    message["To"] = receivers
    # A header is one line.
    message["Subject"] = " ".join(subject.split())
    message.set_content(text)
    try:
        with _connected(server) as smtp:
            if user:
                smtp.login(user, unquote(server.password or ""))
            smtp.send_message(message)
    except (OSError, smtplib.SMTPException, ValueError) as error:
        status = f" {error.smtp_code}" if isinstance(error, smtplib.SMTPResponseException) else ""
        raise AlertError(
            f"The mail server of {SMTP} took no message ({type(error).__name__}{status}): correct its "
            f"address, its password or {EMAIL}."
        ) from None


def _server() -> SplitResult:
    try:
        server = urlsplit(os.environ.get(SMTP, ""))
        whole = server.scheme in ("smtp", "smtps") and server.hostname and server.port != 0
    except ValueError:
        whole = None
    if not whole:
        raise AlertError(
            f"{EMAIL} needs {SMTP}, the mail server, as in smtp://user:password@host:587 (smtps:// for "
            "port 465): set it, or unset both."
        )
    return server


def _connected(server: SplitResult) -> "Connection":
    import smtplib
    import ssl

    host, context = server.hostname or "", ssl.create_default_context()
    if server.scheme == "smtps":
        return smtplib.SMTP_SSL(host, server.port or 465, timeout=TIMEOUT, context=context)
    smtp = smtplib.SMTP(host, server.port or 587, timeout=TIMEOUT)
    smtp.ehlo()
    # Never send a password without encryption: if the server does not support STARTTLS, this fails.
    if server.username or smtp.has_extn("starttls"):
        smtp.starttls(context=context)
        smtp.ehlo()
    return smtp
