"""Language identification: checks that a text is in the wanted language, by script and py3langid."""

import re
from functools import cache
from typing import TYPE_CHECKING

from methods.quality.quotations import without_quotations
from methods.words import n_words

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier


_EMPTY = {
    "en": "the a an this that these those it its he she they them his her their there here which"
    " what when and or but so then as of in on at by for with from to is are was were be been"
    " being am do does did has have had can could will would shall should may might must any i"
    " you we me us my your our just please say think tell describe explain",
    "de": "der die das den dem des ein eine einen einem einer eines und oder aber ist sind war"
    " waren wird werden hat haben kann können mit von vom zu zum zur auf in im an am bei für"
    " es er sie ihr man wir ich du welche welcher welches welchen welchem was dass wenn so"
    " sich hier dort da diese dieser dieses diesen diesem bitte",
    "fr": "le la les l un une des du de d et ou mais est sont était que qu dont dans sur par pour"
    " avec en au aux ce cet cette ces il elle ils elles on nous vous je tu se s y son sa ses"
    " leur leurs me quel quelle quels quelles être avoir a ont peut",
    "es": "el la los las lo un una unos unas y e o u pero es son está están era fue que qué cuál"
    " cuáles por para con de del al a en su sus se le les este esta estos estas ese esa hay me"
    " mi ser estar puede",
    "it": "il lo la i gli le l un uno una e ed o ma è sono era che cosa quale quali di del dello"
    " della dei degli delle da dal dalla in nel nella nei nelle con per a all dall dell nell"
    " sull al alla ai si suo sua mi me questo questa questi queste",
    "pt": "o a os as um uma uns umas e ou mas é são era que qual quais por para com de do da dos"
    " das em no na nos nas ao à se seu sua este esta esse essa me há pelo pela",
    "nl": "de het een en of maar is zijn was waren wordt heeft hebben kan met van in op aan bij"
    " voor te om dat die dit deze wat welke er zich zij hij ze je ik wij",
    "sv": "en ett den det de och eller men är har kan med av på i för om som vad vilken vilket"
    " vilka här där denna detta dessa sig han hon att",
    "pl": "i oraz lub albo ale jest są był była było to ten ta te w we z ze na dla o co jaki jaka"
    " jakie że się który która które czy",
    "tr": "ve veya ama bir bu şu o ile için gibi de da mi mı ne hangi olan var",
    "ru": "и или а но в во на с со за для при по к о об у что какой какая какие какое который"
    " которая которые это этот эта эти он она они его её их же ли бы был была было есть",
    "uk": "і й та або але у в на з за для при по к про що який яка які яке це цей ця ці він вона"
    " вони його її їх чи був була було є",
    "zh": "的 了 吗 呢 吧 啊 着 过 是 在 和 与 及 或 而 且 就 这 那 些 个 请"
    " 你 您 我 们 它 他 她 为 其",
    "ja": "の に は を が と で も や か な ね よ す る た て い ま し ら れ だ こ そ あ う",
}
"""Function words without meaning for a question: articles, pronouns, auxiliaries, the most common
prepositions, and words of politeness."""
_TELLING = {
    "en": "who whom whose where why how nor if than into onto over under about between within"
    " without through across near not no some all both each every either neither one ones"
    " other also too very only exactly",
    "de": "nicht aus nach über unter vor durch wer wie wo wann warum als auch nur noch beiden",
    "fr": "ne pas qui quoi où sous sans comment pourquoi quand combien très plus",
    "es": "no quién cómo dónde cuándo sin sobre más muy también",
    "it": "non chi come dove quando perché su sul sulla tra fra più molto anche",
    "pt": "não quem como onde quando sem mais muito também",
    "nl": "niet uit naar over onder door wie waar wanneer waarom hoe ook",
    "sv": "inte var till från under över vem hur varför också mycket",
    "pl": "nie do od po za przez kto jak gdzie kiedy dlaczego też bardzo",
    "tr": "kim nasıl nerede neden değil yok çok",
    "ru": "не из от до под над кто как где когда почему",
    "uk": "не із від до під над хто як де коли чому",
    "zh": "也 都 还 很 哪 有 什 么 里 中 上 下",
    "ja": "へ せ ん ど",
}
"""Function words that change the meaning of a question: words that ask, negate, locate or count."""
EMPTY_WORDS = {language: frozenset(words.split()) for language, words in _EMPTY.items()}
FUNCTION_WORDS = {
    language: words.union(_TELLING[language].split()) for language, words in EMPTY_WORDS.items()
}


