"""Truncation check: finds texts that stop in the middle of a sentence.

The ledger of model calls records which replies reached the token limit, but not which of the texts in a
reply is cut off.
"""

import re

from methods.words import n_words

_CLOSING = " \t\n\"'”’»)]}】」』》）*_`|"
_UNFINISHED = ",;:，、；：-–—([{（【「《/&+=<“‘«¿¡"
_TRAILING_OFF = re.compile(r"(?:(?<!\.)\.{2,}+|(?<!…)…++)++$")
"""Dots at the end. Each run is taken whole, as trying its parts would take exponential time."""
_UNMARKED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
"""Letters of Thai, Lao, Burmese and Khmer, whose sentences end without a punctuation mark."""
_MARKER = r"\s*(?:[-*•+]|(?:\*\*)?\d{1,2}[.)]|#{1,6}|\|)(?:\*\*)?"
_ITEM = re.compile(rf"{_MARKER}\s*\S")
_EMPTY_ITEM = re.compile(_MARKER)
_DANGLING_WORDS = {
    "en": "the a an of and or nor than as if because although whereas unless until whose whom my your "
    "our their its every very during including featuring",
    "de": "der die den dem des und oder von vom zum zur für dass im am weil während sowie wenn als "
    "sehr",
    "fr": r"le la les l des du de d et ou mais qui que dont dans sur par au aux tandis très"
    r" (?:à|dans|avec|sur|par|pour|comme)\sune?",
    "es": "el la los las un y o pero con que de del al en por su sus muy mientras",
    "it": "il lo la gli le un e o ma con che di del della dei delle da dal nel nella per sul mentre",
    "pt": "o a os as e ou mas com que de do da dos das em no na nas por pela pelo enquanto",
    "nl": "de een en of maar die te terwijl omdat",
    "sv": "ett och eller men som att medan",
    "pl": "i oraz lub ale z ze że w we na do od dla przez",
    "tr": "ve veya ama bir",
    "ru": "и или а но с со который которая которые в во на из за для от до при под над по к",
    "uk": "і та або але з із який яка які у на до від для при під над по",
}
_DANGLING = {
    language: re.compile(
        r"(?:^|[\s'’])(?:"
        + "|".join(word if len(word) > 1 else f"(?-i:{word})" for word in words.split())
        + r")\W*$",
        re.IGNORECASE,
    )
    for language, words in _DANGLING_WORDS.items()
}
"""Words that cannot end a sentence, by language. Words such as "on" are not listed ("the lamp is on"),
and single letters match only in lower case ("the line from B to A")."""
_AFTER_COMMA = re.compile(
    r", (?:which|who|where|while|when|that|with|for|from|by|into|but|was|is|are|were)\W*$",
    re.IGNORECASE,
)
"""The beginning of a subordinate part of an English sentence, such as ", which"."""
_UNMARKED_QUESTIONS = ("zh", "ja")
_DANGLING_HAN = re.compile(
    "(?:以及|并且|而且|但是|因为|如果|虽然|或者|例如|比如|由于|关于|対する|および)\\Z"
)
"""Chinese and Japanese words that cannot end a sentence."""
_FACE = re.compile(r"\s(?:[:;=][-']?[()DPpOo/|*]|<3|\^_?\^)\Z")
_CODE = re.compile(r"(?:=[^.!?\n]{0,80}|[)\]}\"'\d])\s?;\Z|;\s?[`}]+\Z")
_ADDRESS = re.compile(r"\W?(?:(?:https?://|www\.)\S{3,}|[\w.-]+\.[a-z]{2,}/\S*)(?<![,(])")
_ASKING_WORDS = (
    "what which who whom whose where when why how is are was were do does did has have can could would"
    " will should"
    " was welche welcher welches welchen wer wo wie wann warum wieso wozu"
    " quel quelle quels quelles qui que où comment pourquoi combien quand"
    " qué cuál cuáles quién quiénes dónde cómo cuándo cuántos cuántas"
    " quale quali chi dove come perché quanti quante qual quais quem onde por"
    " welke wie wat waar hoe waarom vad vilken vilket vilka var hur varför"
    " co jaki jaka jakie kto gdzie jak dlaczego что какой какая какие кто где как почему сколько"
)
_ASKS = re.compile(
    rf"(?:^|[.!?:,;]\s+)(?:{'|'.join(_ASKING_WORDS.split())}|qu['’]est|est-ce)\b[^.!?]*$",
    re.IGNORECASE,
)
FEWEST_WORDS = 12
"""A text of fewer words needs no full stop: it may be a phrase, such as "Red and blue"."""
FEWEST_ASKED = 4
"""A question of at least this many words needs a question mark."""
_BETWEEN = re.compile(r"\s*[,;/·]\s*(?:and\s+|or\s+|&\s+)?|\s+(?:and|or|&|–|—)\s+")
FEWEST_LISTED, MOST_LISTED_WORDS = 4, 5
"""A line is a list if it has, from its beginning or after a colon, at least this many parts of at most
this many words each."""
MOST_DOTS = 100
"""Only this many characters at the end of a text may be dots that trail off."""
SHOWN = 60
"""The number of characters at the end of a text that are returned as evidence."""


