"""What a server's error says, in the wordings of the servers that speak the OpenAI protocol.

What belongs here: reading an error's JSON, its kind of failure, and what to change in models.yaml. The
status, `code`, `type` and `param` decide; a message does so by narrow patterns only. Errors without a
server's words (broken connections, timeouts) are in `errors.py`.
"""

import re
from typing import NamedTuple

from methods.json_text import to_json
from resources.llm.masking import mask, one_line
from resources.llm.model_spec import OWN_FIELDS, ModelSpec
from resources.llm.request import FailureKind

_PASSING_KIND: dict[int, FailureKind] = {408: "timeout", 409: "server_error", 429: "rate_limited"}
"""Statuses below 500 that may pass by themselves, and the failure kind if they do not."""
_OF_THE_REQUEST = (400, 413, 422)
"""Statuses of an error that is about the request itself."""
_READ = 2000
"""Characters of a message that patterns are looked for in."""


class ServerError(NamedTuple):
    """An error as a server words it; what it does not say is empty. All of it is untrusted text."""

    status: int
    code: str = ""
    type: str = ""
    param: str = ""
    message: str = ""
    details: str = ""


def read_error(status: int, body: object) -> ServerError:
    """The error in a body: OpenAI's form, vLLM's without a frame, Google's list, a bare text."""
    while isinstance(body, list) and body:
        body = body[0]
    if isinstance(body, dict):
        framed = body.get("error") or body.get("detail")
        body = framed if isinstance(framed, (dict, str, list)) and framed else body
    if not isinstance(body, dict):
        return ServerError(status, message=body if isinstance(body, str) else _json(body))
    fields = {name: value for name, value in body.items() if isinstance(value, (str, int))}
    return ServerError(
        status,
        code=str(fields.get("code", "")),
        type=str(fields.get("type") or fields.get("status") or ""),
        param=str(fields.get("param", "")),
        message=str(fields.get("message") or _json(body.get("message"))),
        details=_json(body.get("details")),
    )


def kind_of(error: ServerError) -> FailureKind:
    """The failure kind of an error."""
    # With an exhausted quota, as with a refused key, every further call fails.
    if error.status in (401, 402, 403) or _is_exhausted(error) or _says(error, _NO_KEY):
        return "auth"
    if error.code in _REFUSING_CODES or _says(error, _REFUSALS):
        return "refused"
    if error.status == 413 or error.code in _LENGTH_CODES or _says(error, _TOO_LONG):
        return "too_long"
    if error.status in _PASSING_KIND:
        return _PASSING_KIND[error.status]
    if error.status >= 500:
        return "server_error"
    return "bad_parameter" if refused_parameter(error) else "bad_request"


def passes(error: ServerError) -> bool:
    """Whether an error may pass by itself."""
    # An exhausted quota is a 429, too, but waiting does not restore it.
    return not _is_exhausted(error) and (error.status in _PASSING_KIND or error.status >= 500)


def refused_parameter(error: ServerError) -> str | None:
    """The field of a request that the server does not take, or not with its value; None for others."""
    if error.status not in _OF_THE_REQUEST:
        return None
    named = re.split(r"[.\[]", error.param)[0]
    if named in OWN_FIELDS or (named and error.code in _PARAMETER_CODES):
        return None if named in _NOT_SETTINGS else named
    message = error.message[:_READ]
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


def advised(error: ServerError, spec: ModelSpec) -> str:
    """One line with what to change in models.yaml about an error, and what the server says.

    Empty where no setting would help. Secrets are masked.
    """
    # Masked before a name is cut out of it, which could be a part of a secret.
    error = ServerError(error.status, *(mask(text, spec) for text in error[1:]))
    what = _advice(error, spec, f"in the entry {spec.name} of models.yaml")
    message = error.message.strip().rstrip(".") or f"status {error.status}"
    # What to do stands first, as a long line is cut.
    return one_line(f"{what} (it says: {message}).", spec) if what else ""


def _advice(error: ServerError, spec: ModelSpec, entry: str) -> str:
    kind, message = kind_of(error), error.message[:_READ]
    if kind == "too_long" and (most := re.search(_IMAGES, message)):
        n_images = most[1] or most[2]
        if n_images == "0":
            return "The server takes no images for this model"
        return f"Set `max_images: {n_images}`, and `many_images: grid` or `sample`, {entry}"
    if kind == "too_long":
        return f"Set context_tokens, or a smaller token_limit.tokens or max_side, {entry}"
    if kind == "bad_parameter":
        field = refused_parameter(error) or ""
        setting = _setting(field, message, spec)
        return f"The server does not take {field} as it is sent: {setting} {entry}"
    if error.code == "model_not_found" or _says(error, _NO_MODEL, 400, 404):
        return f"The server does not know the model {spec.model}: correct `model` {entry}"
    if error.status == 404:
        return (
            f"Nothing answers at this address: correct base_url, which often ends in /v1, {entry}"
        )
    return ""


