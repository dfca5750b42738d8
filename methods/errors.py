"""Errors that a user can correct, the causes of an error, and escaping of external texts.

More specific errors are defined in the modules that raise them.
"""

import unicodedata
from collections.abc import Iterator

_KEPT_AS_THEY_ARE = "\n\t\u200c\u200d"
"""Control characters that only affect the look of a text: line breaks, tabs, joiners of letters."""


class UserError(Exception):
    """An error whose message is one sentence for the user: what is wrong, and what to do about it.

    Every asset and command shows the message of any subclass, without a traceback. An error is
    `passing` (transient) if a retry may succeed some minutes later: a server is down, a store is busy.
    """

    passing = False

    def __init__(self, *message: object, passing: bool | None = None):
        super().__init__(*message)
        if passing is not None:
            self.passing = passing


class PromptUnusable(UserError):
    """A prompt, or what models reply to it, cannot be used; other prompts may be usable."""


class UnfinishedStep(Exception):
    """Ends a step that has not failed: a later run continues it when its model batches have ended."""


def with_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, the errors of its group, and their causes, each once: causes may form a ring."""
    errors, ids = [error], set[int]()
    while errors:
        current = errors.pop(0)
        if id(current) in ids:
            continue
        ids.add(id(current))
        yield current
        inner = current.exceptions if isinstance(current, BaseExceptionGroup) else ()
        causes = (*inner, current.__cause__, current.__context__)
        errors += [cause for cause in causes if cause is not None]


def printable(text: str) -> str:
    """Spell out the control characters of an external text, so that a terminal can show it."""
    return "".join(
        f"\\u{ord(character):04x}"
        if character not in _KEPT_AS_THEY_ARE
        and unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        else character
        for character in text
    )
