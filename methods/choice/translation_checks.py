"""Translation checks of a multiple-choice question: what must stay, and what must not be added.

The rules are strict: if a translation breaks one, the model is asked once to repair it; if that fails,
the translation is dropped with the rule's name as its reason.

1. Code, LaTeX, tags, `{places}`, addresses and image tokens stay unchanged (`code_changed`).
2. Numbers in digits stay in digits, in any script, with or without thousands separators
   (`number_changed`). A new number may only replace a number word or a month (`number_added`).
3. Mathematical, currency and other symbols (`symbol_changed`), unit symbols after a number
   (`unit_changed`), words of letters and digits such as H2O (`formula_changed`) and single capital
   letters (`letter_changed`) stay unchanged.
4. A name is a word with a capital letter inside a sentence, or with a second capital letter. Days and
   months are not names. A name stays unchanged, or the model lists it with a rendering. Every
   translated text has the name or this rendering if its source has the name (`name_lost`). A word that
   begins a text or a sentence counts as a name only if it is listed. Every listed name is in the source
   (`unknown_name`).
5. No other word of the source stays in Latin letters (`not_translated`), no Latin word is added
   (`word_added`), and all other letters belong to the script of the language (`other_language`).
6. A text is empty if and only if its source is (`empty_text`, `added_text`), and not far longer than it
   (`too_long`). Choices are distinct (`repeated_choice`) and have no letters before them
   (`lettered_choice`). No text calls a choice right or wrong unless its source does (`verdict_added`).
   The question contains the text of a choice only if the source does (`gives_answer_away`).

Sources: MMBench, 3.2 (everything but proper nouns, symbols and code is translated). The rules are the
project's: the paper has people verify each translation.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from methods.choice.languages import Language
from methods.choice.lettered import LETTERS, MARKS
from methods.choice.normalization import normalized
from methods.prompts.parsing import ParseError
from methods.unicode_forms import in_form

_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"),
    *("tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth"),
    *("seventeenth", "eighteenth", "nineteenth", "twentieth"),
)
"""The first to the twentieth; only the first to the twelfth are read as numbers."""
_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_VALUES = {
    **{word: number for number, word in enumerate(_ONES)},
    **{word: 10 * number for number, word in enumerate(_TENS, start=2)},
    **{word: number for number, word in enumerate(ORDINALS[:12], start=1)},
    **{word: number for number, word in enumerate(_MONTHS, start=1)},
    **{"once": 1, "single": 1, "twice": 2, "pair": 2, "couple": 2, "dozen": 12},
    **{"hundred": 100, "thousand": 1000},
}
CARDINALS = {
    word: value
    for word, value in _VALUES.items()
    if word in (*_ONES[2:], *_TENS, "hundred", "thousand")
}
"""Words that always mean a number. `one` and `second` are left out, as they have other meanings."""
_WORDS = re.compile(r"[a-z]+")
_COMPOUND = re.compile(rf"({'|'.join(_TENS)})[- ]({'|'.join(_ONES[1:10])})\b")


def written_numbers(text: str) -> Iterator[str]:
    """Yield the numbers that a text spells in words, as digits; for `twenty-one` 21, 20 and 1."""
    text = text.casefold()
    for compound in _COMPOUND.finditer(text):
        yield str(_VALUES[compound[1]] + _VALUES[compound[2]])
    for word in _WORDS.findall(text):
        if word in _VALUES:
            yield str(_VALUES[word])


SHORT_TEXT, MOST_TIMES = 200, 5
"""A translation has at most SHORT_TEXT characters and MOST_TIMES those of its source."""
Texts = Mapping[str, str]
"""The texts of a question: `question`, `hint` if it has one, and each choice under its letter."""

_CODE = re.compile(
    r"```.*?```|`[^`]+`|\$[^$\s](?:[^$]*[^$\s])?\$(?!\d)|\\\(.+?\\\)|\\\[.+?\\\]"
    r"|</?[A-Za-z][^<>]*>|\{[A-Za-z_]\w*\}|https?://[!-~]*[A-Za-z0-9/#=&_-]",
    re.DOTALL,
)
_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
_THOUSANDS = re.compile(r",(?=[0-9]{3}(?![0-9]))")
_SYMBOLS = ("Sm", "Sc", "So")
_EXTRA_SYMBOLS, _IGNORED_SYMBOLS = "%‰§#@", "~|"
_UNIT = re.compile(
    r"(?<=[0-9])(?:\s?(km/h|m/s|km|cm|mm|nm|μm|m|kg|mg|g|lb|oz|ft|mi|mph|ml|mL|L|kHz|MHz|GHz|Hz|kW|MW|kV"
    r"|mA|kJ|kPa|hPa|Pa|°C|°F|KB|MB|GB|TB|px|dpi|fps|ha|ms|min)|\s(s|h|t|A|V|W|N|J|K))(?![A-Za-z0-9])"
)
_LATIN = "A-Za-z\u00c0-\u024f\u1e00-\u1eff"
_WORD = re.compile(rf"(?<![{_LATIN}0-9])[{_LATIN}]+(?:['-][{_LATIN}]+)*(?![{_LATIN}0-9])")
_FORMULA = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]+(?![A-Za-z0-9])"
)
_ORDINAL_OR_PLURAL = re.compile(r"[0-9]+(?:st|nd|rd|th|s)", re.IGNORECASE)
_SENTENCE_START = re.compile(r"(?:^|[.!?:;]['\")\]]*\s)[\s'\"(\[]*")
_DAYS_AND_MONTHS = re.compile(
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|January|February|March|April|May|June|July|August"
    r"|September|October|November|December"
)
_LETTERED = re.compile(rf"[(\[【]?(?:{MARKS}|[甲乙丙丁])(?:[)\]】]|[.:、](?![0-9]))")
_VERDICT = re.compile(r"(?i)\b(?:in)?correct|\bright|\bwrong|\btrue|\bfalse|\berror|\banswer")


class LatinWord(NamedTuple):
    """A word in Latin letters, and whether it begins a sentence."""

    text: str
    begins: bool


def check_translation(
    source: Texts, target: Texts, renderings: Mapping[str, str], language: Language
) -> None:
    """Check a translation by the rules above.

    Args:
        source: The texts by name.
        target: Their translations by the same names.
        renderings: Names in the source, each with its text in the translation: the name itself, or a
            rendering in the script of the language.
        language: The language of the translation.

    Raises:
        ParseError: A rule is broken.
    """
    _require_renderings(source, renderings, language)
    _require_choices(source, target, language)
    for name, text in source.items():
        check_text(name, text, target[name], renderings, language)
    _require_no_give_away(source, target)


def check_text(
    where: str, source: str, target: str, renderings: Mapping[str, str], language: Language
) -> None:
    """Check one text by rules 1 to 5; `where` names it in the ParseError."""
    if source.strip() and not target.strip():
        raise ParseError("empty_text", f"The translation of {where} is empty.")
    if target.strip() and not source.strip():
        raise ParseError("added_text", f"There is no {where} to translate.")
    if len(target) > SHORT_TEXT + MOST_TIMES * len(source):
        raise ParseError("too_long", f"The translation of {where} is far longer than {where}.")
    _require_same("code_changed", where, Counter(_CODE.findall(source)), _CODE.findall(target))
    before, after = _plain(source), _plain(target)
    formulas, translated = Counter(_formulas(before)), Counter(_formulas(after))
    _require_kept("formula_changed", where, formulas, translated)
    units = Counter(match[1] or match[2] for match in _UNIT.finditer(before))
    translated = Counter(match[1] or match[2] for match in _UNIT.finditer(after))
    _require_kept("unit_changed", where, units, translated)
    _require_numbers(where, before, after)
    _require_same("symbol_changed", where, Counter(_symbols(before)), _symbols(after))
    _require_words(where, before, after, renderings, language)


def _plain(text: str) -> str:
    """Remove code, and write characters in one width and digits in one script."""
    text = in_form("NFKC", _CODE.sub(" ", text)).replace("’", "'")
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)


def _require_same(reason: str, where: str, wanted: Counter[str], texts: Iterable[str]) -> None:
    have = Counter(texts)
    _require_kept(reason, where, wanted, have)
    if added := have - wanted:
        raise ParseError(
            reason,
            f"The translation of {where} has {_shown(added)}, which {where} does not have.",
        )


def _require_kept(reason: str, where: str, wanted: Counter[str], have: Counter[str]) -> None:
    if lost := wanted - have:
        raise ParseError(
            reason, f"{_shown(lost)} of {where} must stay unchanged in the translation."
        )


def _shown(texts: Mapping[str, int]) -> str:
    return ", ".join(repr(text[:60]) for text in texts)


# --- Numbers and symbols ---------------------------------------------------------------------------


def _numbers(text: str) -> Counter[str]:
    return Counter(_THOUSANDS.sub("", number) for number in _NUMBER.findall(text))


def _require_numbers(where: str, before: str, after: str) -> None:
    original, translated = _numbers(before), _numbers(after)
    _require_kept("number_changed", where, original, translated)
    added = {number: n for number, n in (translated - original).items()}
    for number in written_numbers(before):
        added.pop(number, None)
    if added:
        raise ParseError(
            "number_added",
            f"The translation of {where} has {_shown(added)}, which {where} does not have.",
        )


def _symbols(text: str) -> Iterator[str]:
    return (
        c
        for c in text
        if (unicodedata.category(c) in _SYMBOLS or c in _EXTRA_SYMBOLS)
        and c not in _IGNORED_SYMBOLS
    )


def _formulas(text: str) -> Iterator[str]:
    without_units = _UNIT.sub(" ", text)
    return (f for f in _FORMULA.findall(without_units) if not _ORDINAL_OR_PLURAL.fullmatch(f))


# --- Words and names -------------------------------------------------------------------------------


def _words(text: str) -> list[LatinWord]:
    """The words in Latin letters of a text, without unit symbols and formulas."""
    text = _UNIT.sub(lambda unit: " " * len(unit[0]), text)
    starts = {match.end() for match in _SENTENCE_START.finditer(text)}
    return [
        LatinWord(match[0].removesuffix("'s"), match.start() in starts)
        for match in _WORD.finditer(text)
    ]


def _is_letter(word: LatinWord, text: str) -> bool:
    """Whether a word is a single letter such as `A` in a formula, and not an article or `I`."""
    if len(word.text) > 1 or not word.text.isupper() or word.text == "I":
        return False
    return word.text != "A" or not word.begins or text.strip(" .'\"") == "A"


def _is_name(word: LatinWord) -> bool:
    """Whether a word is a name, which must stay or be listed with its rendering."""
    text = word.text
    if len(text) < 2 or text.startswith("I'") or _DAYS_AND_MONTHS.fullmatch(text):
        return False
    # The parts of "Fifty-Two" are words of their own.
    if any(part[1:] != part[1:].lower() for part in text.split("-")):
        return True
    return text[0].isupper() and not word.begins


def _require_words(
    where: str, before: str, after: str, renderings: Mapping[str, str], language: Language
) -> None:
    words = _words(before)
    latin_words = Counter(word.text for word in _words(after))
    letters = Counter(word.text for word in words if _is_letter(word, before))
    _require_kept("letter_changed", where, letters, latin_words)
    listed = {name: given for name, given in renderings.items() if _has(before, name)}
    for name, rendering in listed.items():
        if not _has(after, name) and rendering not in after:
            raise ParseError(
                "name_lost",
                f"The translation of {where} has neither the name {name[:60]!r} nor "
                f"{rendering[:60]!r}.",
            )
    of_listed = {word.text for name in listed for word in _words(name)}
    names = {word.text for word in words if _is_name(word)}
    if lost := sorted(names - latin_words.keys() - of_listed):
        raise ParseError(
            "name_lost",
            f"The name {lost[0][:60]!r} of {where} is neither kept nor listed with its rendering.",
        )
    may_stay = names | of_listed | letters.keys() | _particles(words)
    _require_no_other_words(where, words, latin_words, may_stay)
    _require_script(where, before, after, words, may_stay, language)


def _has(text: str, name: str) -> bool:
    name = re.escape(_plain(name).strip())
    return re.search(rf"(?<![{_LATIN}0-9]){name}(?![{_LATIN}0-9])", text) is not None


def _particles(words: list[LatinWord]) -> set[str]:
    """Words in small letters inside a name: the `de` of `Rio de Janeiro`."""
    return {
        middle[1].text
        for middle in zip(words, words[1:], words[2:], strict=False)
        if middle[0].text[0].isupper() and _is_name(middle[2]) and middle[1].text.islower()
    }


def _require_no_other_words(
    where: str, words: list[LatinWord], latin_words: Counter[str], may_stay: set[str]
) -> None:
    of_source = {word.text.casefold() for word in words}
    for word in latin_words.keys() - may_stay:
        if word.casefold() in of_source:
            raise ParseError(
                "not_translated",
                f"The word {word[:60]!r} of {where} is not translated: translate it, or list it if "
                "it is a name.",
            )
        raise ParseError(
            "word_added",
            f"The translation of {where} has {word[:60]!r}, which {where} does not have.",
        )


def _require_script(
    where: str,
    before: str,
    after: str,
    words: list[LatinWord],
    may_stay: set[str],
    language: Language,
) -> None:
    own = re.compile(f"[{language.letters}]")
    others = [
        c for c in after if c.isalpha() and not own.match(c) and not re.match(f"[{_LATIN}]", c)
    ]
    # Letters that the source has, too, such as π of a formula, may stay.
    if new := [c for c in others if c not in before]:
        raise ParseError(
            "other_language",
            f"The translation of {where} has {new[0]!r}, which is not a letter of {language.name}.",
        )
    if not own.search(after) and any(word.text not in may_stay for word in words):
        raise ParseError("not_translated", f"The translation of {where} is not in {language.name}.")


def _require_renderings(source: Texts, renderings: Mapping[str, str], language: Language) -> None:
    own = re.compile(f"[{language.letters}]")
    for name, rendering in renderings.items():
        if not _words(_plain(name)) or not any(
            _has(_plain(text), name) for text in source.values()
        ):
            raise ParseError("unknown_name", f"The listed name {name[:60]!r} is in no text.")
        if rendering != name and not own.search(rendering):
            raise ParseError(
                "unknown_name",
                f"The rendering {rendering[:60]!r} of {name[:60]!r} is neither the name nor in "
                f"{language.name}.",
            )


# --- All texts of a question -----------------------------------------------------------------------


def _require_choices(source: Texts, target: Texts, language: Language) -> None:
    letters = [name for name in source if name in LETTERS]
    letter_of_text: dict[str, str] = {}
    for letter in letters:
        text = in_form("NFKC", target[letter]).strip()
        if _LETTERED.match(text) and not _LETTERED.match(source[letter]):
            raise ParseError(
                "lettered_choice", f"The translation of {letter} begins with a letter or a number."
            )
        if text and (other := letter_of_text.get(normalized(text))):
            raise ParseError("repeated_choice", f"{other} and {letter} have the same translation.")
        letter_of_text[normalized(text)] = letter
    for name, text in source.items():
        match = re.search(language.verdicts, target[name])
        if match and not _VERDICT.search(text):
            raise ParseError("verdict_added", f"The translation of {name} says {match[0]!r}.")


def _require_no_give_away(source: Texts, target: Texts) -> None:
    """Raise ParseError if the translated question or hint contains the text of a choice that the source
    does not contain, unless it contains all choices.
    """
    letters = [name for name in source if name in LETTERS]
    question, asked_before = (
        " ".join(normalized(text) for name, text in texts.items() if name not in letters)
        for texts in (target, source)
    )
    named = {letter for letter in letters if _names(question, target[letter])}
    # Choices of one character are skipped: they are in too many words.
    new = [
        letter
        for letter in sorted(named)
        if len(normalized(target[letter])) > 1 and normalized(source[letter]) not in asked_before
    ]
    if new and named != set(letters):
        raise ParseError(
            "gives_answer_away",
            f"The translated question or hint has the words of {new[0]}, and not of all choices.",
        )


def _names(question: str, choice: str) -> bool:
    return bool(normalized(choice)) and normalized(choice) in question
