"""Errors of a provider's API: which are retried, after how long, and the failure kind of the rest."""

from collections.abc import Iterator

import aiohttp
import httpx2
import openai
from tenacity import RetryCallState, wait_random_exponential

from resources.llm.limits import ProviderDown
from resources.llm.masking import one_line
from resources.llm.registry import ModelSpec
from resources.llm.reply import BadResponse
from resources.llm.request import FailureKind
from resources.retry_after import retry_after

MAX_WAIT = 60.0
ANY_TROUBLE = (
    openai.OpenAIError,
    httpx2.HTTPError,
    aiohttp.ClientError,
    BadResponse,
    TimeoutError,
)
"""What `attempt.exchange` may raise: an API error, a network error, an unreadable reply, a timeout."""
_PASSING_KIND: dict[int, FailureKind] = {408: "timeout", 409: "server_error", 429: "rate_limited"}
"""Statuses below 500 that may pass by themselves, and the failure kind if they do not."""
_backoff = wait_random_exponential(multiplier=0.5, max=30)


_ANSWER_LOST_BEHIND = (502, 504, 524)
"""Statuses of a proxy that lost the answer of the server behind it, which may have made one."""


def is_retryable(error: BaseException) -> bool:
    """Whether the same request may succeed later: 408, 409, 429, 5xx, a broken connection or reply."""
    if isinstance(error, openai.APIStatusError):
        return is_passing(error.status_code, error.code)
    return isinstance(error, ANY_TROUBLE)


def is_passing(status: int, code: str | None) -> bool:
    """Whether an error of this status and code may pass by itself."""
    # An exhausted quota is a 429, too, but waiting does not restore it.
    return code != "insufficient_quota" and (status in _PASSING_KIND or status >= 500)


def may_have_cost(error: BaseException) -> bool:
    """Whether the provider may have made, and billed, an answer that did not arrive."""
    if isinstance(error, openai.APIStatusError):
        return error.status_code in _ANSWER_LOST_BEHIND
    return not _never_sent(error)


def wait_seconds(state: RetryCallState) -> float:
    """Retry-After where the server gave one (seconds or a date), else jittered exponential backoff."""
    error = state.outcome.exception() if state.outcome else None
    asked = pause_asked(error) if isinstance(error, openai.APIStatusError) else None
    return asked if asked is not None else _backoff(state)


def pause_asked(error: openai.APIStatusError) -> float | None:
    """Seconds of Retry-After, at most MAX_WAIT, so that no server stops a run; None without one."""
    asked = retry_after(error.response.headers.get("retry-after"))
    return None if asked is None else min(asked, MAX_WAIT)


def failure_kind(error: BaseException) -> FailureKind:
    """The failure kind of an error that ended a request."""
    # The client raises a timeout error for a lost connection, too; the cause tells them apart.
    if any(isinstance(each, TimeoutError) for each in _causes(error)):
        return "timeout"
    if isinstance(error, (openai.APIConnectionError, ProviderDown)):
        return "unreachable"
    if isinstance(error, openai.APIStatusError):
        return status_kind(error.status_code, error.code)
    return "bad_response"


def _never_sent(error: BaseException) -> bool:
    return any(
        isinstance(each, (aiohttp.ClientConnectorError, ProviderDown)) for each in _causes(error)
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def status_kind(status: int, code: str | None) -> FailureKind:
    """The failure kind of an error of this status and code."""
    # With an exhausted quota, as with a refused key, every further call fails.
    if status in (401, 403) or code == "insufficient_quota":
        return "auth"
    if code == "context_length_exceeded" or status == 413:
        return "too_long"
    if code == "content_filter":
        return "refused"
    if status in _PASSING_KIND:
        return _PASSING_KIND[status]
    return "server_error" if status >= 500 else "bad_request"


def sentence(error: BaseException, spec: ModelSpec) -> str:
    """One line about an error, with the API key masked."""
    if isinstance(error, TimeoutError):
        return "The request timed out."
    return one_line(str(error), spec)