_SCRIPTS = {
    "Latin": r"A-Za-z\u00c0-\u024f\u1e00-\u1eff",
    "Han": r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff",
    "Kana": r"\u3041-\u30ff\uff66-\uff9f",
    "Hangul": r"\uac00-\ud7af\u1100-\u11ff",
    "Cyrillic": r"\u0400-\u052f",
    "Greek": r"\u0370-\u03ff\u1f00-\u1fff",
    "Arabic": r"\u0600-\u06ff\u0750-\u077f",
    "Hebrew": r"\u0590-\u05ff",
    "Devanagari": r"\u0900-\u097f",
    "Bengali": r"\u0980-\u09ff",
    "Tamil": r"\u0b80-\u0bff",
    "Thai": r"\u0e00-\u0e7f",
}
_BY_CHARACTER = {"Han", "Kana", "Thai"}
"""Scripts without spaces between words. Each character counts as a word."""
_WORDS = {
    script: re.compile(f"[{letters}]" if script in _BY_CHARACTER else f"[{letters}][{letters}'’]*")
    for script, letters in _SCRIPTS.items()
}
SCRIPTS_OF = {
    **dict.fromkeys(("en", "de", "fr", "es", "it", "pt", "nl", "sv", "pl", "tr"), ("Latin",)),
    **{"zh": ("Han",), "ja": ("Kana", "Han"), "ko": ("Hangul", "Han"), "ru": ("Cyrillic",)},
    **{"uk": ("Cyrillic",), "el": ("Greek",), "ar": ("Arabic",), "fa": ("Arabic",)},
    **{"he": ("Hebrew",), "hi": ("Devanagari",), "bn": ("Bengali",), "ta": ("Tamil",)},
    "th": ("Thai",),
}
"""The languages that are checked, and the scripts they are written in."""
_TAGS = re.compile(r"<[^<>]{1,40}>|```.*?```|`[^`]*`|https?://\S+", re.DOTALL)
_MATHS = re.compile(
    r"\$\$?[^$]{1,400}\$\$?|\\\(.{1,400}?\\\)|\\\[.{1,400}?\\\]|\\[A-Za-z]+", re.DOTALL
)
"""LaTeX formulas and commands."""
_CAPITALS = "".join(filter(str.isupper, map(chr, range(0x530))))
_NAME = rf"[{_CAPITALS}][^\W_]*(?:['’-]\w+)*"
_LINKS = "da de di do du del della dell des la las los el le van von den der y und et".replace(
    " ", "|"
)
_NAMES = re.compile(rf"(?<![.!?:]\s)(?<=\s){_NAME}(?:\s+(?:(?:{_LINKS})\s+)*{_NAME})*")
"""Names: capitalized words inside a sentence, with linking words such as "de"."""
_LATIN_CAPITALS = "".join(filter(str.isupper, map(chr, range(0x250))))
_LATIN_NAMES = re.compile(
    r"[A-Za-z-]{0,20}\d[A-Za-z\d-]{0,20}"
    rf"|(?<![a-z])[a-z]{{0,2}}[{_LATIN_CAPITALS}][{_SCRIPTS['Latin']}\d'’.&-]*"
)
"""Capitalized Latin words, and model numbers such as "747-400", in a text of another script."""
_LATIN_WORD = rf"[{_SCRIPTS['Latin']}][{_SCRIPTS['Latin']}\d'’.&-]*"
_LISTED = re.compile(
    r"(?:^|(?<=[、，,；;：:\n•·]))[ \t]*(?:\d{1,2}[.)、][ \t]*)?"
    rf"{_LATIN_WORD}(?: {_LATIN_WORD}){{0,3}}[ \t]*(?=[、，,；;。.\n和与及等]|以及|$)",
    re.MULTILINE,
)
"""Latin words in a list in a text of another script, such as "adidas、nike"."""
_PART_OF_NAMES = rf"[{_CAPITALS}][^\W_]*+(?:['’]\w++|-(?![{_CAPITALS}]|\d+\b)\w++)*+"
"""A name between separators, which a hyphen before a capital or a number is, too."""
_ALL_NAMES = re.compile(
    rf"\W*(?:\d{{1,2}}[.)、]\s*)?{_PART_OF_NAMES}"
    rf"(?:[\s,、，;；/&.•·-]++(?:(?:{_LINKS}|and|of|the)\s++)*+(?:{_PART_OF_NAMES}|\d++\)?+))+\W*"
)
"""A text that consists of at least two names. No part of it can be read in two ways: that takes time
that grows exponentially."""
_BRACKETS = re.compile(r"[(（\[【][^()（）\[\]【】\n]{1,60}[)）\]】]")
_WORD = re.compile(r"[^\W\d_]+")

