"""Which API errors are worth another try, how long to wait, and what the rest are called."""

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
"""What an exchange may raise: the provider's word, the network's, a reply that is none, no reply."""
_PASSING_KIND: dict[int, FailureKind] = {408: "timeout", 409: "server_error", 429: "rate_limited"}
"""Statuses below 500 that pass by themselves, and what they are called where they do not."""
_backoff = wait_random_exponential(multiplier=0.5, max=30)


_ANSWER_LOST_BEHIND = (502, 504, 524)
"""What a proxy says when it lost the answer of a server behind it, which may have made one."""


def is_retryable(error: BaseException) -> bool:
    """Whether the same request may succeed later: 408, 409, 429, 5xx, connection trouble, garbage."""
    if isinstance(error, openai.APIStatusError):
        return is_passing(error.status_code, error.code)
    return isinstance(error, ANY_TROUBLE)


def is_passing(status: int, code: str | None) -> bool:
    """Whether what a status and a code say passes by itself."""
    # An exhausted account answers 429 too, and waiting does not fill it.
    return code != "insufficient_quota" and (status in _PASSING_KIND or status >= 500)


def may_have_cost(error: BaseException) -> bool:
    """Whether the provider may have answered, and billed, what never came here whole."""
    if isinstance(error, openai.APIStatusError):
        return error.status_code in _ANSWER_LOST_BEHIND
    return not _never_sent(error)


def wait_seconds(state: RetryCallState) -> float:
    """Retry-After where the server gave one (seconds or a date), else jittered exponential backoff."""
    error = state.outcome.exception() if state.outcome else None
    told = pause_asked(error) if isinstance(error, openai.APIStatusError) else None
    return told if told is not None else _backoff(state)


def pause_asked(error: openai.APIStatusError) -> float | None:
    """Seconds of Retry-After, at most MAX_WAIT, so that no server stops a run; None without one."""
    asked = retry_after(error.response.headers.get("retry-after"))
    return None if asked is None else min(asked, MAX_WAIT)


def failure_kind(error: BaseException) -> FailureKind:
    """The typed name of an error that ended a request."""
    # The client calls a lost connection a timeout too; what is behind it tells.
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
    """The typed name of what a status and a code say."""
    # An exhausted account, like a refused key, refuses every further call.
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
    """One line about an error, without the key it may quote."""
    if isinstance(error, TimeoutError):
        return "The request timed out."
    return one_line(str(error), spec)
