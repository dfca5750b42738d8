"""The base class of errors that a person can put right, and texts from outside in a terminal.

An error of a capability stands in the module that raises it.
"""

import unicodedata

_KEPT_AS_THEY_ARE = "\n\t\u200c\u200d"
"""Controls of a text that change nothing but its look: line breaks, tabs, joiners of letters."""


class UserError(Exception):
    """An error whose message is one sentence for the user: what is wrong, and what to do about it.

    Every asset and command shows the message of any subclass, without a traceback. An error is
    `passing` where the same may succeed some minutes later: a server is down, a store is busy.
    """

    passing = False

    def __init__(self, *message: object, passing: bool | None = None):
        super().__init__(*message)
        if passing is not None:
            self.passing = passing


class PromptUnusable(UserError):
    """A prompt, or what models reply to it, cannot be used; other prompts may be."""


class UnfinishedStep(Exception):
    """Ends a step that has not failed: it goes on in a later run, when its model batches have ended."""


def printable(text: str) -> str:
    """A text from outside as a terminal may get it: control characters are spelled out."""
    return "".join(
        f"\\u{ord(character):04x}"
        if character not in _KEPT_AS_THEY_ARE
        and unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        else character
        for character in text
    )
