"""Rule-based quality checks of question-answer pairs: all rules on the dialogues of a corpus."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from methods.prompts.material import mention_of_material
from methods.quality.languages import language_fault
from methods.quality.leaks import SourceTexts, leak_in
from methods.quality.leftovers import leftover_in
from methods.quality.multilingual_refusals import refusal_in
from methods.quality.named_pictures import missing_picture
from methods.quality.near_questions import (
    asks_in_other_words,
    asks_the_same,
    content_words,
    first_alike,
    is_reworded,
    without_numbers,
)
from methods.quality.outcome import (
    LANGUAGE,
    LEAK,
    LEFTOVER,
    LENGTH,
    MATERIAL,
    NEAR_DUPLICATE,
    PERSONAL_DATA,
    REFUSAL,
    REPEATED,
    TRUNCATION,
    DialogueContent,
    QuestionAnswerPair,
)
from methods.quality.personal_data import personal_data_in
from methods.quality.truncation import truncation_in
from methods.review.kinds import MOST_TURNS
from methods.words import n_words

_NAMED = re.compile(r"<image-\d+>")
_RUN = re.compile(r"\s{2,}")
MOST_COMPARED = 50_000_000
"""The most characters of a dialogue times its turns whose questions are compared with each other for
the same meaning; this takes about 1 s."""
FloatArray = NDArray[np.float32]
Evidence = dict[str, str | None]
"""The evidence of each check, by its name; None if it found nothing."""


class RuleLimits(NamedTuple):
    """The limits of the rules.

    Attributes:
        language: The language of the texts.
        leak_words: The number of consecutive words of a caption that count as a copy.
        alike: The lowest Jaccard index of the word bigrams of repeated questions, 0 to 1.
        reworded: The lowest cosine similarity of reworded questions, -1 to 1.
        most_alike: The number of similar questions in a corpus from which further ones are duplicates.
    """

    language: str = "en"
    fewest_question_words: int = 3
    fewest_answer_words: int = 5
    most_answer_words: int = 1500
    leak_words: int = 5
    alike: float = 0.7
    reworded: float = 0.75
    most_alike: int = 20


def by_rules(
    dialogues: Sequence[DialogueContent],
    limits: RuleLimits,
    vectors: Mapping[tuple[str, str], FloatArray] | None = None,
) -> dict[tuple[str, str], Evidence]:
    """Apply the rules to every pair.

    Args:
        dialogues: The dialogues of a corpus.
        limits: The limits of the rules.
        vectors: Two unit vectors of each pair, shape (2, d), by dialogue and question: of the question,
            and of the question with its answer. Without them, reworded questions are found by their
            words only.

    Returns:
        The evidence of each check, by dialogue and question.
    """
    in_corpus = _near_duplicates(dialogues, limits)
    evidence: dict[tuple[str, str], Evidence] = {}
    for dialogue in dialogues:
        repeated = _repeated(dialogue, limits)
        same, reworded = _in_other_words(dialogue, limits, vectors)
        unmarked = _unmarked(dialogue)
        sources = SourceTexts.from_sources(dialogue.sources, limits.leak_words)
        for pair in dialogue.pairs:
            place = (pair.dialogue_id, pair.question_id)
            evidence[place] = {
                **_in_texts(
                    pair, limits, dialogue.n_pictures, marks=pair.question_id not in unmarked
                ),
                LEAK: leak_in(pair.question, sources),
                REPEATED: repeated.get(pair.question_id) or same.get(pair.question_id),
                NEAR_DUPLICATE: in_corpus.get(place) or reworded.get(pair.question_id),
            }
    return evidence


def _in_texts(
    pair: QuestionAnswerPair, limits: RuleLimits, n_pictures: int, *, marks: bool
) -> Evidence:
    """The findings of the rules that read a single pair.

    `marks` tells whether the writer ends answers with a punctuation mark. Two rules search around
    blanks: long runs of them, which would take quadratic time, are shortened for these.
    """
    short = pair._replace(question=_without_runs(pair.question), answer=_without_runs(pair.answer))
    return {
        REFUSAL: refusal_in(pair.answer),
        TRUNCATION: _truncation(short, limits.language, marks=marks),
        LENGTH: _length(pair, limits),
        LANGUAGE: _first(pair, lambda text: language_fault(text, limits.language)),
        LEFTOVER: _first(pair, leftover_in),
        MATERIAL: _first(pair, mention_of_material)
        or _first(short, lambda text: missing_picture(text, n_pictures)),
        PERSONAL_DATA: _first(pair, personal_data_in),
    }


def _without_runs(text: str) -> str:
    """Shorten each run of whitespace to one blank or at most two line breaks."""
    return _RUN.sub(lambda run: "\n" * min(2, run[0].count("\n")) or " ", text)


def _first(pair: QuestionAnswerPair, rule: Callable[[str], str | None]) -> str | None:
    for name, text in (("question", pair.question), ("answer", pair.answer)):
        if evidence := rule(text):
            return f"{name}: {evidence}"
    return None


def _truncation(pair: QuestionAnswerPair, language: str, *, marks: bool) -> str | None:
    if evidence := truncation_in(pair.question, language, asks=True):
        return f"question: {evidence}"
    evidence = truncation_in(pair.answer, language, marks=marks)
    return f"answer: {evidence}" if evidence else None


def _length(pair: QuestionAnswerPair, limits: RuleLimits) -> str | None:
    n_question_words, answered = n_words(pair.question), n_words(pair.answer)
    if n_question_words < limits.fewest_question_words:
        return f"question: {n_question_words} words, at least {limits.fewest_question_words}"
    if answered < limits.fewest_answer_words:
        return f"answer: {answered} words, at least {limits.fewest_answer_words}"
    if answered > limits.most_answer_words:
        return f"answer: {answered} words, at most {limits.most_answer_words}"
    return None


def _repeated(dialogue: DialogueContent, limits: RuleLimits) -> dict[str, str]:
    """The evidence for repeated questions, by question id.

    A question repeats an earlier one of the dialogue if both name the same images and have the same
    content words, in nearly the same order.
    """
    questions = defaultdict[tuple[frozenset[str], frozenset[str]], list[QuestionAnswerPair]](list)
    for pair in dialogue.pairs:
        named = frozenset(_NAMED.findall(pair.question))
        questions[named, content_words(pair.question, limits.language)].append(pair)
    evidence = {}
    for pairs in questions.values():
        first = first_alike([pair.question for pair in pairs], limits.alike)
        for place, (pair, leader) in enumerate(zip(pairs, first, strict=True)):
            if leader != place:
                evidence[pair.question_id] = f"turn {pairs[leader].turn} asks nearly the same"
    return evidence


def _in_other_words(
    dialogue: DialogueContent,
    limits: RuleLimits,
    vectors: Mapping[tuple[str, str], FloatArray] | None,
) -> tuple[dict[str, str], dict[str, str]]:
    """The evidence for questions that differ from an earlier one only in asking words, and for
    paraphrases of an earlier question, by question id.

    Both questions must name the same images, and their answers must be similar. Each question is
    compared with each other one, so dialogues of more than MOST_TURNS turns, and those of more than
    MOST_COMPARED characters times turns, are left out.
    """
    same: dict[str, str] = {}
    reworded: dict[str, str] = {}
    n_turns = len(dialogue.pairs)
    n_characters = sum(len(pair.question) + len(pair.answer) for pair in dialogue.pairs)
    if n_turns > MOST_TURNS or n_turns * n_characters > MOST_COMPARED:
        return same, reworded
    for place, pair in enumerate(dialogue.pairs):
        current = (pair.question, pair.answer)
        named = frozenset(_NAMED.findall(pair.question))
        for earlier in dialogue.pairs[:place]:
            if named != frozenset(_NAMED.findall(earlier.question)):
                continue
            previous = (earlier.question, earlier.answer)
            if asks_the_same(previous, current, limits.language):
                same[pair.question_id] = f"turn {earlier.turn} asks nearly the same"
            elif asks_in_other_words(previous, current, limits.language) or is_reworded(
                previous, current, _similarity(vectors, pair, earlier), limits.reworded
            ):
                reworded[pair.question_id] = f"turn {earlier.turn} asks the same in other words"
    return same, reworded


def _similarity(
    vectors: Mapping[tuple[str, str], FloatArray] | None,
    later: QuestionAnswerPair,
    earlier: QuestionAnswerPair,
) -> float:
    """The lower of two cosine similarities: of the questions, and of the questions with their answers.

    One alone does not suffice: long answers about one image are similar to each other, and so are
    questions that differ in one word. Without vectors the result is -1.
    """
    if vectors is None:
        return -1.0
    first, second = (vectors[pair.dialogue_id, pair.question_id] for pair in (later, earlier))
    return float((first * second).sum(axis=1).min())


def _unmarked(dialogue: DialogueContent) -> set[str]:
    """The ids of questions in dialogues in which at least half of the other answers end without a
    punctuation mark. There a missing mark is the writer's style and no sign of truncation.
    """
    without = [pair.answer.rstrip()[-1:].isalnum() for pair in dialogue.pairs]
    others = len(without) - 1
    return {
        pair.question_id
        for pair, is_without in zip(dialogue.pairs, without, strict=True)
        if others > 0 and 2 * (sum(without) - is_without) >= others
    }


def _near_duplicates(
    dialogues: Iterable[DialogueContent], limits: RuleLimits
) -> dict[tuple[str, str], str]:
    """The evidence for near-duplicate questions of the corpus, by dialogue and question.

    In each group of similar questions, the first `most_alike` questions are no duplicates.
    """
    pairs = [pair for dialogue in dialogues for pair in dialogue.pairs]
    groups = first_alike([without_numbers(pair.question) for pair in pairs], limits.alike)
    sizes, n_seen = Counter(groups), Counter[int]()
    evidence = {}
    for pair, group in zip(pairs, groups, strict=True):
        n_seen[group] += 1
        if n_seen[group] > limits.most_alike:
            earlier = pairs[group]
            evidence[pair.dialogue_id, pair.question_id] = (
                f"one of {sizes[group]} questions like that of turn {earlier.turn} of "
                f"{earlier.dialogue_id}"
            )

    return evidence
