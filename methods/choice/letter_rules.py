"""The rules that find letters and texts of choices in one answer; `strict.py` has their order."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from methods.choice import option_lists, phrases, sentences
from methods.choice.alphabet import LETTERS
from methods.choice.normalization import normalized, plain, without_article

MOST_WORDS = 15
"""Limit of rule 8, in words."""
_CONTINUES = re.compile("[a-z0-9]")


class ExtractedLetter(NamedTuple):
    """The extracted letter (`Z`: no choice) and the rule that found it; None if no rule applies."""

    letter: str | None
    rule: str | None


UNREAD = ExtractedLetter(None, None)


@lru_cache(maxsize=10_000)
def _as_read(choice: str) -> str:
    """Normalize a choice as answers are: "$B$" is the text B.

    Cached, because each model answers the same question in several passes.
    """
    return normalized(plain(choice)) or normalized(choice)


class LetterRules:
    """The rules for one answer. Each rule yields the letters that it finds."""

    def __init__(self, choices: Sequence[str], answer: str):
        self._letters = LETTERS[: len(choices)]
        self._texts = dict(zip(self._letters, map(_as_read, choices), strict=True))
        # "$B$" may be a letter with marks, or a choice that is written with these marks.
        written = normalized(answer)
        self._is_marked_choice = len(written) > 1 and written in map(normalized, choices)
        # Texts such as "C. elegans" and "B型": a letter in a sentence may be the beginning of one.
        self._has_lettered_texts = any(
            len(text) > 1 and text[0].upper() in self._letters and not _CONTINUES.match(text[1:])
            for text in self._texts.values()
        )
        # The characters in which a choice is searched, with its article and the text after it.
        self._most = 2 * max(map(len, choices), default=0) + 40
        # A choice that a sentence ends in may have forms of "be", too. The text after an earlier one
        # has more of them than any choice, so it is not a choice (with more than 60, none is read).
        n_copulas = (len(phrases.COPULA.findall(text)) for text in self._texts.values())
        self._most_copulas = min(max(n_copulas, default=0), 50) + 10

    def final(self, text: str) -> Iterator[ExtractedLetter]:
        """Rule 1."""
        for place in phrases.FINAL.finditer(text):
            if place["phrase"] and not sentences.states(text, place.start()):
                continue
            if place["tag"] and phrases.TAKEN_BACK.match(text, place.end()):
                continue
            phrase = (place["tag"] or place["phrase"] or "").strip()
            letters = self._alone(phrase) or self._start(phrases.mask_denied_letters(phrase))
            if place["tag"]:
                rest = phrases.mask_denied_letters(text[place.end() : place.end() + self._most])
                letters = self._with_next(letters, rest)
            yield from (ExtractedLetter(letter, "final") for letter in letters)

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
            if option_lists.declares(text, head) and sentences.states(text, head.start()):
                places[head.end()] = self._kept(text[head.end() :])
        for match in phrases.PREDICATE.finditer(text):
            place = match.start("letter")
            if sentences.states(text, place) and not phrases.ASKED.match(text, match.end()):
                places[place] = self._predicated(text, place, match)
        last = max((place for place, letters in places.items() if letters), default=None)
        if last is not None:
            letters = places[last]
            if not phrases.FIRST_LETTER.match(text, last):
                letters = [*letters, *self._lettered(text, places)]
            yield from (ExtractedLetter(letter, "declared") for letter in letters)

    def is_contradicted(self, text: str, letter: str | None) -> bool:
        """Whether the sentences next to a letter state another choice, and do not name its own."""
        text = phrases.mask_denied_letters(text).replace("</answer>", "\n")
        letters = phrases.LETTER.finditer(text)
        places = [place for place in letters if place["letter"].upper() == letter]
        parts = sentences.around(text, *places[-1].span()) if places else []
        return not any(letter in self._named(part) for part in parts) and any(
            self._states(part) for part in parts if not phrases.LETTER.search(part)
        )

    def names_a_choice(self, text: str) -> bool:
        """Whether a text that begins as a refusal names choices: "I cannot see a cat. It is a dog." """
        letters = (place["letter"] for place in phrases.LETTER.finditer(text))
        return bool(self._named(text)) or any(map(self._letter_of_choice, letters))

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
        if self._n_marked(text) <= 1:
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
            if sentences.states(text, head.start()):
                rest = text[head.end() :]
                yield from (ExtractedLetter(letter, "declared") for letter in self._kept(rest))

    def _n_marked(self, text: str) -> int:
        """Number of choices whose letters have marks in a text."""
        return len({mark[1] for mark in phrases.MARKED.finditer(text)} & set(self._letters))

    def _predicated(self, text: str, place: int, match: re.Match[str]) -> list[str]:
        """The letters at a place that are said to be right, with the one that "and" joins to it."""
        if self._has_lettered_texts or phrases.TAKEN_BACK.match(text, match.end()):
            return []
        before = phrases.LETTER_BEFORE.search(text, max(0, place - 40), place)
        joined = self._letter_of_choice(before["letter"]) if before else []
        return [*self._letter_of_choice(match["letter"]), *joined]

    def _lettered(self, text: str, places: Mapping[int, Sequence[str]]) -> list[str]:
        """The letters at declared places and at the beginning: a declared text may contradict them."""
        lettered = [places[place] for place in places if phrases.FIRST_LETTER.match(text, place)]
        if self._n_marked(text) <= 1:
            lettered.append(self._leading_letter(phrases.LEADING.match(text)))
        return [letter for letters in lettered for letter in letters]

    def _leading(self, text: str) -> Iterator[ExtractedLetter]:
        """A letter at the beginning, before its own text or a reason."""
        match = phrases.LEADING.match(text)
        letters = self._leading_letter(match)
        if not match or not letters or self._has_lettered_texts:
            return
        rest = text[match.end() :]
        own = self._texts[letters[0]]
        has_own = any(
            (0, len(own)) in sentences.places_of(own, start) for start in self._starts(rest)
        )
        sentence = phrases.NEW_SENTENCE.match(rest)
        has_reason = phrases.EXPLAINED.match(rest) and not phrases.ASKED.match(rest)
        if has_own or has_reason or (sentence and not sentences.is_denied(sentence[0])):
            more = self._start(rest)
            if not set(letters) & set(more):
                letters = [*self._with_next(letters, rest), *more]
            yield from (ExtractedLetter(letter, "leading") for letter in letters)

    def _leading_letter(self, match: re.Match[str] | None) -> list[str]:
        if match is None:
            return []
        return self._letter_of_choice(match["letter"] or match["bare"] or match["small"])

    def _closing(self, text: str) -> Iterator[ExtractedLetter]:
        letters = [] if self._has_lettered_texts else self._letter_alone(text.rpartition("\n")[2])
        yield from (ExtractedLetter(letter, "closing") for letter in letters)

    def _sentence(self, text: str) -> Iterator[ExtractedLetter]:
        if phrases.ONE_SENTENCE.fullmatch(text) and len(text.split()) <= MOST_WORDS:
            for letter in self._states(text):
                if not self.contradicts(text, letter):
                    yield ExtractedLetter(letter, "sentence")

    def _states(self, sentence: str) -> list[str]:
        """The choices whose text a sentence ends in, after a form of "be" or the like."""
        if sentences.is_denied(sentence):
            return []
        last = [*phrases.COPULA.finditer(sentence)][-self._most_copulas :]
        ends = (
            sentence[match.end() :]
            for match in last
            if not phrases.OPTIONS.search(before := sentence[: match.start()])
            or phrases.STATED.fullmatch(before)
        )
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
        """The one choice that a sentence names without a negation, and not as one of the options."""
        options = list(phrases.OPTIONS.finditer(sentence))
        clause = phrases.CLAUSE_START.split(sentence[: options[-1].end()])[-1] if options else ""
        is_one_of_many = not phrases.STATED.fullmatch(clause)
        named = [] if is_one_of_many or sentences.is_denied(sentence) else self._named(sentence)
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
        match = None if self._has_lettered_texts else phrases.FIRST_LETTER.match(rest)
        if match:
            letters = self._letter_of_choice(match["letter"])
            return self._with_next(letters, rest[match.end() :])
        letters = self._texts_at(rest, [])
        line = rest[: self._most].partition("\n")[0] if letters else ""
        return [*letters, *phrases.BRACKETED.findall(line)]

    def _kept(self, rest: str) -> list[str]:
        """The letters named at the beginning of `rest`; none if the text after them takes them back."""
        letters = self._start(rest)
        return [] if phrases.TAKEN_BACK.match(rest) else letters

    def _with_next(self, letters: Sequence[str], rest: str) -> list[str]:
        """The letters with those named at the beginning of the `rest` after them."""
        letters = [*letters]
        while letters and (more := phrases.NEXT_LETTER.match(rest)):
            letters += self._letter_of_choice(more["letter"])
            rest = rest[more.end() :]
        return letters + self._texts_at(phrases.BEFORE_TEXT.sub("", rest, count=1), letters)

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
