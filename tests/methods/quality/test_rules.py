"""The rules one by one: what each names, and what it leaves alone."""

import pytest

from methods.quality.languages import SCRIPTS_OF, language_fault
from methods.quality.leaks import SourceTexts, leak_in
from methods.quality.leftovers import leftover_in
from methods.quality.outcome import DialogueContent, QuestionAnswerPair, WriterContext
from methods.quality.rules import RuleLimits, by_rules
from methods.quality.truncation import truncation_in

MILL = WriterContext(
    "Frostholm Mill",
    "A red windmill with four sails in a snowy field",
    "Brick was carried over the ice by sledge in 1872, and the tower was finished a year later.",
)


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


@pytest.mark.parametrize(
    ("text", "language", "named"),
    [
        ("Art nouveau.", "en", None),
        ("<image-1> 12 + 3", "zh", None),
        ("La voiture est dans la rue, et le ciel est gris.", "fr", None),
        ("La voiture est dans la rue, et le ciel est gris.", "en", "fr"),
        ("The car is in the street and the sky is grey.", "de", "en"),
        ("红色的风车", "en", "Han"),
        ("赤い風車が見えます。", "ja", None),
        ("红色的风车在雪地里", "ja", "Han characters without kana"),
        ("Was ist rot daran?", "en", "de"),
        ("На зображенні видно млин, який стоїть у снігу.", "ru", "uk"),
        # Names and quotations are in any language.
        ("Where might Juan Carlos de la Vega stand?", "en", None),
        ('It reads "Betreten der Baustelle verboten" in red.', "en", None),
        # A quoted word in another script is no other language: one of four words.
        ("The sign says 福", "en", None),
        *(("", language, None) for language in SCRIPTS_OF),
    ],
)
def test_a_text_is_in_the_wanted_language_until_something_tells_otherwise(text, language, named):
    fault = language_fault(text, language)
    assert named in fault if named else fault is None


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
        ("A: The left part. B: The right part.", None),
        ("As a text-based AI, I see a mill.", "As a text-based AI"),
        ("It is sold as an AI gadget.", None),
        ("### Composition\nIt is red.", None),
        ("A: It is red.", "A:"),
        ("The answer is red, the question is why.", None),
        # A name with a number is no label.
        ("A320: two engines, one aisle.", None),
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


def test_chinese_characters_of_a_source_in_a_row_leak() -> None:
    sources = SourceTexts.from_sources(
        [WriterContext("风车", "雪地里的一座红色四叶塔式风车", "")], 5
    )
    assert "雪地里的一座" in (leak_in("雪地里的一座红色四叶塔式风车有什么特点？", sources) or "")
    assert leak_in("图中的建筑有什么特点？", sources) is None


LIGHT = "Describe the light in <image-{}> and its use."


def test_only_what_is_one_too_many_in_the_corpus_is_a_duplicate() -> None:
    dialogues = [
        DialogueContent(name, [QuestionAnswerPair(name, "q", 1, LIGHT.format(n), "It is dim.")], [])
        for n, name in enumerate("abc", start=1)
    ]
    found = by_rules(dialogues, RuleLimits(most_alike=2))
    told = [found[name, "q"]["near_duplicate"] for name in "abc"]
    assert told == [None, None, "one of 3 questions like that of turn 1 of a"]


CLEAN = ("What stands in the field?", "A red mill with four white sails.")


@pytest.mark.parametrize(
    ("check", "question", "answer"),
    [
        ("refusal", None, "Sorry, I can't help with that request today."),
        ("truncation", "Which of the two pictures shows the", None),
        ("truncation", None, "It shows a wide field and the"),
        ("length", "Why so?", None),
        ("length", None, "It is quite red."),
        ("length", None, "It is red. " * 501),
        ("language", "Was sieht man hier auf dem Bild?", None),
        ("language", None, "Auf dem Feld steht eine rote Windmühle."),
        ("leftover", "Q2: What stands in the field?", None),
        ("leftover", None, "Answer: A red mill with four white sails."),
        ("material", "What does the caption say of it?", None),
        ("material", None, "According to the caption, it is a red mill."),
        ("leak", "How does Frostholm look in winter?", None),
        ("personal_data", "Does a.b@example.org stand on the sign?", None),
        ("personal_data", None, "The sign says: Write to a.b@example.org."),
    ],
)
def test_a_rule_reads_the_questions_and_the_answers_that_it_is_for(check, question, answer):
    pair = QuestionAnswerPair("d", "q", 1, question or CLEAN[0], answer or CLEAN[1])
    evidence = by_rules([DialogueContent("d", [pair], [MILL])], RuleLimits())["d", "q"]
    assert [name for name, found in evidence.items() if found] == [check]
