"""What a benchmark and an instruction set have in common, so that a model has seen what it is asked.

What belongs here: pages, images, near-duplicates and texts that two releases share. Dividing the
corpus, so that they share none, is `methods/image_sets/sides.py`.

Texts are compared by runs of 13 words, as in GPT-3 (Brown et al. 2020, C): a text is in another one
that has 70 % of its runs. A form of words is no item: "Which of the two is brighter?" may be asked of
any pictures. So a question that both have counts only where its answer is the same, too, or where one
of them has none to compare with; others are counted apart. An answer by itself counts only where one of
the two releases was imported: what was made here is of other pages and other pictures, and one writer
has the same phrases for many.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from methods.choice.lettered import LETTERS
from methods.prompts.messages import IMAGE_HERE

N_WORDS = 13
"""Words in a row that two texts have by chance hardly ever."""
SHARE = 0.7
"""Share of a text's runs that another one has to have: phrases are common to many texts (PaLM,
Chowdhery et al. 2022, 8)."""
LEAST_WORDS = 5
"""A shorter answer, such as a colour, is the same by chance: it counts with its question alone."""

Kind = Literal[
    "page", "image", "near_duplicate", "question", "answer", "form_of_words", "phrases_of_answer"
]
BLOCKING: tuple[Kind, ...] = ("page", "image", "near_duplicate", "question", "answer")
"""Kinds that no two releases of opposite roles may share; forms of words and phrases they may."""

_LABEL = re.compile(r"(?:\bimage\s*\d+\s*:\s*)?" + re.escape(IMAGE_HERE) + r"\.?|<image-\d+>", re.I)
# Languages that are written without spaces are compared character by character.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")

Words = tuple[str, ...]
Row = Mapping[str, Any]


class Asked(NamedTuple):
    """A question of an item and what answers it: nothing in a split that holds its answers out."""

    item_id: str
    question: Words
    answers: tuple[Words, ...]


@dataclass(frozen=True)
class Content:
    """What a release consists of: an item for each page (by URL) and each image, and all turns."""

    release_id: str
    pages: Mapping[str, str] = field(default_factory=dict)
    images: Mapping[str, str] = field(default_factory=dict)
    asked: Sequence[Asked] = ()
    imported: bool = False


class Shared(NamedTuple):
    """Something that a benchmark and an instruction set have both, with an item of either."""

    kind: Kind
    what: str
    benchmark: str
    item: str
    instruction: str
    of: str


def words(text: str) -> Words:
    """What texts are compared by: words in lower case, without places and numbers of images."""
    return tuple(_WORD.findall(_LABEL.sub(" ", text).casefold()))


def content_of(
    release_id: str, rows: Mapping[str, Sequence[Row]], *, imported: bool = False
) -> Content:
    """A release's content from the rows of its tables (images, turns, choices, references)."""
    choices = {(row["item_id"], row["position"]): row["choice"] for row in rows["choices"]}
    answers: dict[tuple[str, int], list[Words]] = defaultdict(list)
    for row in rows["references"]:
        text = row["reference"]
        if row["kind"] == "key":
            text = choices.get((row["item_id"], LETTERS.find(text) + 1), "")
        if found := words(text):
            answers[row["item_id"], row["turn"]].append(found)
    for row in rows["turns"]:
        if found := words(row.get("given") or ""):
            answers[row["item_id"], row["turn"]].append(found)
    asked = [
        Asked(
            row["item_id"],
            words(row["question"]),
            tuple(answers[row["item_id"], row["turn"]]),
        )
        for row in rows["turns"]
    ]
    pages = {row["page_url"]: row["item_id"] for row in rows["images"] if row.get("page_url")}
    images = {row["image_id"]: row["item_id"] for row in rows["images"]}
    return Content(release_id, pages, images, asked, imported)