OTHER_SHARE = 0.3
"""A text with at least this share of its words in another script is not in the language."""
LEAST_SURE, SURE, MOST_WANTED = 0.6, 0.9, 0.1
"""A text is reported as another language if that language has at least the probability `LEAST_SURE` (in
short texts without any of its function words `SURE`), and the wanted language at most `MOST_WANTED`."""
SHORT = 12
"""Up to this number of words a text is short: it may consist of terms, such as "Legato, staccato and
pizzicato"."""
FEWEST_WORDS = 3
"""A text of fewer words is not identified: it may be a name or a loan word, such as "Art nouveau"."""


def language_fault(text: str, wanted: str) -> str | None:
    """Check that a text is in the wanted language.

    Quotations, code, LaTeX and URLs are ignored. In texts of another script, names in Latin letters are
    ignored, too: capitalized words, words in brackets and lists.

    Args:
        text: The text.
        wanted: The language code. Only the languages of `SCRIPTS_OF` are checked.

    Returns:
        A description of the fault, such as the share of words in another script, or None.
    """
    if wanted not in SCRIPTS_OF:
        return None
    text = _TAGS.sub(" ", text)
    plain = _without_names(without_quotations(_MATHS.sub(" ", text)), wanted)
    counts = {script: len(words.findall(plain)) for script, words in _WORDS.items()}
    total = sum(counts.values())
    if not total:
        return None
    others = {script: n for script, n in counts.items() if n and script not in SCRIPTS_OF[wanted]}
    if others and sum(others.values()) >= OTHER_SHARE * total:
        script = max(others, key=lambda name: others[name])
        return f"{others[script] / total:.0%} of its words are in {script} letters"
    if wanted == "ja" and counts["Han"] and not counts["Kana"]:
        return "Han characters without kana"
    return _other_language(plain, wanted) if total >= FEWEST_WORDS else None


def _without_names(text: str, wanted: str) -> str:
    own = "".join(_SCRIPTS[script] for script in SCRIPTS_OF[wanted])
    rest = _BRACKETS.sub(lambda match: match[0] if re.search(f"[{own}]", match[0]) else " ", text)
    if "Latin" not in SCRIPTS_OF[wanted] and re.search(f"[{own}]", rest):
        rest = _LISTED.sub(" ", _LATIN_NAMES.sub(" ", rest))
    elif "Latin" not in SCRIPTS_OF[wanted] and _ALL_NAMES.fullmatch(rest):
        rest = ""
    return rest


def _other_language(text: str, wanted: str) -> str | None:
    """Describe the language of a text if it is another one of the same script; None otherwise.

    A text must not look like the wanted language without its names, either: "Where is the Palazzo della
    Ragione?" is English. In short texts, which may consist of terms, function words that only one of
    the two languages has count more than the probability.
    """
    alike = tuple(script for script in SCRIPTS_OF if SCRIPTS_OF[script] == SCRIPTS_OF[wanted])
    if len(alike) == 1:
        return None
    likely = _likely(text, alike)
    best = max(likely, key=lambda language: likely[language])
    if best == wanted or likely[best] < LEAST_SURE or likely[wanted] > MOST_WANTED:
        return None
    words = set(_WORD.findall(text.casefold()))
    # Words of one of the two languages that the other does not have.
    in_wanted, in_best = (FUNCTION_WORDS.get(name, frozenset()) for name in (wanted, best))
    own, of_best = len(words & in_wanted - in_best), len(words & in_best - in_wanted)
    if n_words(text) <= SHORT and (
        3 * own >= of_best if own else not of_best and likely[best] < SURE
    ):
        return None
    nameless = _likely(_NAMES.sub("", text), alike)
    if nameless[wanted] > max(MOST_WANTED, nameless[best]):
        return None
    return f"reads as {best} ({likely[best]:.2f}), not as {wanted} ({likely[wanted]:.2f})"


def _likely(text: str, languages: tuple[str, ...]) -> dict[str, float]:
    """The probability of each language, by code."""
    return dict(_identifier(languages).rank(" ".join(text.split())))


@cache
def _identifier(languages: tuple[str, ...]) -> "LanguageIdentifier":
    # The package's functions share one identifier, so set_languages would change it for all callers.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(languages)
    return identifier
