"""Answer extraction by rule: the letter of an answer, without guessing (MMBench, 4.1, step 1).

Each rule names choices, or nothing.

1. `final`: `\boxed{B}`, `<answer>B</answer>`, "final answer: B", "最终答案：B", or a choice's text in
   such a place. It decides alone: the text before it was only a thought.
2. `alone`: the answer is nothing but a letter, in any case and width, with or without brackets, a full
   stop, a word like "Option" or 选. It names its choice even if this letter is the text of another
   choice.
3. `text`: the answer is nothing but the text of one choice; case, articles, quotes and the last full
   stop do not count.
4. `letter and text`: the answer begins with a letter and the text of its choice.
5. `declared`: a phrase names a letter, or the text of a choice: "the answer is (B)", "Option B is
   correct because ...", "I choose B", "it is B", "答案是B", "应选B", "B是正确的", "The correct answer
   is dog."
6. `leading`: the answer begins with a letter and a mark or "because": "B. Because ...", "(B) ...".
7. `closing`: the last line is a letter, or ends with one in brackets.
8. `sentence`: the answer is one sentence of at most 15 words that ends in the text of one choice after
   a form of "be", of "show", or a colon.
9. `only yes`: each line of a list of the choices ends in yes or no, and only one in yes.
10. `concluded`: one choice is named in the last sentence, which is a conclusion ("Therefore ...", "因此
   ...") or the only sentence after a list of the choices.
11. `only named`: only one choice is named in the whole answer, as words, in its first or last sentence.
12. `stated`: the first sentence ends in the text of one choice as in `sentence`, and no other sentence
   ends in the text of another choice.
13. `refused`, `empty`: no choice is named and the answer declines, or has no words. The letter is Z.

These rules prevent misreading. A letter counts only if no letter, digit or hyphen touches it. "A" and
small letters are words, too, and do not count if the sentence goes on with another word: "A dog" and
"The answer is a dog" name no letter. A negated or supposed letter ("not A", "A is wrong", "rather than
A", "不是A", "if it is A") is not named; in "not A but B" B is. A phrase declares nothing if its clause
denies it or asks: "I would not choose A", "The worst choice is A", "The answer is A?". Letters without
a choice are ignored. "The answer is blue" never names B. If several letters have marks, as in a copy of
the choices, `letter and text` and `leading` name nothing. The weaker phrases of `declared` ("so B", "it
is a dog"), `closing` and `sentence` are then read in the text after the list. "Each option:" and a list
of the choices after "answer:" declare nothing. The last declaration counts: "The answer is A. No, the
answer is C." is C. If one place or the weaker phrases name several choices ("A or B", or "B, dog" if
dog is C), no letter is read and the extractor model is asked; so is it if an answer has the text of one
choice and names only other options, as in "B dog". A sentence with a negation names no text, unless the
negation describes what is asked for: "the bird that cannot fly is the owl".
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from methods.choice import option_lists, phrases, sentences
from methods.choice.lettered import LETTERS, NO_CHOICE
from methods.evaluation.answer_values import in_one_width
from methods.evaluation.english_refusals import is_refusal

_STYLED = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf|mathsf|bf|rm)\s*\{([^{}]*)\}")
_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{([^{}]*)\}")
_MATHS = re.compile(r"\$|\\[()\[\]]|\\,|\\;")
_MARKDOWN = re.compile(r"\*+|__+|~~|`+|^[ \t]*(?:#{1,6}|>)[ \t]+", re.MULTILINE)
_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")
_MOST_BLANKS = 9
_LONG_BLANK = re.compile(rf"\s{{{_MOST_BLANKS},}}")
_ARTICLE = re.compile(r"(?:a|an|the)\s+(?=\S)")
_AROUND = " \t\n\"'“”‘’「」『』"


def plain(answer: str) -> str:
    """Remove markdown, LaTeX and everything before the last `</think>`; boxed text becomes
    `<answer>`.
    """
    text = in_one_width(answer).rpartition("</think>")[2]
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


VERSION = "6"
"""Increased with every change of the rules, so that letters read by earlier versions are out of date.
Requests do not contain it: stored answers are read again without new calls."""
MOST_CHARACTERS = 20_000
"""Only this many characters at the end of a longer answer are read."""
MOST_WORDS = 15


class ExtractedLetter(NamedTuple):
    """The extracted letter (`Z`: no choice) and the rule that found it; None if no rule applies."""

    letter: str | None
    rule: str | None


UNREAD = ExtractedLetter(None, None)


def read_letter(answer: str, choices: Sequence[str]) -> ExtractedLetter:
    """Extract the letter from an answer by strict rules.

    Args:
        answer: The answer.
        choices: The choices in order of letter.

    Returns:
        The letter with the rule that found it; `Z` for an empty answer or a refusal; no letter if no
        rule applies or rules contradict each other.
    """
    text = plain(answer[-MOST_CHARACTERS:])
    if not text:
        return ExtractedLetter(NO_CHOICE, "empty")
    reader = _LetterReader(choices, answer)
    for rules in (reader.final, reader.whole, reader.declared, reader.parts):
        readings = list(rules(text))
        if readings:
            return readings[0] if len({reading.letter for reading in readings}) == 1 else UNREAD
    if is_refusal(answer):
        return UNREAD if reader.rejects(text) else ExtractedLetter(NO_CHOICE, "refused")
    reading = next(reader.texts(text), UNREAD)
    return UNREAD if reader.contradicts(text, reading.letter) else reading


strict = read_letter
"""The name of `read_letter` up to version 0.2."""


@lru_cache(maxsize=10_000)
def _as_read(choice: str) -> str:
    """Normalize a choice as answers are: "$B$" is the text B.

    Cached, because each model answers the same question in several passes.
    """
    return normalized(plain(choice)) or normalized(choice)


class _LetterReader:
    """The rules for one answer. Each rule yields the letters that it finds."""

    def __init__(self, choices: Sequence[str], answer: str):
        self._letters = LETTERS[: len(choices)]
        self._texts = dict(zip(self._letters, map(_as_read, choices), strict=True))
        # "$B$" may be a letter with marks, or a choice that is written with these marks.
        written = normalized(answer)
        self._is_marked_choice = len(written) > 1 and written in map(normalized, choices)
        # The characters in which a choice is searched, with its article and the text after it.
        self._most = 2 * max(map(len, choices), default=0) + 40

    def final(self, text: str) -> Iterator[ExtractedLetter]:
        """Rule 1."""
        for place in phrases.FINAL.finditer(text):
            if place["phrase"] and sentences.is_negated(text, place.start()):
                continue
            phrase = (place["tag"] or place["phrase"] or "").strip()
            for letter in self._alone(phrase) or self._start(phrases.mask_denied_letters(phrase)):
                yield ExtractedLetter(letter, "final")

    def whole(self, text: str) -> Iterator[ExtractedLetter]:
        """Rules 2 and 3."""
        letters = self._letter_alone(text)
        yield from (ExtractedLetter(letter, "alone") for letter in letters)
        if not letters or self._is_marked_choice:
            yield from (ExtractedLetter(letter, "text") for letter in self._with_text(text))

    def declared(self, text: str) -> Iterator[ExtractedLetter]:
        """Rule 5, of strong phrases: the last one counts."""
        text = phrases.mask_denied_letters(text)
        places: dict[int, list[str]] = {}
        for head in phrases.HEAD.finditer(text):
            if option_lists.declares(text, head) and not sentences.is_negated(text, head.start()):
                places[head.end()] = self._start(text[head.end() :])
        for match in phrases.PREDICATE.finditer(text):
            if not sentences.is_negated(text, match.start("letter")):
                places[match.start("letter")] = self._letter_of_choice(match["letter"])
        last = max((place for place, letters in places.items() if letters), default=None)
        if last is not None:
            yield from (ExtractedLetter(letter, "declared") for letter in places[last])

    def rejects(self, text: str) -> bool:
        """Whether choices are named only to be denied, as in "I cannot choose A": no refusal."""
        text = phrases.mask_denied_letters(text)
        return any(self._start(text[head.end() :]) for head in phrases.HEAD.finditer(text))

    def contradicts(self, text: str, letter: str | None) -> bool:
        """Whether an answer with the text of a choice names options, but not that choice's letter."""
        places = phrases.OPTION.finditer(phrases.mask_denied_letters(text))
        named = {known for place in places for known in self._letter_of_choice(place["letter"])}
        return bool(named) and letter not in named

    def parts(self, text: str) -> Iterator[ExtractedLetter]:
        """Rules 4, 6 to 8, and 5 for weak phrases. After a list of choices only the rest is read."""
        whole = phrases.mask_denied_letters(text)
        text = option_lists.after_list(whole)
        yield from self._weakly_declared(text)
        if len({mark[1] for mark in phrases.MARKED.finditer(text)} & set(self._letters)) <= 1:
            if text == whole:
                yield from self._letter_and_text(text)
                yield from self._leading(text)
            yield from self._closing(text)
        yield from self._sentence(text)

    def texts(self, text: str) -> Iterator[ExtractedLetter]:
        """Rules 9 to 12."""
        if letter := option_lists.only_yes(text):
            yield from (
                ExtractedLetter(known, "only yes") for known in self._letter_of_choice(letter)
            )
        elif letter := self._concluded(text):
            yield ExtractedLetter(letter, "concluded")
        elif letter := self._only_named(text):
            yield ExtractedLetter(letter, "only named")
        elif letter := self._stated(text):
            yield ExtractedLetter(letter, "stated")

    # --- Rules -------------------------------------------------------------------------------------

    def _alone(self, text: str) -> list[str]:
        """The letter if `text` is only a letter, otherwise the choices that have this text."""
        return self._letter_alone(text) or self._with_text(text)

    def _letter_alone(self, text: str) -> list[str]:
        match = phrases.ALONE.fullmatch(text)
        return self._letter_of_choice(match["letter"]) if match else []

    def _with_text(self, text: str) -> list[str]:
        same = normalized(text)
        return [letter for letter, choice in self._texts.items() if choice and choice == same]

    def _letter_and_text(self, text: str) -> Iterator[ExtractedLetter]:
        match = phrases.LEADING_LETTER.match(text)
        if match and (letters := self._letter_of_choice(match["letter"])):
            own = self._texts[letters[0]]
            if own and any(_begins(start, own) for start in self._starts(text[match.end() :])):
                yield ExtractedLetter(letters[0], "letter and text")

    def _weakly_declared(self, text: str) -> Iterator[ExtractedLetter]:
        for head in phrases.WEAK_HEAD.finditer(text):
            if not sentences.is_negated(text, head.start()):
                rest = text[head.end() :]
                yield from (ExtractedLetter(letter, "declared") for letter in self._start(rest))

    def _leading(self, text: str) -> Iterator[ExtractedLetter]:
        match = phrases.LEADING.match(text)
        if match:
            rest = text[match.end() :]
            letters = self._letter_of_choice(match["letter"] or match["bare"] or match["small"])
            more = self._start(rest) if letters else []
            for letter in letters if set(letters) & set(more) else [*letters, *more]:
                yield ExtractedLetter(letter, "leading")

    def _closing(self, text: str) -> Iterator[ExtractedLetter]:
        last = text.rpartition("\n")[2].strip()
        match = phrases.ALONE.fullmatch(last) or phrases.CLOSING.search(last)
        if match and not sentences.is_negated(last, match.start()):
            yield from (
                ExtractedLetter(letter, "closing")
                for letter in self._letter_of_choice(match["letter"])
            )

    def _sentence(self, text: str) -> Iterator[ExtractedLetter]:
        if phrases.ONE_SENTENCE.fullmatch(text) and len(text.split()) <= MOST_WORDS:
            for letter in self._states(text):
                if not self.contradicts(text, letter):
                    yield ExtractedLetter(letter, "sentence")

    def _states(self, sentence: str) -> list[str]:
        """The choices whose text a sentence ends in, after a form of "be" or the like."""
        if sentences.is_denied(sentence):
            return []
        ends = (sentence[match.end() :] for match in phrases.COPULA.finditer(sentence))
        return [letter for end in ends for letter in self._with_text(end)]

    def _stated(self, text: str) -> str | None:
        """The choice that the first sentence states, if no other sentence states another one."""
        stated = [set(self._states(each)) for each in sentences.sentences(text)]
        return stated[0].pop() if stated and stated[0] and len(set.union(*stated)) == 1 else None

    def _concluded(self, text: str) -> str | None:
        """The choice that the last sentence names, if that sentence is a conclusion."""
        end = option_lists.after_list(text)
        parts = sentences.sentences(end)
        is_all = end != text and len(parts) == 1
        if parts and (is_all or sentences.CONCLUSION.match(parts[-1])):
            return self._single(parts[-1])
        return None

    def _only_named(self, text: str) -> str | None:
        """The choice, if it is the only one named and the words around it do not change its meaning."""
        named = self._named(text)
        if len(named) != 1:
            return None
        if self._texts_at(text, []) == named:
            return named[0]
        parts = sentences.sentences(text)
        for sentence in (*parts[:1], *parts[-1:]):
            if self._single(sentence) == named[0]:
                before, _, after = normalized(sentence, keep_end=True).partition(
                    self._texts[named[0]]
                )
                return named[0] if sentences.goes_on(before, after) else None
        return None

    def _single(self, sentence: str) -> str | None:
        """The one choice that a sentence names without a negation."""
        named = [] if sentences.is_denied(sentence) else self._named(sentence)
        return named[0] if len(named) == 1 and len(self._texts[named[0]]) > 1 else None

    def _named(self, text: str) -> list[str]:
        """The choices whose texts occur in a text as words, and not inside the text of another
        choice.
        """
        text = normalized(text, keep_end=True)
        places_of_letter = {
            letter: sentences.places_of(choice, text) for letter, choice in self._texts.items()
        }
        spans = {span for places in places_of_letter.values() for span in places}
        return [
            letter
            for letter, places in places_of_letter.items()
            if any(not any(_within(place, span) for span in spans) for place in places)
        ]

    # --- What is named at the beginning of a text --------------------------------------------------

    def _start(self, rest: str) -> list[str]:
        """Letters named at the beginning of `rest`: by letter, list of letters or choice text."""
        letters = []
        match = phrases.FIRST_LETTER.match(rest)
        if match:
            letters += self._letter_of_choice(match["letter"])
            rest = rest[match.end() :]
            while letters and (more := phrases.NEXT_LETTER.match(rest)):
                letters += self._letter_of_choice(more["letter"])
                rest = rest[more.end() :]
            rest = phrases.BEFORE_TEXT.sub("", rest, count=1)
        return letters + self._texts_at(rest, letters)

    def _texts_at(self, rest: str, named: Sequence[str]) -> list[str]:
        """The choices with the longest text that `rest` begins with; none if one is in `named`."""
        starts = self._starts(rest)
        letters = [
            letter
            for letter, choice in self._texts.items()
            if choice and any(_begins(start, choice) for start in starts)
        ]
        if set(letters) & set(named):
            return []
        longest = max((len(self._texts[letter]) for letter in letters), default=0)
        return [letter for letter in letters if len(self._texts[letter]) == longest]

    def _starts(self, rest: str) -> list[str]:
        """The normalized `rest` and its first line, each with and without its article."""
        rest = rest.lstrip()[: self._most]
        lines = [normalized(form, keep_end=True) for form in (rest, rest.partition("\n")[0])]
        return [*lines, *map(without_article, lines)]

    def _letter_of_choice(self, letter: str) -> list[str]:
        """The letter in upper case, if a choice has it."""
        return [letter.upper()] if letter.upper() in self._letters else []


def _begins(start: str, choice: str) -> bool:
    """Whether normalized text begins with a choice's text, and the next word does not change it."""
    return start.startswith(choice) and phrases.FOLLOWS.match(start, len(choice)) is not None


def _within(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    """Whether a span is part of a longer span."""
    return inner != outer and outer[0] <= inner[0] and inner[1] <= outer[1]
