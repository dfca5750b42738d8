"""The rules one by one: what each names, and what it leaves alone."""

import pytest

from methods.quality.languages import SCRIPTS_OF, language_fault
from methods.quality.leaks import SourceTexts, leak_in
from methods.quality.leftovers import leftover_in
from methods.quality.multilingual_refusals import refusal_in
from methods.quality.outcome import DialogueContent, QuestionAnswerPair, WriterContext
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
        ("No image was provided.", "No image was provided."),
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


def test_the_same_words_on_other_pictures_are_another_question() -> None:
    def evidence(*pictures: int) -> list[str | None]:
        pairs = [
            QuestionAnswerPair("d", str(turn), turn, LIGHT.format(number), "It is red and large.")
            for turn, number in enumerate(pictures, start=1)
        ]
        found = by_rules([DialogueContent("d", pairs, [])], RuleLimits())
        return [found["d", pair.question_id]["repeated"] for pair in pairs]

    assert evidence(1, 2) == [None, None]
    assert evidence(1, 2, 1) == [None, None, "turn 1 asks nearly the same"]


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


LOOK_LIKE_FAULTS = {
    "What do both share?": "Both of them show:\n- a wide sky\n- one building\n- bare ground",
    "Which letters can be read on the sign?": "The sign reads 'MILL', in capitals.",
    "How would you name the mood in one word?": "Quiet, with a little melancholy.",
    "Is the year on the wall readable?": "I cannot tell the exact year, but the wall is clearly old.",
    "What could a visitor say here?": 'A visitor might say: "I am sorry, I am late."',
    "Which colours would a painter mix?": "A painter would mix white, grey and a touch of blue (cool).",
    "Describe the table.": "| part | colour |\n| --- | --- |\n| top | brown |\n| legs | black |",
    "How is the light distributed?": "### Left\nThe left is bright.\n\n### Right\nThe right is dark.",
    "What do the French words mean?": '"Pain et vin" means bread and wine, and both are shown.',
    "What stands over the gate?": "Over the gate stands 福, a character that wishes good luck.",
    "What sort of text might hang below it?": "A short label such as one finds in a museum would fit.",
    "How far apart are they?": "About 120 metres, judging by the size of the doors between them.",
    "Which number is on the tram?": "The tram has the number 2047, written in white on green.",
    "Why is it small?": "Perhaps because heat is lost through it; the wind, too, comes from there.",
    "What is the answer to the riddle of its shape?": "It is an octagon: eight sides, eight corners.",
    "Which question does it raise?": "The question it raises is who left the ladder there, and why.",
    "Which word is written on the sign?": 'The word on the sign is "Mühle", which is German for mill.',
    "What is pinned to the fridge?": "Let me know, says the note on the fridge, above a telephone.",
    "What is on it?": "Seen from the left and read from top to bottom, the number on the board is 16",
    "How do the two parts differ?": "A: The left part is bright. B: The right part is dim and blue.",
    "What runs along the frame?": "A caption painted in gold runs along the lower edge of the frame.",
    "Are there any people to be seen?": "I cannot see any people in either of the two scenes.",
    "What does it say?": 'It says "Der Mensch denkt, und Gott lenkt, so ist es von alters her".',
    "What was unloaded there?": "Nothing arrived at the pier today, to judge by the empty crates.",
    "Where might Juan Carlos de la Vega stand?": "He might stand on the left, by the door.",
    "What does the code do?": "It prints a line:\n\n```\nprint('mill')\n```\n\nNothing more.",
}


def test_what_looks_like_a_fault_and_is_none_passes() -> None:
    pairs = [
        QuestionAnswerPair("d", str(turn), turn, question, answer)
        for turn, (question, answer) in enumerate([CLEAN, *LOOK_LIKE_FAULTS.items()], 1)
    ]
    evidence = by_rules([DialogueContent("d", pairs, [MILL])], RuleLimits())
    assert [found for found in evidence.values() if any(found.values())] == []
