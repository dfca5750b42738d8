"""Advice on a server's error: the change of models.yaml that would prevent it."""

import re

from resources.llm.error_kinds import is_exhausted, kind_of, refused_parameter
from resources.llm.masking import mask, one_line
from resources.llm.model_spec import OWN_FIELDS, ModelSpec
from resources.llm.server_errors import ServerError
from resources.llm.server_wordings import IMAGE_COUNT, IMAGE_SIZE, TOO_MANY_IMAGES

_READ = 2000
"""The first characters of a message, which are searched by patterns."""


def advised(error: ServerError, spec: ModelSpec) -> str:
    """Describe a server's error with the setting of models.yaml that would prevent it.

    Args:
        error: The error.
        spec: The entry of the model.

    Returns:
        One line with masked secrets; empty if no setting would help.
    """
    # Masked first: a name that is cut out of the message could be a part of a secret.
    error = ServerError(error.status, *(mask(text, spec) for text in error[1:]))
    what = _advice(error, spec, f"in the entry {spec.name} of models.yaml")
    message = error.message.strip().rstrip(".") or f"status {error.status}"
    # The advice comes first, as a long line is cut.
    return one_line(f"{what} (it says: {message}).", spec) if what else ""


def _advice(error: ServerError, spec: ModelSpec, entry: str) -> str:
    kind, message = kind_of(error), error.message[:_READ]
    if kind == "text_only":
        return (
            f"The server takes no images for {spec.model}: set `max_images: 0` {entry}, or start the "
            "server with the model's vision part"
        )
    if kind == "too_long" and TOO_MANY_IMAGES.search(error.text):
        return _fewer_images(message, entry)
    if kind == "too_long" and IMAGE_SIZE.search(error.text):
        return f"Set a smaller max_side {entry}"
    if kind == "too_long":
        return f"Set context_tokens, or a smaller token_limit.tokens or max_side, {entry}"
    if kind == "bad_parameter":
        field = refused_parameter(error) or ""
        setting = _setting(field, message, spec)
        return f"The server does not take {field} as it is sent: {setting} {entry}"
    if _NOT_FOR_THIS_KEY.search(message):
        correction = f"correct `model`, or take another key, {entry}"
        return f"The key may not use the model {spec.model}: {correction}"
    if error.code == "model_not_found" or (
        error.status in (400, 404) and _NO_MODEL.search(message)
    ):
        return f"The server does not know the model {spec.model}: correct `model` {entry}"
    if kind == "auth":
        return _about_the_account(error, spec, entry)
    if error.status == 404 and (not message or _NO_ROUTE.search(message)):
        return (
            f"Nothing answers at this address: correct base_url, which often ends in /v1, {entry}"
        )
    return ""


def _fewer_images(message: str, entry: str) -> str:
    limit = IMAGE_COUNT.search(message)
    n_images = next((number for number in limit.groups() if number), "") if limit else ""
    n_images = n_images or "the number that the server takes"
    return f"Set `max_images: {n_images}`, and `many_images: grid` or `sample`, {entry}"


def _about_the_account(error: ServerError, spec: ModelSpec, entry: str) -> str:
    if is_exhausted(error):
        return f"The account of {spec.name} has no balance or quota left: add credit or wait"
    if spec.api_key_env is None:
        return f"The server wants a key: set api_key_env {entry}"
    return f"The server does not accept the key: set {spec.api_key_env} to a key that it accepts"


def _setting(field: str, message: str, spec: ModelSpec) -> str:
    """Name the setting by which a field is not sent, or is sent in another way."""
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


_NO_MODEL = re.compile(
    r"\bThe model [`'\"].{1,200} does not exist"  # OpenAI, vLLM
    r"|^model [`'\"].{1,200} not found"  # Ollama
    r"|^models?/\S{1,200} is not found"  # Gemini
    r"|^model: "  # Anthropic
    r"|\bLLM provider not provided"  # LiteLLM
    r"|\binvalid model name\b|\bno such model\b|\bunknown model\b|模型不存在",
    re.IGNORECASE,
)
_NOT_FOR_THIS_KEY = re.compile(
    r"\b(key|team|user|organi[sz]ation) not allowed to access (the )?model", re.IGNORECASE
)
"""Messages of a proxy, such as LiteLLM, whose keys are only valid for some models."""
_NO_ROUTE = re.compile(
    r"^(error:? )?(404:? )?(page|file|resource|path|route|url|endpoint)? ?not found\b(?! in)"
    r"|\bcannot post /|\bno (matching )?route\b|\bno static resource|invalid url",
    re.IGNORECASE,
)
"""Messages of a web server that does not have the requested route."""
_LIMIT_TOO_HIGH = r"is too large: \d|^Range of |: \d+ > \d+|must be (at most|less than)"
_LIMIT_MISSING = r"Field required"
