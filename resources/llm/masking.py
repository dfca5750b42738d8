"""Mask secrets in responses: API keys, secret headers and credentials of an address.

A server may echo the request. docs/guides/asking-models.md lists the encodings that are masked.
"""

import json
import math
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import quote, quote_plus

from methods.json_text import storable
from resources.llm.model_spec import ModelSpec
from resources.llm.reply import Reply

_LONGEST = 300
"""The most characters of an error message."""
_SHORTEST_SECRET = 8
"""The shortest secret that is masked in replies: a shorter one may occur in any text."""
_SHORTEST_IN_ERRORS = 3
"""The shortest secret that is masked in error messages, where masking a normal word does little
harm."""


def mask(text: str, spec: ModelSpec) -> str:
    """Mask the secrets in a text.

    Args:
        text: The text.
        spec: The model's entry, with its secrets.

    Returns:
        The text with three asterisks in place of each secret, whatever its case.
    """
    forms = _forms(spec.secrets())
    lower = text.lower() if forms else ""
    for form, pattern in forms:
        if form in lower:
            text = pattern.sub("***", text)
            lower = text.lower()
    return text


def masked(reply: Reply, spec: ModelSpec) -> Reply:
    """Mask the secrets in all texts of a reply.

    Args:
        reply: The reply.
        spec: The entry of the model, with its secrets.
    """
    if not spec.secrets():
        return reply
    return reply._replace(
        text=mask(reply.text, spec),
        reasoning=reply.reasoning and mask(reply.reasoning, spec),
        finish_reason=mask(reply.finish_reason, spec),
        refusal=reply.refusal and mask(reply.refusal, spec),
        model=reply.model and mask(reply.model, spec),
    )


def one_line(text: str, spec: ModelSpec) -> str:
    """Shorten a text to one line of at most 300 characters, with secrets masked.

    Args:
        text: The text.
        spec: The model's entry; short secrets are masked as whole words only.
    """
    # Masked before the text is cut, which could leave a part of a secret.
    text = mask(text, spec)
    for secret in spec.secrets():
        if _SHORTEST_IN_ERRORS <= len(secret) < _SHORTEST_SECRET:
            text = re.sub(rf"(?i)(?<!\w){re.escape(secret)}(?!\w)", "***", text)
    # Cut twice: a text of megabytes would be split into millions of words.
    return storable(" ".join(text[: 10 * _LONGEST].split())[:_LONGEST])


@lru_cache(maxsize=256)
def _forms(secrets: tuple[str, ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the encodings of secrets (plain, URL, JSON, base64) in lower case, each with
    a pattern that ignores case.

    The longest come first: masking a short one first could leave the rest of a long one unmasked.
    """
    forms = set[str]()
    for secret in secrets:
        quoted = {quote(secret), quote(secret, safe=""), quote_plus(secret)}
        forms |= {secret, json.dumps(secret)[1:-1], *quoted, *_in_base64(secret.encode())}
    long = {form.lower() for form in forms if len(form) >= _SHORTEST_SECRET}
    longest_first = sorted(long, key=lambda form: (-len(form), form))
    return tuple((form, re.compile(re.escape(form), re.IGNORECASE)) for form in longest_first)


def _in_base64(secret: bytes) -> Iterator[str]:
    """Yield the base64 encodings of a secret at each offset, without the characters
    that depend on adjacent bytes.
    """
    for n_before in range(3):
        n_bytes = n_before + len(secret)
        whole = slice(math.ceil(n_before * 8 / 6), n_bytes * 8 // 6)
        for encode in (b64encode, urlsafe_b64encode):
            yield encode(bytes(n_before) + secret).decode()[whole]
