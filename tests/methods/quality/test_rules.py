"""The rules one by one: what each names, and what it leaves alone."""

import pytest

from methods.quality.languages import SCRIPTS_OF, language_fault
from methods.quality.leaks import SourceTexts, leak_in
from methods.quality.leftovers import leftover_in
from methods.quality.multilingual_refusals import refusal_in
from methods.quality.outcome import DialogueContent, QuestionAnswerPair, WriterContext
from methods.quality.personal_data import personal_data_in
from methods.quality.rules import RuleLimits, by_rules
from methods.quality.truncation import truncation_in

MILL = WriterContext(
    "Frostholm Mill",
    "A red windmill with four sails in a snowy field",
    "Brick was carried over the ice by sledge in 1872, and the tower was finished a year later.",
)


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("I cannot tell the year, but the boat is red.", None),
        ("<think>Hard.</think>Sorry, I can't help with that.", "Sorry, I can't help with that."),
        ("抱歉，我无法回答。", "抱歉，我无法回答。"),
        ("Tut mir leid, das kann ich nicht sagen.", "Tut mir leid, das kann ich nicht sagen."),
        ("No image was provided.", "No image was provided."),
        ("The photo didn't load.", "The photo didn't load."),
        ("That's not something I can do.", "That's not something I can do."),
        ("Je n'ai reçu aucune image.", "Je n'ai reçu aucune image."),
        # What the picture does not show is an answer, and so is what somebody in it says.
        ("I cannot see any people here.", None),
        ("There is no picture on the wall.", None),
        ("No photo is attached to the board.", None),
        ('He says "Sorry, I can\'t help you".', None),
        ("It is not appropriate to eat here, since it is a church.", None),
        # A long text that mentions an absent picture is an answer.
        ("There is no picture here of the door. " + "The wall is red and old. " * 12, None),
    ],
)
def test_refusals(answer: str, found: str | None) -> None:
    assert refusal_in(answer) == found


@pytest.mark.parametrize(
    ("question", "whole"),
    [
        ("Name three colours", True),
        ("Which is it", True),
        ("Describe the two mills.", True),
        ("Which of the two pictures shows", False),
        ("In <image-1>, how many of the boats are", False),
        ("What colour does the roof have", False),
    ],
)
def test_a_question_that_begins_as_one_has_its_mark(question: str, whole: bool) -> None:
    assert (truncation_in(question, asks=True) is None) == whole


def test_a_text_of_twelve_words_needs_a_full_stop_and_a_question_of_four_its_mark() -> None:
    assert truncation_in("Red and blue sails turn slowly on the old mill near water") is not None
    assert truncation_in("Red and blue sails turn slowly on the old mill nearby") is None
    assert truncation_in("What is shown here", asks=True) is not None
    assert truncation_in("What is shown", asks=True) is None


def test_a_text_is_in_the_wanted_language_until_something_tells_otherwise() -> None:
    assert language_fault("Art nouveau.", "en") is None
    assert language_fault("<image-1> 12 + 3", "zh") is None
    assert language_fault("La voiture est dans la rue, et le ciel est gris.", "fr") is None
    assert "fr" in str(language_fault("La voiture est dans la rue, et le ciel est gris.", "en"))
    assert "en" in str(language_fault("The car is in the street and the sky is grey.", "de"))
    assert "Han" in str(language_fault("红色的风车", "en"))
    assert language_fault("赤い風車が見えます。", "ja") is None
    assert language_fault("红色的风车在雪地里", "ja") == "Han characters without kana"
    assert "de" in str(language_fault("Was ist rot daran?", "en"))
    assert "uk" in str(language_fault("На зображенні видно млин, який стоїть у снігу.", "ru"))
    # Names and quotations are in any language.
    assert language_fault("Where might Juan Carlos de la Vega stand?", "en") is None
    assert language_fault('It reads "Betreten der Baustelle verboten" in red.', "en") is None
    # A quoted word in another script is no other language: one of four words.
    assert language_fault("The sign says 福", "en") is None


