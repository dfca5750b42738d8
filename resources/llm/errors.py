"""Errors of a model call: which are retried and after how long, and the failure
kind and message of the others.

This module interprets the client's exceptions; `server_errors.py` reads the errors that servers send.
"""

import ssl
from collections.abc import Callable, Iterator

import aiohttp
import httpx2
import openai
from tenacity import RetryCallState, wait_random_exponential

from resources.llm.circuit_breaker import ProviderDown
from resources.llm.clients import REFUSED_REDIRECT
from resources.llm.error_advice import advised
from resources.llm.error_kinds import kind_of, passes, refuses_schema
from resources.llm.masking import one_line
from resources.llm.model_spec import ModelSpec
from resources.llm.rate_headers import refusal_pause
from resources.llm.reply import BadResponse, ReplyTooLarge
from resources.llm.request import FailureKind
from resources.llm.server_address import proxy_for
from resources.llm.server_errors import ServerError, read_error

MAX_WAIT = 60.0
ANY_TROUBLE = (openai.OpenAIError, httpx2.HTTPError, aiohttp.ClientError, BadResponse, TimeoutError)
"""The errors that `ChatClient.post` may raise: API error, network error, unreadable reply, timeout."""
_ANSWER_LOST_BEHIND = (502, 504, 524)
"""Statuses of a proxy that got no answer from the server behind it. The server
may have answered and billed."""


def is_retryable(error: BaseException) -> bool:
    """Tell whether a retry may succeed: 408, 409, 429, 5xx, a broken connection or reply."""
    if isinstance(error, BadResponse) and error.billed:
        return False  # The server would produce and bill the same reply again.
    if isinstance(error, ReplyTooLarge):
        return False  # The reply would be too large again.
    if (response := server_error(error)) is not None:
        return passes(response)
    return isinstance(error, ANY_TROUBLE)


def server_error(error: BaseException) -> ServerError | None:
    """Return the server's error, from an error response or inside a successful one; else None."""
    if isinstance(error, openai.APIStatusError):
        body = error.body
        response = body if isinstance(body, ServerError) else read_error(error.status_code, body)
        target = error.response.extensions.get(REFUSED_REDIRECT)
        if target is None:
            return response
        return response._replace(
            message=f"it redirects to {target}, and the redirect was not followed: set base_url in "
            "models.yaml to the final address"
        )
    return error.error if isinstance(error, BadResponse) else None


def forbids_request(error: BaseException) -> bool:
    """Tell whether the server answered 403 without mentioning the key, the account or the content."""
    response = server_error(error)
    return response is not None and response.status == 403 and kind_of(response) == "bad_request"


def is_about_schema(error: BaseException) -> bool:
    """Tell whether the server does not support the JSON schema of the request."""
    response = server_error(error)
    return response is not None and refuses_schema(response)


def is_rate_limit(error: BaseException) -> bool:
    """Tell whether the server refused the request because of a rate limit."""
    response = server_error(error)
    return response is not None and (response.status == 429 or kind_of(response) == "rate_limited")


def may_have_cost(error: BaseException) -> bool:
    """Tell whether the provider may have billed an answer that did not arrive."""
    if isinstance(error, openai.APIStatusError):
        return error.status_code in _ANSWER_LOST_BEHIND
    never_sent = aiohttp.ClientConnectorError, ProviderDown
    return not any(isinstance(cause, never_sent) for cause in _causes(error))


