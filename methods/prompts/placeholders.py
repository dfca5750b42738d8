"""Detects placeholders and examples that a model copied from its prompt instead of writing a text.

Small models repeat the example of a prompt word for word. The examples of the project's prompts contain
placeholders that cannot be mistaken for values: `<1-10>`, `<two or three sentences>`. Prompts of other
authors write "your reason here", so such texts are recognized, too.
"""

import re

from methods.prompts.parse_error import ParseError
from methods.words import n_words

_SLOT = re.compile(r"<(?!image-\d)[^\W\d_]+(?:[\s,:;/'’-]+\w+)+[.…]*>")
"""A placeholder of several words inside a text. HTML tags such as `<b>` do not match."""
_IN_BRACKETS = re.compile(r"<(?!image-\d)[^<>]*>|\[[^][]*\]|\{[^{}]*\}|【[^】]*】")
_NUMBER = r"(?:an?|one|two|three|four|five|some|\d)"
_NAMES_THE_TEXT = re.compile(
    rf"""(?:in\s+)?{_NUMBER}\s*(?:or|to|-|–)\s*{_NUMBER}\s+(?:short\s+)?sentences?\b.*
    |(?:in\s+)?(?:{_NUMBER}|an?\s+few)\s+(?:short\s+)?sentences?(?:\s*[:：,].*|\W*)
    |(?:(?:put|write|insert|give|add)\s+)?(?:(?:your|the|an?)\s+)?(?:(?:brief|short|detailed)\s+)?
     (?:reason(?:ing|s)?|explanations?|justifications?|rationale|comments?|feedback|string|text)
     (?:\s+(?:text|string|goes))?(?:\s+here)?\W*
    |[一两二三四几\d](?:[到至或、-]?[一两二三四五\d])?句话.*
    |(?:你的|请填写|填写|在此填写|简短的?)?(?:理由|原因|解释|说明|评语)\W*""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
"""A text that describes the text to write, such as "two sentences" or "your reason here"."""
_EXAMPLE = re.compile(r"\{[^{}]*\}")
_LEAST_COPIED_WORDS = 3


def is_placeholder(text: str) -> bool:
    """Check whether a text is a placeholder such as `<reason>` or "your reason here"."""
    bare = text.strip().strip("\"'“”").strip()
    return bool(
        _IN_BRACKETS.fullmatch(bare) or _SLOT.search(bare) or _NAMES_THE_TEXT.fullmatch(bare)
    )


def required_explanation(text: str) -> str:
    """Return the explanation of a reply, stripped. An empty text means that it has none.

    Raises ParseError: `no_explanation` for a text without a letter or digit, or `placeholder`.
    """
    if not any(map(str.isalnum, text)):
        raise ParseError(
            "no_explanation", "The reply has no explanation. Explain first, in sentences."
        )
    require_no_placeholder(text, "The explanation")
    return text.strip()


def require_no_placeholder(text: str, name: str) -> None:
    """Check that a text is not a placeholder.

    Args:
        text: The text.
        name: The name of the text for the message, such as "The explanation".

    Raises:
        ParseError: `placeholder`.
    """
    if is_placeholder(text):
        raise ParseError(
            "placeholder",
            f"{name} is the placeholder {text.strip()[:80]!r}. Write a text of your own.",
        )


def require_own_words(explanation: str, instructions: str) -> None:
    """Raise ParseError (`copied_example`) if an explanation is copied from an example of the prompt.

    Args:
        explanation: The explanation of the reply.
        instructions: The system message. Its texts in braces are examples. The judge may quote the
            rest, such as the description of a score.
    """
    copied = _plain(explanation)
    if n_words(copied) < _LEAST_COPIED_WORDS:
        return
    if any(f" {copied} " in f" {_plain(example)} " for example in _EXAMPLE.findall(instructions)):
        raise ParseError(
            "copied_example",
            "The explanation is copied from the example in the instructions. Write one of your own.",
        )


def _plain(text: str) -> str:
    """The words of a text without case and punctuation."""
    return " ".join(re.findall(r"\w+", text.casefold()))
