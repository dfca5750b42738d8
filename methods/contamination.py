"""Contamination: content that a benchmark shares with an instruction set that models are trained on.

`methods/image_sets/split.py` divides the corpus so that they share nothing.

A common phrase is not an item: "Which of the two is brighter?" may be asked about any images. So a
shared question counts only if its answer is the same, too, or if one of the two has no answer to
compare with. Other shared questions are counted separately, as forms of words. A shared answer without
its question counts only if one of the two releases was imported: releases that were built here are
about different pages and images, and one writer uses the same phrases for many.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal, NamedTuple

from methods.choice.lettered import LETTERS
from methods.same_text import LEAST, ComparableText, Rarity, Words, comparable_text, every_run

Kind = Literal[
    "page", "image", "near_duplicate", "question", "answer", "form_of_words", "phrases_of_answer"
]
BLOCKING: tuple[Kind, ...] = ("page", "image", "near_duplicate", "question", "answer")
"""Kinds that no benchmark and instruction set may share; forms of words and phrases they may."""
SHOWN_WORDS, SHOWN_CHARACTERS = 13, 300
"""The number of words of a shared text that are shown, and the most characters of them."""
MOST_COMPARED_TURNS = 10
"""The most turns of a benchmark on the same images that a turn is compared with: those whose questions,
and those whose answers, share the most words with it. A copy shares all."""

Row = Mapping[str, Any]


class ItemQuestion(NamedTuple):
    """A question of an item and its answers; there are none in a split that holds them out.

    `about` is the set of the item's images, or the item itself if it has none.
    """

    item_id: str
    turn: int
    about: Hashable
    question: ComparableText
    answers: tuple[ComparableText, ...]


@dataclass(frozen=True)
class Content:
    """The contents of a release: its items by Wikipedia page (URL) and by image, and all turns."""

    release_id: str
    pages: Mapping[str, Sequence[str]] = field(default_factory=dict)
    images: Mapping[str, Sequence[str]] = field(default_factory=dict)
    questions: Sequence[ItemQuestion] = ()
    imported: bool = False


class ContentOverlap(NamedTuple):
    """Content that a benchmark and an instruction set share, with an item of each.

    `turn` is a turn of the instruction set; None if the content belongs to the whole item.
    """

    kind: Kind
    what: str
    benchmark: str
    item: str
    instruction: str
    instruction_item: str
    turn: int | None = None


def content_of(
    release_id: str, rows: Mapping[str, Sequence[Row]], *, imported: bool = False
) -> Content:
    """Collect the content of a release that may overlap with another release.

    Args:
        release_id: The id of the release.
        rows: The rows of its tables images, turns, choices and references.
        imported: Whether the release was imported.

    Returns:
        The content.
    """
    choices = {(row["item_id"], row["position"]): row["choice"] for row in rows["choices"]}
    answers: dict[tuple[str, int], list[ComparableText]] = defaultdict(list)
    for row in rows["references"]:
        text = row["reference"]
        if row["kind"] == "key":
            text = choices.get((row["item_id"], LETTERS.find(text) + 1), "")
        answers[row["item_id"], row["turn"]].append(comparable_text(text))
    for row in rows["turns"]:
        answers[row["item_id"], row["turn"]].append(comparable_text(row.get("given") or ""))
    pages: dict[str, dict[str, None]] = defaultdict(dict)
    images: dict[str, dict[str, None]] = defaultdict(dict)
    shown: dict[str, set[str]] = defaultdict(set)
    for row in rows["images"]:
        if row.get("page_url"):
            pages[row["page_url"]][row["item_id"]] = None
        images[row["image_id"]][row["item_id"]] = None
        shown[row["item_id"]].add(row["image_id"])
    questions = [
        ItemQuestion(
            item_id := row["item_id"],
            row["turn"],
            frozenset(shown[item_id]) or item_id,
            comparable_text(row["question"]),
            tuple(answer for answer in answers[item_id, row["turn"]] if answer.words),
        )
        for row in rows["turns"]
    ]
    return Content(
        release_id,
        {url: list(items) for url, items in pages.items()},
        {image_id: list(items) for image_id, items in images.items()},
        questions,
        imported,
    )


def find_overlap(
    benchmarks: Sequence[Content],
    instructions: Sequence[Content],
    alike: Mapping[str, Sequence[str]] | None = None,
) -> Iterator[ContentOverlap]:
    """Find what benchmarks and instruction sets share.

    Benchmarks are indexed and instruction sets are read twice: time is linear in the texts of both.

    Args:
        benchmarks: The content of the benchmarks.
        instructions: The content of the instruction sets.
        alike: For each image of an instruction set, the benchmark images that equal it or look like it.

    Yields:
        The shared pages, images and texts.
    """
    index = _Index(benchmarks, instructions)
    for instruction in instructions:
        for benchmark in benchmarks:
            names = (benchmark.release_id, instruction.release_id)
            yield from _both("page", benchmark.pages, instruction.pages, names)
            yield from _both("image", benchmark.images, instruction.images, names)
            for image_id, copies in (alike or {}).items():
                items = instruction.images.get(image_id, ())
                ours = {like: items for like in copies if like != image_id}
                yield from _both("near_duplicate", benchmark.images, ours, names)
        for question in instruction.questions:
            yield from index.met(instruction, question)


def _both(
    kind: Kind,
    first: Mapping[str, Sequence[str]],
    second: Mapping[str, Sequence[str]],
    names: tuple[str, str],
) -> Iterator[ContentOverlap]:
    for what in sorted(first.keys() & second.keys()):
        for item_id in second[what]:
            yield ContentOverlap(kind, what, names[0], first[what][0], names[1], item_id)


class _Index:
    """Index of runs of words in benchmarks' questions and answers, with the turns that have them."""

    def __init__(self, benchmarks: Sequence[Content], instructions: Sequence[Content]):
        # Turns of an item with the same texts have the same overlaps.
        distinct = {
            (benchmark.release_id, asked._replace(turn=0)): (benchmark, asked)
            for benchmark in benchmarks
            for asked in benchmark.questions
        }
        self._turns = [*distinct.values()]
        self._n_words = [
            len(asked.question.words) + sum(len(answer.words) for answer in asked.answers)
            for _, asked in self._turns
        ]
        self._rarity = Rarity(_texts(benchmarks), _texts(instructions))
        self._with: dict[tuple[bool, Words], list[int]] = defaultdict(list)
        for number, (_, question) in enumerate(self._turns):
            for part in _parts(question):
                self._with[part].append(number)

    def met(self, instruction: Content, question: ItemQuestion) -> Iterator[ContentOverlap]:
        """Find what a turn of an instruction set shares with turns of the benchmarks."""
        in_common: dict[int, dict[bool, float]] = defaultdict(lambda: {True: 0.0, False: 0.0})
        for part in _parts(question):
            if part in self._with and (weight := self._rarity.weight(part[1])):
                for number in self._with[part]:
                    in_common[number][part[0]] += weight
        on_images: dict[Hashable, list[int]] = defaultdict(list)
        for number, weights in in_common.items():
            # Sums in another order differ in the last digits.
            if round(sum(weights.values()), 6) >= LEAST:
                benchmark, theirs = self._turns[number]
                on_images[benchmark.release_id, theirs.about].append(number)

        def nearest(numbers: list[int], of_question: bool) -> list[int]:
            """Of turns that share as much, a copy has the fewest words."""
            ranks = {
                number: (-round(in_common[number][of_question], 6), self._n_words[number], number)
                for number in numbers
            }
            return sorted(numbers, key=ranks.__getitem__)[:MOST_COMPARED_TURNS]

        compared = {
            number
            for numbers in on_images.values()
            for of_question in (True, False)
            for number in nearest(numbers, of_question)
        }
        for number in sorted(compared):
            benchmark, theirs = self._turns[number]
            imported = instruction.imported or benchmark.imported
            for kind, text in self._kinds(theirs, question, imported):
                names = (
                    benchmark.release_id,
                    theirs.item_id,
                    instruction.release_id,
                    question.item_id,
                )
                what = " ".join(text.words[:SHOWN_WORDS])[:SHOWN_CHARACTERS]
                yield ContentOverlap(kind, what, *names, question.turn)

    def _kinds(
        self, theirs: ItemQuestion, ours: ItemQuestion, imported: bool
    ) -> Iterator[tuple[Kind, ComparableText]]:
        """Yield the kinds of overlap with the benchmark's turn `theirs`, each with its text."""
        in_common = self._rarity.in_common
        n_answers = []
        for their_answer, our_answer in product(theirs.answers, ours.answers):
            if (n := in_common(their_answer, our_answer)) is not None:
                n_answers.append(n)
                if n >= LEAST:
                    yield "answer" if imported else "phrases_of_answer", their_answer
            elif (n := in_common(our_answer, their_answer)) is not None:
                n_answers.append(n)
        n_question = in_common(theirs.question, ours.question)
        if n_question is None:
            return
        is_same = n_answers or not theirs.answers or not ours.answers
        if is_same and n_question + max(n_answers, default=0.0) >= LEAST:
            yield "question", theirs.question
        elif n_question >= LEAST:
            yield "form_of_words", theirs.question


def _texts(contents: Sequence[Content]) -> Iterator[tuple[ComparableText, Hashable]]:
    """Yield all texts, each with the images or the item that it is about."""
    for content in contents:
        for question in content.questions:
            for text in (question.question, *question.answers):
                yield text, question.about


def _parts(question: ItemQuestion) -> set[tuple[bool, Words]]:
    """The runs of words of a question (True) and of its answers (False)."""
    of_answers = {(False, run) for answer in question.answers for run in every_run(answer.words)}
    return {(True, run) for run in every_run(question.question.words)} | of_answers
