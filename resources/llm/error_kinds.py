"""Classify server errors (rate limit, context length, refusal ...) by status, type, code and text.

`server_wordings.py` has the patterns for refusals, balances, keys, lengths and rates; this module has
those for parameters. An unclassified error only fails its own request, and shows the server's message.
"""

import re
from functools import lru_cache

from resources.llm import server_wordings as wordings
from resources.llm.model_spec import OWN_FIELDS
from resources.llm.request import PASSING, FailureKind
from resources.llm.server_errors import ServerError

_PASSING_STATUS: dict[int, FailureKind] = {
    408: "timeout",
    409: "server_error",
    425: "server_error",
    429: "rate_limited",
}
"""The failure kinds of temporary errors with a status below 500."""
_OF_THE_REQUEST = (0, 400, 413, 422)
"""Statuses of an error that is about the request itself."""
_READ = 2000
"""The first characters of a message, which the patterns for parameters search."""


# Cached, as each failed attempt classifies its error several times, and the patterns take milliseconds.
@lru_cache(maxsize=256)
def kind_of(error: ServerError) -> FailureKind:
    """Classify an error.

    `auth` means that every request with this key fails: a refused key or an empty account. A 403 that
    does not mention the key is a `bad_request`, which only fails its own request: firewalls and
    moderation answer 403 to single prompts.
    """
    status, text = error.status, error.text
    names = {error.code, error.type}
    refuses_content = wordings.REFUSED.search(text) and not wordings.ACCOUNT_CLOSED.search(text)
    refuses = names & wordings.REFUSING_CODES or refuses_content
    if status == 451 or (status != 429 and refuses):
        return "refused"
    if is_exhausted(error):
        return "auth"
    if status not in (401, 402, 429) and wordings.TEXT_ONLY.search(text):
        return "text_only"
    if names & wordings.LENGTH_CODES:
        return "too_long"
    if status in (401, 402):
        return "auth"
    if status in (0, 400, 403) and wordings.BAD_KEY.search(text):
        return "auth"
    if status == 403 and wordings.NO_ACCESS.search(text):
        return "auth"
    if status == 429 or (status in (0, 400, 403) and wordings.RATE_LIMITED.search(text)):
        return "rate_limited"
    if status == 413 or wordings.TOO_LONG.search(text):
        return "too_long"
    if status in _PASSING_STATUS:
        return _PASSING_STATUS[status]
    if refuses_schema(error):
        return "bad_parameter"
    if status >= 500:
        return "server_error"
    if refused_parameter(error):
        return "bad_parameter"
    if status in (0, 400, 422) and wordings.PROBABLY_TOO_LONG.search(text):
        return "too_long"
    return "bad_request" if status else "bad_response"


def passes(error: ServerError) -> bool:
    """Tell whether the same request may succeed later."""
    return kind_of(error) in (*PASSING, "bad_response")


def is_exhausted(error: ServerError) -> bool:
    """Tell whether the balance or a daily quota is used up: waiting for seconds does not help."""
    if error.status not in (0, 400, 401, 402, 403, 429):
        return False
    if {error.code, error.type} & wordings.EXHAUSTED_CODES or wordings.EXHAUSTED.search(error.text):
        return True
    if error.status == 400:
        return False
    if wordings.LONG_PERIOD.search(error.text):
        return True
    is_rate = wordings.RATE_LIMITED.search(error.text)
    return not is_rate and bool(wordings.PROBABLY_EXHAUSTED.search(error.text))


def refuses_schema(error: ServerError) -> bool:
    """Tell whether the server does not support the request's JSON schema, or no schemas at all."""
    if error.status not in (*_OF_THE_REQUEST, 500, 501):
        return False
    is_named = error.param.partition(".")[0] in ("response_format", "json_schema")
    return is_named or wordings.REFUSED_SCHEMA.search(error.text) is not None


def refused_parameter(error: ServerError) -> str | None:
    """Find the request field that the server rejects (or its value); None for other errors."""
    if refuses_schema(error):
        return "response_format"
    if error.status not in _OF_THE_REQUEST:
        return None
    named = re.split(r"[.\[]", error.param)[0]
    if named in OWN_FIELDS or (named and error.code in _PARAMETER_CODES):
        return None if named in _NOT_SETTINGS else named
    message = (error.message or error.details)[:_READ]
    for pattern, field in _FIELD_WORDINGS:
        if re.search(pattern, message):
            return field
    for pattern in _NAMING:
        if match := re.search(pattern, message):
            return None if match[1] in _NOT_SETTINGS else match[1]
    for pattern in _NAMING_OWN:
        if (match := re.search(pattern, message)) and match[1] in OWN_FIELDS:
            return match[1]
    return None


_PARAMETER_CODES = ("unsupported_parameter", "unsupported_value", "unknown_parameter")
_NOT_SETTINGS = (
    *("messages", "model", "stream", "n", "input", "input_tokens", "image", "images", "contents"),
)
"""Fields that no setting changes. An error about one of them is not a `bad_parameter`."""
_NAMING = (
    r"\bUn(?:supported|known) (?:parameter|value): ['\"`]?(\w{1,40})",  # OpenAI
    r"\bUnrecognized request arguments? supplied: (\w{1,40})",
    r"\bUnknown name \\?\"(\w{1,40})\\?\"(?! at ')",  # Gemini
    r"['\"]loc['\"]: ?[\[(]['\"]body['\"], ?['\"](\w{1,40})",  # servers built on FastAPI
    r"^(\w{1,40}): (?:Field required|Extra inputs are not permitted)",  # Anthropic
    r"^`?(\w{1,40})`? is deprecated for this model",
    r"^['\"`](\w{1,40})['\"`] is not supported with this model",
    r"\bArgument not supported on this model: (\w{1,40})",  # xAI
    r"\bdoes not support parameters: \[?['\"](\w{1,40})",  # LiteLLM
    r"\bExtra inputs are not permitted, field: '(\w{1,40})'",  # Fireworks
    r"^`(\w{1,40})` and `\w{1,40}` cannot both be specified",
)
"""Patterns that match any field; the group is its name."""
_NAMING_OWN = (
    r"\(parameter=(\w{1,40})[,)]",  # vLLM
    r"^(?:Input validation error: )?`?(\w{1,40})`? must be ",  # vLLM, SGLang, TGI
    r"\bRange of (\w{1,40}) should be ",  # Alibaba
    r"^(\w{1,40}) is too large: \d",  # OpenAI
    r"^(\w{1,40}): (?:\d+ > \d+|Input should be|range:)",  # Anthropic
    r"^Field '(\w{1,40})': ",  # llama.cpp
    r"Go struct field \w+\.(\w{1,40}) of type",  # Ollama
)
"""Patterns that only count if the group is a field of OWN_FIELDS."""
_FIELD_WORDINGS = (
    (r"\bdoes not support thinking$|^invalid reasoning value: ", "reasoning_effort"),  # Ollama
    (
        r"only works in thinking mode|^Thinking (level |budget )?is not ",
        "reasoning_effort",
    ),  # Gemini
)
