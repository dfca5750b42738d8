"""The error of replies that cannot be parsed."""

import json

from methods.json_text import is_unicode


class ParseError(ValueError):
    """A reply that cannot be parsed; `reason` is a short code for counts, `detail` a sentence."""

    def __init__(self, reason: str, detail: str):
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def require_unicode(value: object) -> None:
    """Raise ParseError (`not_unicode`) if a text in a JSON value has half a character.

    JSON can spell a lone surrogate, which no table and no file can hold.
    """
    if not is_unicode(json.dumps(value, ensure_ascii=False)):
        raise ParseError(
            "not_unicode", "A text of the reply has half a character (a lone surrogate)."
        )