def shared(
    benchmarks: Sequence[Content],
    instructions: Sequence[Content],
    alike: Mapping[str, str] | None = None,
) -> Iterator[Shared]:
    """All that one of the benchmarks and one of the instruction sets have both.

    `alike` has for images of instruction sets that look like one of a benchmark that one. Benchmarks
    are indexed and instruction sets read once: the work is linear in the texts of both.
    """
    index = _Index(benchmarks)
    for instruction in instructions:
        for benchmark in benchmarks:
            names = (benchmark.release_id, instruction.release_id)
            yield from _both("page", benchmark.pages, instruction.pages, names)
            yield from _both("image", benchmark.images, instruction.images, names)
            for image_id, like in (alike or {}).items():
                if image_id != like and image_id in instruction.images and like in benchmark.images:
                    of = (benchmark.images[like], instruction.images[image_id])
                    yield Shared("near_duplicate", like, names[0], of[0], names[1], of[1])
        for asked in instruction.asked:
            yield from index.met(instruction, asked)


def _both(
    kind: Kind, first: Mapping[str, str], second: Mapping[str, str], names: tuple[str, str]
) -> Iterator[Shared]:
    for what in sorted(first.keys() & second.keys()):
        yield Shared(kind, what, names[0], first[what], names[1], second[what])


class _Index:
    """The runs of words of benchmarks' questions and answers, each with the texts that have it."""

    def __init__(self, benchmarks: Sequence[Content]):
        turns = [(each.release_id, asked) for each in benchmarks for asked in each.asked]
        self._imported = {each.release_id for each in benchmarks if each.imported}
        self._questions = _Texts((asked.question, (of, asked)) for of, asked in turns)
        self._answers = _Texts(
            (answer, (of, asked))
            for of, asked in turns
            for answer in asked.answers
            if len(answer) >= LEAST_WORDS
        )

    def met(self, instruction: Content, asked: Asked) -> Iterator[Shared]:
        """What a turn of an instruction set shares with turns of the benchmarks."""
        release_id = instruction.release_id
        for answer in asked.answers:
            for benchmark, of, run in self._answers.in_text(answer):
                elsewhere = instruction.imported or benchmark in self._imported
                what: Kind = "answer" if elsewhere else "phrases_of_answer"
                yield Shared(what, run, benchmark, of.item_id, release_id, asked.item_id)
        for benchmark, of, run in self._questions.in_text(asked.question):
            same = _same_answer(of.answers, asked.answers)
            kind: Kind = "question" if same else "form_of_words"
            yield Shared(kind, run, benchmark, of.item_id, release_id, asked.item_id)


class _Texts:
    """Texts by their runs of words."""

    def __init__(self, texts: Iterable[tuple[Words, tuple[str, Asked]]]):
        self._of: list[tuple[str, Asked]] = []
        self._n_runs: list[int] = []
        self._with: dict[Words, list[int]] = defaultdict(list)
        for number, (text, of) in enumerate(texts):
            runs = _runs(text)
            self._of.append(of)
            self._n_runs.append(len(runs))
            for run in runs:
                self._with[run].append(number)

    def in_text(self, text: Words) -> Iterator[tuple[str, Asked, str]]:
        """Whose texts this one has most of, and the first run of words of each that it has."""
        first: dict[int, Words] = {}
        n_found: Counter[int] = Counter()
        for run in _runs(text):
            for number in self._with.get(run, ()):
                first.setdefault(number, run)
                n_found[number] += 1
        for number, n in sorted(n_found.items()):
            if n >= SHARE * self._n_runs[number]:
                yield *self._of[number], " ".join(first[number])


def _runs(text: Words) -> list[Words]:
    """Each run of 13 words of a text once, in order; a shorter one as a whole."""
    n_runs = max(1, len(text) - N_WORDS + 1) if text else 0
    return list(dict.fromkeys(text[start : start + N_WORDS] for start in range(n_runs)))


def _same_answer(first: Sequence[Words], second: Sequence[Words]) -> bool:
    """Whether two of them are one, as far as can be told: a short one may stand within the other."""
    if not first or not second:
        return True
    return any(_is_in(one, other) for one in first for other in second)


def _is_in(one: Words, other: Words) -> bool:
    """Whether the other text has most of this one, or the shorter of the two is within the longer."""
    short, long = sorted((one, other), key=len)
    if len(short) < N_WORDS:
        places = range(len(long) - len(short) + 1)
        return any(long[start : start + len(short)] == short for start in places)
    runs, known = _runs(one), set(_runs(other))
    return sum(run in known for run in runs) >= SHARE * len(runs)
