"""Lists of the choices in an answer, which name each choice and declare none as the answer.

The functions find the text after a list, and the choice that a list marks with yes.
"""

import re

from methods.choice import phrases
from methods.choice.alphabet import CAPITALS, LETTERS

_OPENING = " \t\n-*•([【"
LISTED = re.compile(
    rf"^[ \t]*(?:(?:[-*•]|[0-9]{{1,2}}[.)])[ \t]+)?(?:{phrases.NAME}[ \t]+|选项[ \t]*)?[(\[【]?"
    rf"(?P<letter>[{CAPITALS}])(?:[)\]】]|[.:,、]|[ \t]+[-–—])(?P<rest>[^\n]*)",
    re.MULTILINE,
)
"""A line of a list of choices."""
_END_OF_LIST = re.compile(r"\n[ \t]*\n|\n(?=[^\s*•-])")
_YES = re.compile(r"[-–—:,]\s{0,3}(?i:yes|correct|right|true|正确|对|是)\W{0,3}$|[✅✔]")
_NO = re.compile(
    r"[-–—:,]\s{0,3}(?i:no|incorrect|wrong|false|not correct|错误?|不对|不正确|否|不是)\W{0,3}$|[❌✘✗]"
)


def after_list(text: str) -> str:
    """Return the text after a list of two or more choices; the whole text if there is no list."""
    items = list(LISTED.finditer(text))
    if len({item["letter"] for item in items}) < 2:
        return text
    end = _END_OF_LIST.search(text, items[-1].end())
    rest = text[end.end() :].strip() if end else ""
    # The answer was cut off after the letter of the next choice.
    return "" if rest == LETTERS[LETTERS.index(items[-1]["letter"]) + 1 :][:1] else rest


def only_yes(text: str) -> str | None:
    """The letter of the one line that ends in yes, in a list whose other lines all end in no."""
    items = list(LISTED.finditer(text))
    right = [item["letter"] for item in items if _YES.search(item["rest"])]
    n_wrong = sum(_NO.search(item["rest"]) is not None for item in items)
    return right[0] if len(right) == 1 and n_wrong == len(items) - 1 > 0 else None


def declares(text: str, head: re.Match[str]) -> bool:
    """Whether the text after a head is the answer.

    It is not after "each option:" and the like, in a question, or if a list of the choices begins
    there.

    Args:
        text: The whole answer.
        head: A match of `phrases.HEAD` in it.
    """
    if phrases.MANY.search(text[max(0, head.start() - 60) : head.start()]):
        return False
    if phrases.ASKED.match(text, head.end()):
        return False
    if "\n" not in head[0]:
        return True
    items = LISTED.finditer(text, text.rindex("\n", 0, head.end()))
    first, second = next(items, None), next(items, None)
    if first is None or second is None or text[head.end() : first.start("letter")].strip(_OPENING):
        return True
    return first["letter"] + second["letter"] != LETTERS[:2]
