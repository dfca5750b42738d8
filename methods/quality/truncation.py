"""Texts that stop in the middle of a sentence.

What belongs here: telling how a text ends, by its last characters, word and line. Which replies were
cut off by a token limit the ledger says; texts that were taken out of one do not.
"""

import re

from methods.words import n_words

_CLOSING = " \t\n\"'”’»)]}】」』》）*_`|"
_UNFINISHED = ",;:，、；：-–—([{（【「《/&+=<“‘«¿¡"
_TRAILING_OFF = re.compile(r"(?:\.{2,}|…)+$")
_UNMARKED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
"""Thai, Lao, Burmese and Khmer end a sentence without a mark."""
_MARKER = r"\s*(?:[-*•+]|(?:\*\*)?\d{1,2}[.)]|#{1,6}|\|)(?:\*\*)?"
_ITEM = re.compile(rf"{_MARKER}\s*\S")
_EMPTY_ITEM = re.compile(_MARKER)
_DANGLING_WORDS = {
    "en": "the a an of and or but with which that is are was were to in on at by for from as "
    "its their his her this these both while because such than into very also if when "
    "where who whose what how whereas although since until unless nor through between "
    "among against without within towards toward onto upon my your our every during "
    "including featuring showing",
    "de": "der die das den dem des ein eine einen einem einer und oder aber mit von vom zum "
    "zur für dass ist sind im am auf bei weil während sowie wenn als nicht sehr",
    "fr": "le la les l un une des du de d et ou mais avec qui que dont est sont dans sur par "
    "pour en au aux car tandis très",
    "es": "el la los las un una unos unas y o u pero con que de del al en por para es son "
    "está su sus muy mientras",
    "it": "il lo la gli le un una uno e o ma con che di del della dei delle da dal nel nella "
    "per su sul è sono mentre",
    "pt": "o a os as um uma e ou mas com que de do da dos das em no na nos nas por para é são "
    "enquanto",
    "nl": "de het een en of maar met die dat van is zijn in op aan bij voor om te terwijl omdat",
    "sv": "en ett och eller men med som att av är den det de i på för till medan",
    "pl": "i oraz lub ale z ze że który która które jest są w we na do od dla przez",
    "tr": "ve veya ama ile bir bu şu için gibi olan",
    "ru": "и или а но с со что который которая которые в во на из за для от до при под над по к",
    "uk": "і та або але з із що який яка які в у на до від для при під над по",
}
_DANGLING = {
    language: re.compile(rf"(?:^|[\s'’])(?:{'|'.join(words.split())})\W*$", re.IGNORECASE)
    for language, words in _DANGLING_WORDS.items()
}
"""By language: words that something has to follow."""
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
"""A text of fewer words may be a phrase, such as "Red and blue", and needs no full stop."""
FEWEST_ASKED = 4
"""A question of so many words has a question mark."""
SHOWN = 60


def truncation_in(text: str, language: str = "en", *, asks: bool = False) -> str | None:
    """The end of a text that stops in the middle of a sentence; None where it ends as texts do.

    A number, or a last line of a list, a heading or a table, needs no full stop; nothing may end with a
    comma, an opening bracket, an empty item, a word of the language such as "the", or inside a fence.
    A question (`asks`) that begins with an asking word has its mark.
    """
    whole = text.rstrip()
    end = whole[-SHOWN:]
    before, _, last_line = whole.rpartition("\n")
    if whole.count("```") % 2 or before and _EMPTY_ITEM.fullmatch(last_line):
        return end
    open_ended = _TRAILING_OFF.sub("", whole)
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
    if bare != whole or any(map(str.isdigit, bare.split()[-1])):
        return None
    if asks and n_words(whole) >= FEWEST_ASKED and ("¿" in whole or _ASKS.search(whole)):
        return end
    return None if _ITEM.match(last_line) or n_words(whole) < FEWEST_WORDS else end
