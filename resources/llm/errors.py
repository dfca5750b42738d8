"""Errors of a call: which are retried, after how long, the failure kind and the sentence of the rest.

What belongs here: the client's exceptions. What servers say in an error is read in `server_errors.py`.
"""

from collections.abc import Callable, Iterator

import aiohttp
import httpx2
import openai
from tenacity import RetryCallState, wait_random_exponential

from resources.llm.masking import one_line
from resources.llm.model_spec import ModelSpec
from resources.llm.rate_headers import refusal_pause
from resources.llm.reply import BadResponse, ReplyTooLarge
from resources.llm.request import FailureKind
from resources.llm.server_errors import ServerError, advised, kind_of, passes, read_error
from resources.llm.silence import ProviderDown

MAX_WAIT = 60.0
ANY_TROUBLE = (
    openai.OpenAIError,
    httpx2.HTTPError,
    aiohttp.ClientError,
    BadResponse,
    TimeoutError,
)
"""What `attempt.exchange` may raise: an API error, a network error, an unreadable reply, a timeout."""
_ANSWER_LOST_BEHIND = (502, 504, 524)
"""Statuses of a proxy that lost the answer of the server behind it, which may have made one."""


def is_retryable(error: BaseException) -> bool:
    """Whether the same request may succeed later: 408, 409, 429, 5xx, a broken connection or reply."""
    if isinstance(error, openai.APIStatusError):
        return passes(said_by(error))
    if isinstance(error, BadResponse) and error.billed:
        return False  # It was made and billed: the server would make, and bill, the same again.
    if isinstance(error, ReplyTooLarge):
        return False  # It would be as large again.
    return isinstance(error, ANY_TROUBLE)


def said_by(error: openai.APIStatusError) -> ServerError:
    """What the server's error says."""
    return read_error(error.status_code, error.body)


def may_have_cost(error: BaseException) -> bool:
    """Whether the provider may have made, and billed, an answer that did not arrive."""
    if isinstance(error, openai.APIStatusError):
        return error.status_code in _ANSWER_LOST_BEHIND
    return not _never_sent(error)


def waits(spec: ModelSpec) -> Callable[[RetryCallState], float]:
    """Seconds before the next attempt: the server's Retry-After (seconds or a date), else a random time
    within an exponential backoff."""
    backoff = wait_random_exponential(multiplier=spec.retry_wait.first, max=spec.retry_wait.most)

    def seconds(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = pause_asked(error) if isinstance(error, openai.APIStatusError) else None
        return asked if asked is not None else backoff(state)

    return seconds


def pause_asked(error: openai.APIStatusError) -> float | None:
    """Seconds that the server asks to wait, at most MAX_WAIT, so that no server stops a run."""
    asked = refusal_pause(error.response.headers)
    return None if asked is None else min(asked, MAX_WAIT)


def failure_kind(error: BaseException) -> FailureKind:
    """The failure kind of an error that ended a request."""
    # The client raises a timeout error for a lost connection, too; the cause tells them apart.
    if any(isinstance(cause, TimeoutError) for cause in _causes(error)):
        return "timeout"
    if isinstance(error, (openai.APIConnectionError, ProviderDown)):
        return "unreachable"
    if isinstance(error, openai.APIStatusError):
        return kind_of(said_by(error))
    return "bad_response"


def refuses_length(error: BaseException) -> bool:
    """Whether the server refused a prompt for its length; a 413 is about a body's bytes."""
    if not isinstance(error, openai.APIStatusError) or error.status_code == 413:
        return False
    return kind_of(said_by(error)) == "too_long"


def _never_sent(error: BaseException) -> bool:
    return any(
        isinstance(cause, (aiohttp.ClientConnectorError, ProviderDown)) for cause in _causes(error)
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def sentence(error: BaseException, spec: ModelSpec) -> str:
    """One line about an error, with the API key masked."""
    if isinstance(error, TimeoutError):
        return "The request timed out."
    return one_line(str(error), spec)


def why(error: BaseException, spec: ModelSpec) -> str:
    """One line about the error that ended a request, with what to change where that is known."""
    if isinstance(error, openai.APIStatusError) and (what := advised(said_by(error), spec)):
        return what
    return sentence(error, spec)
