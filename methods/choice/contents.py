"""The texts of a multiple-choice item by name: its question, its hint and its choices."""

from collections.abc import Sequence

from methods.choice.lettered import LETTERS
from methods.choice.translation_checks import Texts

QUESTION, HINT = "question", "hint"


def texts_of(question: str, hint: str | None, choices: Sequence[str]) -> dict[str, str]:
    """Name the texts of an item: `question`, `hint` if there is one, and each choice by its letter.

    Args:
        question: The question.
        hint: The hint; None or empty for none.
        choices: The choices in order of letter.

    Returns:
        The texts by name.
    """
    return {
        QUESTION: question,
        **({HINT: hint} if hint else {}),
        **dict(zip(LETTERS, choices, strict=False)),
    }


def choices_of(texts: Texts) -> tuple[str, ...]:
    """Select the choices among the texts of an item, in order of letter."""
    return tuple(texts[letter] for letter in LETTERS if letter in texts)