def truncation_in(
    text: str, language: str = "en", *, asks: bool = False, marks: bool = True
) -> str | None:
    """Find out whether a text stops in the middle of a sentence.

    Cut off are texts that end with a comma, an opening bracket, an empty list item or a word such as
    "the", or inside a code fence or bracket. Complete are texts that end with a smiley, a statement of
    code or a URL. Numbers, and the last line of a list, heading or table, need no full stop.

    Args:
        text: The text.
        language: Its language.
        asks: Whether the text is a question. If it begins with an asking word, it needs a question
            mark, except in Chinese and Japanese, where people leave it out.
        marks: Whether the writer ends other texts with a full stop. If not, none is needed.

    Returns:
        The end of the text if it is cut off, else None.
    """
    whole = text.rstrip()
    if not whole:
        return None
    end = whole[-SHOWN:]
    *before, last_line = whole.splitlines()
    if whole.count("```") % 2 or before and _EMPTY_ITEM.fullmatch(last_line):
        return end
    last_word = whole.rsplit(maxsplit=1)[-1]
    if _FACE.search(whole) or _CODE.search(end) or _ADDRESS.fullmatch(last_word):
        return None
    # Other ends of long runs of dots would be tried again and again.
    open_ended = whole[:-MOST_DOTS] + _TRAILING_OFF.sub("", whole[-MOST_DOTS:])
    bare = open_ended.rstrip(_CLOSING)
    if not bare:
        return None
    if bare[-1] in _UNFINISHED or whole[-1] in "([{（【「《":
        return end
    if not bare[-1].isalnum() or _UNMARKED.match(bare[-1]):
        return None
    if bare != open_ended:
        # A closing quotation mark or bracket may end a sentence: "… called 'Dawn'".
        return None
    if language in _DANGLING and _DANGLING[language].search(bare):
        return end
    if language == "en" and _AFTER_COMMA.search(bare):
        return end
    if last_line.count("(") > last_line.count(")"):
        return end
    if bare != whole or any(map(str.isdigit, bare.split()[-1])):
        return None
    if asks and language in _UNMARKED_QUESTIONS:
        return end if _DANGLING_HAN.search(bare) else None
    if asks and n_words(whole) >= FEWEST_ASKED and ("¿" in whole or _asks(whole)):
        return end
    if not marks or _ITEM.match(last_line) or n_words(whole) < FEWEST_WORDS:
        return None
    return None if _is_list(last_line) or _is_name(whole) else end


def _asks(text: str) -> bool:
    """Whether the last sentence of a text is a question."""
    begin = max(text.rfind(mark) for mark in ".!?")
    return _ASKS.search(text, max(0, begin)) is not None


def _is_list(line: str) -> bool:
    """Whether a line is a list of names or phrases that is complete, with a short last part."""
    parts = _BETWEEN.split(line.rpartition(": ")[2])
    return len(parts) >= FEWEST_LISTED and all(n_words(part) <= MOST_LISTED_WORDS for part in parts)


def _is_name(text: str) -> bool:
    """Whether most words of a text are capitalized, as in a name or a title."""
    words = [word for word in text.split() if word[0].isalpha()]
    return 2 * sum(word[0].isupper() for word in words) > len(words)