def _setting(field: str, message: str, spec: ModelSpec) -> str:
    """The setting to change so that a field is not sent, or is sent in another way."""
    if field in spec.extra_body or field not in OWN_FIELDS:
        return f"take {field} out of extra_body"
    if OWN_FIELDS[field] == "token_limit":
        if re.search(_LIMIT_TOO_HIGH, message):
            return "set a smaller `token_limit: {tokens: ...}`"
        if re.search(_LIMIT_MISSING, message):
            return "set `token_limit: {tokens: 1024}`"
        other = "max_completion_tokens" if field == "max_tokens" else "max_tokens"
        return f"set `token_limit: {{name: {other}}}`"
    if field == "temperature":
        return "set `temperature: none`"
    if field == "response_format":
        return "set `structured_output: false`"
    if field == "reasoning_effort":
        return "leave out reasoning, or give it a value that the server knows,"
    return f"leave out {OWN_FIELDS[field]}"


def _is_exhausted(error: ServerError) -> bool:
    """Whether what was paid for, or granted for a day, is used up."""
    if {"insufficient_quota", "billing_error"} & {error.code, error.type}:
        return True
    # Google sends a 429 for a minute's quota as for a day's; its details say which.
    return (error.status == 429 and "PerDay" in error.details) or _says(error, _NO_CREDIT)


def _says(error: ServerError, patterns: tuple[str, ...], *statuses: int) -> bool:
    if error.status not in (statuses or _OF_THE_REQUEST):
        return False
    return any(re.search(pattern, error.message[:_READ], re.IGNORECASE) for pattern in patterns)


def _json(value: object) -> str:
    try:
        return "" if value is None else to_json(value)
    except ValueError:
        return ""


# What the servers say. OpenAI's own errors mostly have codes.

_NO_CREDIT = (r"credit balance is too low", r"^insufficient balance")
_NO_KEY = (r"^API key (not valid|expired)",)

_REFUSING_CODES = (
    "data_inspection_failed",  # Alibaba
    "content_filter",
    "content_policy_violation",
    "invalid_prompt",
    "moderation_blocked",
    "image_content_policy_violation",
    "ResponsibleAIPolicyViolation",
)
_REFUSALS = (
    r"rejected as a result of our safety system",
    r"content that is not allowed by our safety system",
    r"flagged as potentially violating our usage policy",
    r"content management policy",  # Azure
    r"output blocked by content filtering policy",  # Anthropic
)

_LENGTH_CODES = ("context_length_exceeded", "string_above_max_length")
_IMAGES = r"At most (\d+) image\(s\) may be provided|supports up to (\d+) images"
_TOO_LONG = (
    _IMAGES,
    r"maximum context length (is|of) \d",  # OpenAI, vLLM, SGLang
    r"exceeds the context window of this model",  # OpenAI
    r"longer than the maximum model length",  # vLLM, images included
    r"too long to fit into the model",
    r"max_tokens must be at least 1, got -",
    r"longer than the model's context length",  # SGLang
    r"exceeds the model's maximum context length",
    r"input length.{0,40} exceeds the maximum (allowed|context) length",
    r"exceeds? the (available )?context (length|size)",  # Ollama, llama.cpp
    r"input token count.{0,40} exceeds the maximum number of tokens",  # Gemini
    r"^prompt is too long",  # Anthropic
    r"^Prompt exceeds max length",  # Zhipu
    r"^Range of input length should be",  # Alibaba
    r"input length and `max_tokens` exceed context limit",
)

_NO_MODEL = (
    r"^The model [`'\"].{1,200} does not exist",  # OpenAI, vLLM
    r"^model [`'\"].{1,200} not found",  # Ollama
    r"^models?/\S{1,200} is not found",  # Gemini
    r"^model: ",  # Anthropic
)

_PARAMETER_CODES = ("unsupported_parameter", "unsupported_value", "unknown_parameter")
_NOT_SETTINGS = (
    *("messages", "model", "stream", "n", "input", "input_tokens", "image", "images", "contents"),
)
"""Fields that no setting stands for: an error about them is one of the request."""
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
"""Wordings for any field; the group is its name."""
_NAMING_OWN = (
    r"\(parameter=(\w{1,40})[,)]",  # vLLM
    r"^(?:Input validation error: )?`?(\w{1,40})`? must be ",  # vLLM, SGLang, TGI
    r"\bRange of (\w{1,40}) should be ",  # Alibaba
    r"^(\w{1,40}) is too large: \d",  # OpenAI
    r"^(\w{1,40}): (?:\d+ > \d+|Input should be|range:)",  # Anthropic
    r"Go struct field \w+\.(\w{1,40}) of type",  # Ollama
)
"""Wordings that count for the fields that settings stand for, and no others."""
_FIELD_WORDINGS = (
    (r"\bdoes not support thinking$|^invalid reasoning value: ", "reasoning_effort"),  # Ollama
    (
        r"only works in thinking mode|^Thinking (level |budget )?is not ",
        "reasoning_effort",
    ),  # Gemini
    (r"Unknown name .{1,60} at '\S{0,80}response_(schema|format)", "response_format"),
    (r"^Invalid (parameter: '|schema for )response_format", "response_format"),  # OpenAI
    (r"^This response_format type is unavailable", "response_format"),  # DeepSeek
    (r"JSON schema contains features not supported", "response_format"),  # vLLM
    (r"^Failed to (convert|compile) .{0,60}(grammar|json.?schema)", "response_format"),
)
_LIMIT_TOO_HIGH = r"is too large: \d|^Range of |: \d+ > \d+|must be (at most|less than)"
_LIMIT_MISSING = r"Field required"