def waits(spec: ModelSpec) -> Callable[[RetryCallState], float]:
    """Make the function that returns the seconds before the next attempt: the server's Retry-After
    (seconds or a date), else a random time within an exponential backoff.
    """
    backoff = wait_random_exponential(multiplier=spec.retry_wait.first, max=spec.retry_wait.most)

    def seconds(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        pause = pause_asked(error) if isinstance(error, openai.APIStatusError) else None
        return pause if pause is not None else backoff(state)

    return seconds


def pause_asked(error: openai.APIStatusError) -> float | None:
    """Return the seconds that the server asks to wait, at most MAX_WAIT."""
    pause = refusal_pause(error.response.headers)
    return None if pause is None else min(pause, MAX_WAIT)


def failure_kind(error: BaseException) -> FailureKind:
    """Return the failure kind of an error that ended a request."""
    if (response := server_error(error)) is not None:
        return kind_of(response)
    # The client raises a timeout error for a lost connection, too; only its
    # cause distinguishes the two.
    if any(isinstance(cause, TimeoutError) for cause in _causes(error)):
        return "timeout"
    if isinstance(error, ProviderDown):
        return "server_error" if error.has_replied else "unreachable"
    if isinstance(error, openai.APIConnectionError):
        return "unreachable"
    return "bad_response"


def why(error: BaseException, spec: ModelSpec, attempts: int) -> str:
    """Describe the error that ended a request in one line, with the setting to change if it is known.

    Args:
        error: The error of the last attempt.
        spec: The entry of the model, whose secrets are masked.
        attempts: The number of attempts.
    """
    if (response := server_error(error)) is not None:
        return advised(response, spec) or one_line(_words(response), spec)
    if failure_kind(error) == "timeout":
        return _timed_out(error, spec, attempts)
    return sentence(error, spec)


def sentence(error: BaseException, spec: ModelSpec) -> str:
    """Describe an error in one line.

    Args:
        error: The error of a request.
        spec: The model's entry, whose secrets are masked.
    """
    if (response := server_error(error)) is not None:
        return one_line(_words(response), spec)
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, aiohttp.ClientConnectorError):
            return one_line(_no_connection(cause, spec), spec)
    if isinstance(error, openai.APIConnectionError) and len(causes) > 1:
        return one_line(f"The connection to {spec.name} broke: {causes[-1] or 'closed'}.", spec)
    return one_line(str(error), spec)


def _timed_out(error: BaseException, spec: ModelSpec, attempts: int) -> str:
    """Describe a timeout: its setting, its seconds and the number of attempts."""
    times, causes = spec.timeouts, list(_causes(error))
    setting, seconds = "whole", times.whole
    if any(isinstance(cause, httpx2.ConnectTimeout) for cause in causes):
        setting, seconds = "connect", times.connect
    elif any(isinstance(cause, httpx2.ReadTimeout) for cause in causes):
        setting, seconds = "first_byte", times.first_byte
    attempts_text = "one attempt" if attempts == 1 else f"each of {attempts} attempts"
    return (
        f"The server of {spec.name} did not answer within {seconds:g} s (timeouts.{setting}) in "
        f"{attempts_text}: raise timeouts.{setting} in its entry of models.yaml, or lower its "
        "concurrency."
    )


def _words(response: ServerError) -> str:
    status = (
        f"The server answered {response.status}" if response.status else "The reply holds an error"
    )
    return (
        f"{status}: {response.message.rstrip('.')}."
        if response.message
        else f"{status} without a reason."
    )


def _no_connection(error: aiohttp.ClientConnectorError, spec: ModelSpec) -> str:
    """Describe a failed connection, and what to check."""
    where = f"{error.host}:{error.port}"
    server = spec.server()
    proxy = proxy_for(server.public) if server else None
    if proxy is not None and proxy.at(error.host, error.port):
        return (
            f"The proxy {where} ({proxy.variable} in the environment) cannot be reached: correct or "
            f"unset {proxy.variable}, or add the server's host to NO_PROXY."
        )
    entry = f"base_url of {spec.name} in models.yaml"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"The host {error.host} is unknown: correct {entry}, or check the network's DNS."
    if isinstance(error.os_error, ssl.SSLError):
        return f"No secure connection to {where}: {_tls_fault(error.os_error, entry)}."
    if isinstance(error.os_error, ConnectionRefusedError):
        return f"Nothing listens at {where}: start the server, or correct {entry}."
    return f"No connection to {where} ({error.os_error.strerror or error}): check {entry}."


_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE")
"""Errors of OpenSSL for a server that answers without TLS."""
_ADVICE = (
    (
        (2, 18, 19, 20, 21),
        "Set SSL_CERT_FILE to a file with the certificate of the issuer, and start again",
    ),
    ((9, 10), "Renew the certificate of the server, or correct the clock of this machine"),
    ((62, 64), "Set base_url in models.yaml to a host that the certificate names"),
)
"""Advice by OpenSSL's codes of certificate errors: unknown issuer, dates, host name or IP address."""


def _tls_fault(error: ssl.SSLError, entry: str) -> str:
    """Describe why a TLS connection failed, and what to change."""
    if isinstance(error, ssl.SSLCertVerificationError):
        reason = error.verify_message.rstrip(".")
        advice = next((text for codes, text in _ADVICE if error.verify_code in codes), "")
        return f"{reason}. {advice or 'Correct the certificate of the server'}"
    reason = error.reason or str(error)
    advice = (
        "Use http://" if reason in _NO_TLS else "Check the TLS settings of the server, and https://"
    )
    return f"{reason}. {advice} in {entry}"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__