def test_every_language_that_can_be_wanted_is_found_to_be_itself() -> None:
    for language in SCRIPTS_OF:
        assert language_fault("", language) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("### A1: It is red.", "### A1:"),
        ("Answer: red.", "Answer:"),
        ("It is red.\nQ2: And this?", "Q2:"),
        ("It is red. Let me know if you want more.", "Let me know if you want more."),
        ("It is red.<|im_end|>", "<|im_end|>"),
        ("Sure! Here is what I see: a mill.", "Sure!"),
        ("Certainly! As for the light, it is dim.", "Certainly!"),
        ("Certainly, the light is dim.", None),
        ("Natürlich! Das Licht ist schwach.", "Natürlich!"),
        ("Das Licht ist schwach. Ich hoffe, das hilft!", "Ich hoffe, das hilft!"),
        ("Let me know, says the note on the fridge.", None),
        ("Feel free to take one, says the sign.", None),
        ("A: The left part. B: The right part.", None),
        ("As a text-based AI, I see a mill.", "As a text-based AI"),
        ("It is sold as an AI gadget.", None),
        ("### Composition\nIt is red.", None),
        ("A: It is red.", "A:"),
        ("The answer is red, the question is why.", None),
    ],
)
def test_leftovers(text: str, found: str | None) -> None:
    assert leftover_in(text) == found


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("What does <image-1> show?", None),
        ("Is Frostholm windy?", "the name Frostholm"),
        # A capital at the beginning of a sentence tells no name.
        ("Frost covers it. Mill or tower?", None),
        ("Was it built in 1872?", "the number 1872"),
        ("Was it built in 1873?", None),
        ("Why is a red windmill with four sails here?", "a caption has “a red windmill with four”"),
        ("Why is a red windmill in a field?", None),
        (
            "Was it carried over the ice by sledge in winter?",
            "a page has “carried over the ice by sledge in”",
        ),
    ],
)
def test_leaks(question: str, found: str | None) -> None:
    assert leak_in(question, SourceTexts.from_sources([MILL], 5)) == found


def test_the_same_words_on_other_pictures_are_another_question() -> None:
    def evidence(*questions: str) -> list[str | None]:
        pairs = [
            QuestionAnswerPair("d", str(turn), turn, question, "It is red, and it is large.")
            for turn, question in enumerate(questions, start=1)
        ]
        found = by_rules([DialogueContent("d", pairs, [])], RuleLimits())
        return [found["d", pair.question_id]["repeated"] for pair in pairs]

    one, other = (
        "Describe the light in <image-1> and its use.",
        "Describe the light in <image-2> and its use.",
    )
    assert evidence(one, other) == [None, None]
    assert evidence(one, other, one) == [None, None, "turn 1 asks nearly the same"]


def test_only_what_is_one_too_many_in_the_corpus_is_a_duplicate() -> None:
    dialogues = [
        DialogueContent(
            name,
            [QuestionAnswerPair(name, "q", 1, f"Describe the light in <image-{n}>.", "It is dim.")],
            [],
        )
        for n, name in enumerate("abc", start=1)
    ]
    found = by_rules(dialogues, RuleLimits(most_alike=2))
    assert [found[name, "q"]["near_duplicate"] for name in "abc"] == [
        None,
        None,
        "one of 3 questions like that of turn 1 of a",
    ]


@pytest.mark.parametrize("loop", ["\n", "\t", "-", "\n---"])
def test_a_model_that_repeated_itself_until_its_limit_is_read_to_the_end(loop: str) -> None:
    # In time that grows with the square of the length each of these would take longer than a test may.
    text = f"The boat is red.{loop * 60_000}It is old."
    assert truncation_in(text) is None
    assert leftover_in(text) is None
    assert refusal_in(text) is None
    assert personal_data_in(text) is None


@pytest.mark.parametrize(
    "answer",
    ["A320: two engines, one aisle.", "Q400: the aircraft has propellers.", "A380. The largest."],
)
def test_a_name_with_a_number_is_no_label(answer: str) -> None:
    assert leftover_in(answer) is None
