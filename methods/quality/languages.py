"""The language a text reads as, against the one that was wanted.

What belongs here: scripts by their letters, and languages of one script by py3langid, whose model is in
its package and is asked for the languages of this table alone. Nothing is said where it is not sure.
"""

import re
from functools import cache
from typing import TYPE_CHECKING

from methods.quality.function_words import telling
from methods.quality.quotations import without_quotations
from methods.words import n_words

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

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
"""Scripts without spaces: a character counts as a word."""
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
"""The languages that can be wanted, and the scripts they are written in."""
_TAGS = re.compile(r"<[^<>]{1,40}>|```.*?```|`[^`]*`|https?://\S+", re.DOTALL)
_CAPITALS = "".join(filter(str.isupper, map(chr, range(0x530))))
_NAME = rf"[{_CAPITALS}][^\W_]*(?:['’-]\w+)*"
_LINKS = "da de di do du del della dell des la las los el le van von den der y und et".replace(
    " ", "|"
)
_NAMES = re.compile(rf"(?<![.!?:]\s)(?<=\s){_NAME}(?:\s+(?:(?:{_LINKS})\s+)*{_NAME})*")
"""Words with a capital inside a sentence, and what links them."""
_LATIN_CAPITALS = "".join(filter(str.isupper, map(chr, range(0x250))))
_LATIN_NAMES = re.compile(
    r"[A-Za-z-]{0,20}\d[A-Za-z\d-]{0,20}"
    rf"|(?<![a-z])[a-z]{{0,2}}[{_LATIN_CAPITALS}][{_SCRIPTS['Latin']}\d'’.&-]*"
)
"""Latin words with a capital, and models such as "747-400", in a text of another script."""
_BRACKETS = re.compile(r"[(（\[【][^()（）\[\]【】\n]{1,60}[)）\]】]")
_WORD = re.compile(r"[^\W\d_]+")

OTHER_SHARE = 0.3
"""A text with at least this share of its words in another script is not in the language."""
LEAST_SURE, SURE, MOST_WANTED = 0.6, 0.9, 0.1
"""Another language needs at least this probability, or the second in a short text without any of its
function words, and the wanted one has at most the third."""
SHORT = 12
"""A text of so few words may be all terms, such as "Legato, staccato and pizzicato"."""
FEWEST_WORDS = 3
"""A phrase of fewer words may be a name or a loan, such as "Art nouveau"."""


def language_fault(text: str, wanted: str) -> str | None:
    """What is not in the wanted language in a text, in words; None where nothing tells otherwise.

    Quotations, code and addresses are left out, and so are names in another script: in brackets, or in
    Latin letters with a capital. `wanted` is a key of `SCRIPTS_OF`.
    """
    plain = _without_names(without_quotations(_TAGS.sub(" ", text)), wanted)
    counts = {script: len(words.findall(plain)) for script, words in _WORDS.items()}
    total = sum(counts.values())
    if not total:
        return None
    others = {script: n for script, n in counts.items() if n and script not in SCRIPTS_OF[wanted]}
    if others and sum(others.values()) >= OTHER_SHARE * total:
        script = max(others, key=lambda each: others[each])
        return f"{others[script] / total:.0%} of its words are in {script} letters"
    if wanted == "ja" and counts["Han"] and not counts["Kana"]:
        return "Han characters without kana"
    return _other_language(plain, wanted) if total >= FEWEST_WORDS else None


def _without_names(text: str, wanted: str) -> str:
    own = "".join(_SCRIPTS[script] for script in SCRIPTS_OF[wanted])
    rest = _BRACKETS.sub(lambda found: found[0] if re.search(f"[{own}]", found[0]) else " ", text)
    if "Latin" not in SCRIPTS_OF[wanted] and re.search(f"[{own}]", rest):
        rest = _LATIN_NAMES.sub(" ", rest)
    return rest


def _other_language(text: str, wanted: str) -> str | None:
    """The language of the same script that a text reads as, where it hardly reads as the wanted one.

    "Where is the Palazzo della Ragione?" is English: without its names a text must not read as wanted.
    A short one may be full of terms: words such as "then", which only one of the two has, tell more.
    """
    alike = tuple(each for each in SCRIPTS_OF if SCRIPTS_OF[each] == SCRIPTS_OF[wanted])
    if len(alike) == 1:
        return None
    likely = _likely(text, alike)
    best = max(likely, key=lambda language: likely[language])
    if best == wanted or likely[best] < LEAST_SURE or likely[wanted] > MOST_WANTED:
        return None
    words = set(_WORD.findall(text.casefold()))
    own, of_best = (len(words & each) for each in telling(wanted, best))
    if n_words(text) <= SHORT and (
        3 * own >= of_best if own else not of_best and likely[best] < SURE
    ):
        return None
    nameless = _likely(_NAMES.sub("", text), alike)
    if nameless[wanted] > max(MOST_WANTED, nameless[best]):
        return None
    return f"reads as {best} ({likely[best]:.2f}), not as {wanted} ({likely[wanted]:.2f})"


def _likely(text: str, languages: tuple[str, ...]) -> dict[str, float]:
    """The probability of each of the languages."""
    return dict(_identifier(languages).rank(" ".join(text.split())))


@cache
def _identifier(languages: tuple[str, ...]) -> "LanguageIdentifier":
    # The package's own functions share one identifier, whose languages a caller would change for all.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(languages)
    return identifier
