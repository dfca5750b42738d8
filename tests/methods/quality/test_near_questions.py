"""Groups of questions that are nearly the same, against comparing each with each."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.quality import near_questions, rules
from methods.quality.near_questions import first_alike, jaccard, without_numbers, word_pairs
from methods.quality.outcome import DialogueContent, QuestionAnswerPair
from methods.quality.rules import MOST_COMPARED, RuleLimits, by_rules
from methods.review.kinds import MOST_TURNS

WORDS = st.lists(st.sampled_from(["red", "blue", "mill", "sky", "snow"]), max_size=7).map(" ".join)


def each_with_each(texts: list[str], threshold: float) -> list[int]:
    """The same by its definition."""
    sets, leaders, found = [word_pairs(text) for text in texts], [], []
    for place, own in enumerate(sets):
        best = next((each for each in leaders if jaccard(own, sets[each]) >= threshold), place)
        if best == place:
            leaders.append(place)
        found.append(best)
    return found


@given(st.lists(WORDS, max_size=12), st.sampled_from([0.3, 0.5, 0.7, 0.8, 1.0]))
def test_the_groups_are_those_of_comparing_each_with_each(texts, threshold):
    assert first_alike(texts, threshold) == each_with_each(texts, threshold)


def test_the_index_is_that_of_word_pairs() -> None:
    # ^ a, a b, b $ and ^ a, a c, c $ share one of five.
    assert jaccard(word_pairs("a b"), word_pairs("A c!")) == 1 / 5
    # Of ^ a, a b, b c, c $ and ^ a, a b, b d, d $ the two that both have are the frequent ones: two
    # of six, so the first of them is the third and last of 4 - ceil(4 / 3) + 1.
    assert first_alike(["a b c", "a b d"], 1 / 3) == [0, 0]
    # Pictures count as one whatever their numbers.
    assert without_numbers("Compare <image-1>, <image-2> and <image-3>.") == "Compare <image-0>."


def test_many_questions_are_grouped_without_comparing_each_with_each() -> None:
    texts = [f"What does the {n} on the {n * 7919 % 10007} tell?" for n in range(2_000)]
    assert first_alike([*texts, *texts], 0.7)[len(texts) :] == first_alike(texts, 0.7)


ENGLISH = (
    "Comparing <image-1> and <image-2>, which of the two buildings looks older, and which "
    "architectural details, such as windows, doors and towers, make you think so?"
)
CHINESE = "请比较<image-1>和<image-2>，两座建筑哪座看起来更古老，从窗户、门和塔楼等细节看出什么？"


@pytest.mark.parametrize(
    ("language", "question", "old", "new", "same"),
    [
        ("en", ENGLISH, "older", "taller", False),
        ("en", ENGLISH, "doors", "shadows", False),
        ("en", "Where in <image-1> does the old man with the hat stand?", "Where", "Why", False),
        ("zh", CHINESE, "古老", "高大", False),
        ("en", ENGLISH, "windows", "the windows", True),
        ("en", ENGLISH, "?", ", would you say?", True),
        ("zh", CHINESE, "请", "", True),
    ],
)
def test_one_other_word_of_content_makes_another_question(language, question, old, new, same):
    answer = "The left one, and it is red."
    checks = found((question, answer), (question.replace(old, new), answer), language)
    assert ("repeated" in checks) == same


def found(
    one: tuple[str, str],
    other: tuple[str, str],
    language: str = "en",
    cosines: tuple[float, ...] = (),
) -> dict[str, str]:
    """Whether the second of two pairs asks the same again: the checks that say so, and what they say.

    `cosines` are those of the questions, alone and with their answers.
    """
    pairs = [QuestionAnswerPair("d", str(n), n, *pair) for n, pair in enumerate((one, other), 1)]
    vectors = {
        ("d", "1"): np.array([[1, 0], [1, 0]], dtype=np.float32),
        ("d", "2"): np.array([[each, np.sqrt(1 - each**2)] for each in cosines], dtype=np.float32),
    }
    dialogue, limits = DialogueContent("d", pairs, []), RuleLimits(language=language)
    evidence = by_rules([dialogue], limits, vectors if cosines else None)["d", "2"]
    return {check: said for check in ("repeated", "near_duplicate") if (said := evidence[check])}


HELD = ("What does the woman hold in her hand?", "She holds a closed umbrella.")
HAND = "Which object does the woman hold in her hand?"
LION, MILL, POND = "A stone lion with a ball.", "A mill in the snow.", "On a hill behind the pond."
STORM = "A storm came up from the north."
PAINTER = "By which person was the mill painted?"


@pytest.mark.parametrize(
    ("one", "other", "check"),
    [
        (HELD, (HAND, "A closed umbrella is in her hand."), {"repeated"}),
        (
            ("Who painted the mill?", "Aldo Brennick painted it."),
            (PAINTER, "It was painted by Aldo Brennick."),
            {"repeated"},
        ),
        (
            ("What made the sailors leave the harbour?", STORM),
            ("Why did the sailors leave?", "Because a storm came from the north."),
            {"near_duplicate"},
        ),
        # The answer is another one, or the question is about something else.
        (HELD, (HAND, "A letter with a red seal."), set()),
        (("What colour is the hat?", "It is red."), ("What colour is the coat?", "Red."), set()),
        *(
            ((question, answer), (question.replace(old, new), answer), set())
            for question, answer, old, new in (
                ("What stands on the left of the gate?", LION, "left", "right"),
                ("What does the first picture show?", MILL, "first", "second"),
                ("Where in <image-1> is the mill?", POND, "image-1", "image-2"),
            )
        ),
    ],
)
def test_other_words_for_the_same_are_told_by_the_answer(one, other, check):
    assert found(one, other).keys() == check


@pytest.mark.parametrize(("language", "checks"), [("de", {"near_duplicate"}), ("el", set())])
def test_in_german_and_in_a_language_without_a_table(language, checks) -> None:
    storm = "Ein Sturm zog von Norden auf."
    one = ("Warum verließen die Seeleute den Hafen?", storm)
    other = ("Wieso verließen die Seeleute den Hafen so schnell?", storm)
    assert found(one, other, language).keys() == checks


def test_a_pair_is_a_rewording_from_the_cosine_on() -> None:
    one = ("What is the sea like?", "It is calm.")
    other = ("How would one describe the water?", "Without waves.")
    reworded = {"near_duplicate": "turn 1 asks the same in other words"}
    assert found(one, other, cosines=(0.76, 0.76)) == reworded
    # Long answers about one picture are always alike, and so are questions that differ in one word.
    assert not found(one, other, cosines=(0.74, 0.9)) and not found(one, other, cosines=(0.9, 0.74))
    # Without vectors only the words are compared.
    assert not found(one, other)
    # Another direction, colour or picture asks something else.
    for question, old, new in (
        ("What is in her right hand?", "right", "left"),
        ("Who wears the red hat?", "red", "blue"),
        ("What shows <image-1>?", "1", "2"),
    ):
        one, other = (question, "A torch."), (question.replace(old, new), "A tablet.")
        assert not found(one, other, cosines=(0.99, 0.99))


def in_other_words(n_turns: int, answer: str) -> int:
    """How many of the questions in turn are said to ask the same; each one does, from the second on."""
    texts = (HELD[0], HAND)
    pairs = [
        QuestionAnswerPair("d", str(turn), turn, texts[turn % 2], answer) for turn in range(n_turns)
    ]
    same, _ = rules._in_other_words(DialogueContent("d", pairs, []), RuleLimits(), None)
    return len(same)


def test_the_turns_of_a_dialogue_are_compared_up_to_a_limit() -> None:
    assert in_other_words(27, HELD[1]) == 26
    assert in_other_words(MOST_TURNS + 1, HELD[1]) == 0
    assert in_other_words(27, "word " * (MOST_COMPARED // 27**2 // 5 + 1)) == 0


def test_each_text_of_a_dialogue_is_split_into_words_once(monkeypatch) -> None:
    texts = []
    split = near_questions.comparable_text
    monkeypatch.setattr(
        near_questions, "comparable_text", lambda text: texts.append(text) or split(text)
    )
    pairs = [
        QuestionAnswerPair("d", str(turn), turn, f"Once: what is object {turn} here?", "A mill.")
        for turn in range(MOST_TURNS)
    ]
    by_rules([DialogueContent("d", pairs, [])], RuleLimits())
    assert len(texts) == MOST_TURNS
