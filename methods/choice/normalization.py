"""Normalization of answers and choices: texts that differ in markup, case or width become equal."""

import re

from methods.choice.phrases import UNSAID
from methods.evaluation.answer_values import in_one_width

_STYLED = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf|mathsf|bf|rm)\s*\{([^{}]*)\}")
_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{([^{}]*)\}")
_MATHS = re.compile(r"\$|\\[()\[\]]|\\,|\\;")
_STRUCK_OUT = re.compile(r"~~[^~\n]{1,400}~~")
_MARKDOWN = re.compile(r"\*+|__+|`+|^[ \t]*(?:#{1,6}|>)[ \t]+", re.MULTILINE)
_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")
_MOST_BLANKS = 9
_LONG_BLANK = re.compile(rf"\s{{{_MOST_BLANKS},}}")
_ARTICLE = re.compile(r"(?:a|an|the)\s+(?=\S)")
_AROUND = " \t\n\"'“”‘’「」『』"


def plain(answer: str) -> str:
    """Remove markdown, LaTeX, struck-out text and everything before the last `</think>`; boxed text
    becomes `<answer>`.
    """
    text = _STRUCK_OUT.sub(UNSAID, in_one_width(answer).rpartition("</think>")[2])
    text = _INVISIBLE.sub("", text).replace("’", "'")
    # Styles may be nested in a box, and a box in styles.
    for _ in range(2):
        text = _STYLED.sub(r"\1", text)
        text = _BOXED.sub(r"<answer>\1</answer>", text)
    return _LONG_BLANK.sub(_shorter_blank, _MARKDOWN.sub("", _MATHS.sub("", text))).strip()


def _shorter_blank(blank: re.Match[str]) -> str:
    """A model may repeat line breaks until its token limit, and phrases are searched with `\\s*`."""
    return ("\n" if "\n" in blank[0] else " ") * _MOST_BLANKS


def normalized(text: str, *, keep_end: bool = False) -> str:
    """Normalize a text, so that equal texts mean the same choice.

    Case, width, surrounding quotes and an article do not count.

    Args:
        text: The text.
        keep_end: Whether a closing full stop and the article are kept.

    Returns:
        The normalized text.
    """
    text = in_one_width(text).replace("’", "'").casefold()
    text = " ".join(text.split()).strip(_AROUND)
    if not keep_end:
        text = text.rstrip(" .。!;,").rstrip(_AROUND)
        return without_article(text)
    return text


def without_article(text: str) -> str:
    """Remove the article at the beginning of a normalized text."""
    return _ARTICLE.sub("", text, count=1) if _ARTICLE.match(text) else text
