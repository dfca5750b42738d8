"""Answers and choices as plain text, for comparing them.

What belongs here: taking markdown, LaTeX and full-width forms out of an answer, and the folded form in
which texts are equal. What is read from the text is `strict.py`.
"""

import re
import unicodedata

_STYLED = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf|mathsf|bf|rm)\s*\{([^{}]*)\}")
_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{([^{}]*)\}")
_MATHS = re.compile(r"\$|\\[()\[\]]|\\,|\\;")
_MARKDOWN = re.compile(r"\*+|__+|~~|`+|^[ \t]*(?:#{1,6}|>)[ \t]+", re.MULTILINE)
_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")
_ARTICLE = re.compile(r"(?:a|an|the)\s+(?=\S)")
_AROUND = " \t\n\"'“”‘’「」『』"


def plain(answer: str) -> str:
    """The answer without markdown and LaTeX; what is boxed stands in `<answer>` tags.

    What stands before the last `</think>` is left out.
    """
    text = unicodedata.normalize("NFKC", answer).rpartition("</think>")[2]
    text = _INVISIBLE.sub("", text).replace("’", "'")
    # Styles may be nested in a box, and a box in styles.
    for _ in range(2):
        text = _STYLED.sub(r"\1", text)
        text = _BOXED.sub(r"<answer>\1</answer>", text)
    return _MARKDOWN.sub("", _MATHS.sub("", text)).strip()


def folded(text: str, *, keep_end: bool = False) -> str:
    """The form in which two texts are the same: without case, width, quotes around and an article.

    The last full stop does not count either, unless `keep_end`.
    """
    text = unicodedata.normalize("NFKC", text).replace("’", "'").casefold()
    text = " ".join(text.split()).strip(_AROUND)
    if not keep_end:
        text = text.rstrip(" .。!;,").rstrip(_AROUND)
        return without_article(text)
    return text


def without_article(text: str) -> str:
    """Folded text without the article that it begins with."""
    return _ARTICLE.sub("", text, count=1) if _ARTICLE.match(text) else text
