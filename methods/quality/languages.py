"""The language a text reads as, against the one that was wanted.

What belongs here: scripts by their letters, and languages of the Latin script by their commonest words.
No language detector is among the dependencies; this one only has to tell a text that was wanted in one
language from a text in another, and says nothing where it is not sure.
"""

import re
from collections import Counter

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
_COMMON = {
    "en": "the and of is are with in that this its from while which by as their it on an has",
    "de": "der die das und ist nicht ein eine mit von den dem auf sich auch wird sind im zu es ich",
    "fr": "le la les des et est une dans qui que sur avec pour du au cette sont pas plus je ne un",
    "es": "el la los las y es una en que con por para del se como está esta son más no lo al un este",
    "it": "il lo la gli che di una è con per nella del sono della anche più le dei questa non un",
    "pt": "o os as que de uma é com para da do em não na no são mais dos das esta um ao",
    "nl": "de het een en van is dat niet met voor zijn op aan ook door worden deze naar",
    "sv": "och att det en ett är som på med för av den inte till har de från bilden",
    "pl": "i w na jest się nie z do to że jak są oraz przez ale które dla po od",
    "tr": "ve bir bu ile için olarak olan da de çok daha gibi en ise var resim",
}
_COMMON_WORDS = {language: frozenset(words.split()) for language, words in _COMMON.items()}
_TAGS = re.compile(r"<[^<>]{1,40}>|`[^`]*`|https?://\S+")

OTHER_SHARE = 0.3
"""A text with at least this share of its words in another script is not in the language."""
FEWEST_COMMON = 4
"""Common words of another Latin language that are needed to tell it."""


def language_fault(text: str, wanted: str) -> str | None:
    """What is not in the wanted language in a text, in words; None where nothing tells otherwise.

    `wanted` is a key of `SCRIPTS_OF`.
    """
    plain = _TAGS.sub(" ", text)
    counts = {script: len(words.findall(plain)) for script, words in _WORDS.items()}
    total = sum(counts.values())
    if not total:
        return None
    others = {script: n for script, n in counts.items() if n and script not in SCRIPTS_OF[wanted]}
    if others and sum(others.values()) >= OTHER_SHARE * total:
        script = max(others, key=lambda each: others[each])
        return f"{others[script] / total:.0%} of its words are in {script} letters"
    if wanted in _COMMON_WORDS:
        return _other_latin(plain, wanted)
    if wanted == "ja" and counts["Han"] and not counts["Kana"]:
        return "Han characters without kana"
    return None


def _other_latin(text: str, wanted: str) -> str | None:
    """The Latin language whose common words a text has, at least twice as many as of the wanted."""
    words = Counter(word.casefold() for word in _WORDS["Latin"].findall(text))
    found = {
        language: sum(words[word] for word in common) for language, common in _COMMON_WORDS.items()
    }
    likely = max(found, key=lambda language: found[language])
    if likely == wanted or found[likely] < max(FEWEST_COMMON, 2 * found[wanted]):
        return None
    return f"{found[likely]} common words of {likely}, {found[wanted]} of {wanted}"
