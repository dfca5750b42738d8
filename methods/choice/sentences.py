"""Sentences of an answer, and the choices that they name by text.

A sentence may be negated, may be a conclusion, or may contain the text of a choice. If case and
articles do not count, texts are normalized by `normalization.py`.
"""

import re

from methods.choice import phrases
from methods.evaluation.answer_values import SMALL_DIGITS

_NEGATED_CLAUSE = re.compile(
    r"\b(?:that|which|who|whose)\s(?:[a-z]+\s){0,2}?(?:(?:can|do|does|is|are|did|was|were|has|have)\s?(?:not|n't)"
    r"|never|no)\b|不[^,。;]{1,12}的(?=[^,。;]{0,8}是)",
    re.IGNORECASE,
)
"""A negation that describes what is asked for: "the bird that cannot fly is ..."."""
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)]{0,2}\s+|(?<=[。！!?？])|\n")
_NEXT_QUESTION = re.compile(
    r"<\|?(?:im_end|im_start|endoftext|eot_id|end|user)\|?>"
    r"|^[#*\s]{0,5}(?:question|q|user|human|instruction|问题|题目|用户)\s{0,3}[0-9]{0,3}\*{0,2}:",
    re.IGNORECASE | re.MULTILINE,
)
"""The beginning of text that does not belong to the answer."""
_QUOTES = ((r"(?<!\w)[\"']", r"[\"'](?!\w)"), ("[“‘「『]", "[”’」』]"))
"""Expressions of opening and closing quotation marks."""
_MARKS = " \t\n.,:;!?。()[]{}<>\"'“”-–—"
CONCLUSION = re.compile(
    r"\W{0,3}(?:(?:conclusion|in conclusion|in summary|overall|therefore|thus|hence|so|consequently"
    r"|based on|after (?:analy[sz]ing|considering|reviewing)|since"
    r"|(?:from|given|according to|among) (?:the|this|these))\b"
    r"|因此|所以|综上|总之|总的来说|根据|经过|通过|可见|由此|从)",
    re.IGNORECASE,
)
"""The beginning of a conclusion."""
_GOES_ON = re.compile(
    r"(?:in|on|at|by|with|from|to|of|for|during|under|over|when|while|as|than|is|are|was|were|can|will"
    r"|has|have|had|came|made|wrote|became|won|[a-z]{2,}(?:s|ed))\b"
)


def before_next_question(text: str) -> str:
    """Remove what a model writes after its answer: the next turn of a chat, or another question.

    A text that begins with a question is returned unchanged.
    """
    end = _NEXT_QUESTION.search(text)
    before = text[: end.start()].strip() if end else ""
    return before or text


def sentences(text: str) -> list[str]:
    """Split a text into sentences. Parts without an end mark are left out, unless there is one part."""
    parts = [part.strip() for part in _SENTENCE_END.split(text)]
    return [part for part in parts if part and (part[-1] in ".!?。！？\"'”" or len(parts) == 1)]


def around(text: str, start: int, end: int) -> list[str]:
    """Return the words around a place in its sentence, and the nearest sentences.

    Args:
        text: The whole answer.
        start: The start of the place, in characters.
        end: The end of the place, in characters.
    """
    before, after = (
        [part.strip(_MARKS) for part in _SENTENCE_END.split(side)]
        for side in (text[:start].replace("<answer>", ""), text[end:])
    )
    own = [before.pop(), after.pop(0)]
    return [*own, *[part for part in before if part][-1:], *[part for part in after if part][:1]]


def is_denied(sentence: str) -> bool:
    """Tell whether a sentence is negated, other than in a clause that describes the requested thing."""
    return phrases.NEGATED.search(_NEGATED_CLAUSE.sub(" ", sentence)) is not None


def states(text: str, place: int) -> bool:
    """Whether a phrase that declares an answer is a statement of its own.

    It is not one if its clause denies it or ascribes it to somebody, if its sentence supposes another
    case, or if it is quoted.

    Args:
        text: The whole answer.
        place: The position at which the phrase begins, in characters.
    """
    before = text[max(0, place - 200) : place]
    clause = phrases.CLAUSE_START.split(before)[-1]
    sentence = _SENTENCE_END.split(before)[-1]
    if not phrases.STATED.fullmatch(clause) or phrases.OTHER_CASE.match(sentence):
        return False
    return not any(_is_quoted(sentence, *marks) for marks in _QUOTES)


def _is_quoted(before: str, opening: str, closing: str) -> bool:
    """Whether a quotation that began after other words is open at the end of a text."""
    last = max((match.start() for match in re.finditer(opening, before)), default=0)
    return last > 0 and before[:last].strip() != "" and not re.search(closing, before[last + 1 :])


def places_of(choice: str, text: str) -> list[tuple[int, int]]:
    """Find the text of a choice in a text, as whole words.

    Args:
        choice: The normalized text of a choice.
        text: The normalized text that is searched.

    Returns:
        Start and end of each occurrence, in characters.
    """
    if not choice:
        return []
    before = rf"(?<![a-z0-9{SMALL_DIGITS}])" if choice[0].isascii() else ""
    after = rf"(?![a-z0-9^{SMALL_DIGITS}])" if choice[-1].isascii() else ""
    return [found.span() for found in re.finditer(before + re.escape(choice) + after, text)]


def goes_on(before: str, after: str) -> bool:
    """Whether a sentence continues after the text of a choice so that it means that choice.

    It ends, continues with a function word or a verb, or repeats a word from before the choice: "the
    largest ocean is the Pacific Ocean".

    Args:
        before: The normalized sentence before the text of the choice.
        after: The normalized sentence after it.
    """
    if not after or not after[0].isascii() or phrases.FOLLOWS.match(after):
        return True
    word = re.match(r"\s+([a-z]+)\b", after)
    return word is not None and (_GOES_ON.match(word[1]) is not None or word[1] in before.split())
