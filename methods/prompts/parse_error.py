"""The exception for replies of models that cannot be parsed."""

import json

from methods.json_text import is_unicode


class ParseError(ValueError):
    """A reply that cannot be parsed; `reason` is a short code for counts, `detail` a sentence."""

    def __init__(self, reason: str, detail: str):
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def require_unicode(value: object) -> None:
    """Raise ParseError (`not_unicode`) if a text in a JSON value has a lone surrogate.

    JSON can express lone surrogates (half a character), but tables and files cannot store them.
    """
    if not is_unicode(json.dumps(value, ensure_ascii=False)):
        raise ParseError(
            "not_unicode", "A text of the reply has half a character (a lone surrogate)."
        )
