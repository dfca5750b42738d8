"""The rules one by one: what each names, and what it leaves alone."""

import pytest

from methods.quality.languages import SCRIPTS_OF, language_fault
from methods.quality.leaks import SourceTexts, leak_in
from methods.quality.leftovers import leftover_in
from methods.quality.outcome import DialogueContent, QuestionAnswerPair, WriterContext
from methods.quality.personal_data import personal_data_in
from methods.quality.refusal_phrases import NO_PICTURE
from methods.quality.rules import RuleLimits, by_rules
from methods.quality.truncation import truncation_in

MILL = WriterContext(
    "Frostholm Mill",
    "A red windmill with four sails in a snowy field",
    "Brick was carried over the ice by sledge in 1872, and the tower was finished a year later.",
)


def test_a_text_of_twelve_words_needs_a_full_stop_and_a_question_of_four_its_mark() -> None:
    assert truncation_in("Red and blue sails turn slowly on the old mill near water") is not None
    assert truncation_in("Red and blue sails turn slowly on the old mill nearby") is None
    assert truncation_in("What is shown here", asks=True) is not None
    assert truncation_in("What is shown", asks=True) is None
    assert truncation_in("¿Lo has visto tú ya", "es", asks=True) is not None
    assert truncation_in("In <image-1>, how many of the boats are", asks=True) is not None


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Why?", "Look at picture" + " " * 1_000_000 + "end"),
        ("Why?", "Red and blue sails turn slowly on the old mill near" + "\n" * 1_000_000 + "end"),
        ("Why?", "his second picture, " * 50_000),
        ("Why?", "..…" * 300_000 + "x"),
        ("Why?", "There is no image " + "seem to have " * 40 + "x."),
        ("go" + ", what" * 100_000 + ". x", "Red."),
    ],
)
def test_texts_that_are_made_to_be_searched_again_and_again_are_read_in_one_pass(
    question: str, answer: str
) -> None:
    content = DialogueContent("d", [QuestionAnswerPair("d", "1", 1, question, answer)], [], 1)
    assert len(by_rules([content], RuleLimits())) == 1
    assert not NO_PICTURE.search("no image " + "seems to have " * 40 + "x")


@pytest.mark.parametrize(
    ("text", "language", "named"),
    [
        ("<image-1> 12 + 3", "zh", None),
        ("La voiture est dans la rue, et le ciel est gris.", "fr", None),
        ("La voiture est dans la rue, et le ciel est gris.", "en", "fr"),
        ("The car is in the street and the sky is grey.", "de", "en"),
        ("红色的风车", "en", "Han"),
        ("红色的风车在雪地里", "ja", "Han characters without kana"),
        ("На зображенні видно млин, який стоїть у снігу.", "ru", "uk"),
        # Names and quotations are in any language.
        ("Where might Juan Carlos de la Vega stand?", "en", None),
        ('It reads "Betreten der Baustelle verboten" in red.', "en", None),
        # A quoted word in another script is no other language: one of four words.
        ("The sign says 福", "en", None),
        *(("", language, None) for language in SCRIPTS_OF),
        # There are exponentially many ways to divide these into names.
        *((names, "zh", "Latin") for names in ("A-" * 60 + "A x", "A 1. " * 60 + "x")),
    ],
)
def test_a_text_is_in_the_wanted_language_until_something_tells_otherwise(text, language, named):
    fault = language_fault(text, language)
    assert named in fault if named else fault is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It is red.\nQ2: And this?", "Q2:"),
        ("It is red. Let me know if you want more.", "Let me know if you want more."),
        ("It is red.<|im_end|>", "<|im_end|>"),
        ("Sure! Here is what I see: a mill.", "Sure!"),
        ("Certainly! As for the light, it is dim.", "Certainly!"),
        ("Certainly, the light is dim.", None),
        ("Das Licht ist schwach. Ich hoffe, das hilft!", "Ich hoffe, das hilft!"),
        ("Let me know, says the note on the fridge.", None),
        ("A: The left part. B: The right part.", None),
        ("As a text-based AI, I see a mill.", "As a text-based AI"),
        ("### Composition\nIt is red.", None),
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
        (
            "Was it carried over the ice by sledge in winter?",
            "a page has “carried over the ice by sledge in”",
        ),
    ],
)
def test_leaks(question: str, found: str | None) -> None:
    assert leak_in(question, SourceTexts.from_sources([MILL], 5)) == found


def test_chinese_characters_of_a_source_in_a_row_leak() -> None:
    mill = WriterContext("风车", "雪地里的一座红色四叶塔式风车", "")
    sources = SourceTexts.from_sources([mill], 5)
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


CLEAN = ("What stands there?", "A red mill with four white sails.")


@pytest.mark.parametrize(
    ("check", "question", "answer"),
    [
        ("truncation", "Which of the two pictures shows the", None),
        ("truncation", None, "It shows a wide field and the"),
        ("length", "Why so?", None),
        ("length", None, "It is red. " * 501),
        ("language", "Was sieht man hier auf dem Bild?", None),
        ("language", None, "Auf dem Feld steht eine rote Windmühle."),
        ("leftover", "Q2: What stands in the field?", None),
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


WANTED = [
    # Names in another script.
    ("zh", "<image-1> 是 Canon EOS 5D Mark IV，<image-2> 是 Nikon D850。"),
    ("zh", "这是 (Great Wall) 长城。"),
    ("ru", "На фото Boeing 747-400 компании British Airways."),
    ("zh", "1. Tom Hanks\n2. Robin Wright"),
    ("zh", "图中的品牌有：adidas、nike、puma。"),
    # Formulas and quotations.
    ("zh", "由$AP \\perp PC, \\frac{a}{b} = pq$得证。"),
    ("zh", "译文如下。\n“The left one\nis redder than the right one is.”\n“左边的更红。”"),
    # Terms of another language.
    ("en", "Allegro ma non troppo, then andante con moto."),
    ("en", "Voussoirs, archivolt, tympanum, trumeau and jamb statues."),
]
OTHERS = [
    ("en", "Warum ist das so?"),
    ("en", "The mill (风车) 是红色的 在雪地里 很漂亮"),
    ("zh", "图中 there are three red apples 和 two dogs"),
    ("zh", "Canon EOS and the other camera are black."),
]


@pytest.mark.parametrize(("language", "text"), WANTED)
def test_names_and_terms_are_no_other_language(language: str, text: str) -> None:
    assert language_fault(text, language) is None


@pytest.mark.parametrize(("language", "text"), OTHERS)
def test_texts_in_another_language_are_found_short_ones_too(language: str, text: str) -> None:
    assert language_fault(text, language) is not None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Mail to a.b@example.org now", "e-mail address: a.…rg"),
        ("写信到 a.b＠example.org 即可", "e-mail address: a.…rg"),
        ("DE89 3704 0044 0532 0130 00", "IBAN: DE…00"),
        # One digit is another: the checksum is wrong.
        ("DE88 3704 0044 0532 0130 00", None),
        ("4111 1111 1111 1111", "card number: 41…11"),
        ("4111 1111 1111 1112", None),
        ("+49 30 1234567", "telephone number: +4…67"),
        ("The mill of 1872 stands at 59.3293, 18.0686 and is 12 m high; 1,234,567 saw it.", None),
        ("From 1914-1918 and 1939-1945, page 300-301.", None),
        ("jane.doe [at] example [dot] com", "e-mail address: ja…om"),
        ("She looks at the dot com logo, 2 @ 3.50 each.", None),
        ("maria arroba ejemplo punto es", "e-mail address: ma…es"),
        # In other forms.
        ("手机13812345678", "telephone number: 13…78"),
        ("de89 3704 0044 0532 0130 00", "IBAN: de…00"),
        ("Call 0044 20 7946 0958 now", "telephone number: 00…58"),
        ("Her number is 0123 456 789.", "telephone number: 01…89"),
        ("Telephone number: 123-456-7890", "telephone number: 12…90"),
        ("anna at mail dot de", "e-mail address: an…de"),
        # Counts, numbers of things and files.
        ("It formed 13800000000 years ago.", None),
        ("The board counts 15012345678 visitors.", None),
        ("inventory number 0123 456 789", None),
        ("Clone git@github.com:org/repo to begin.", None),
        ("The file is logo@2x.png.", None),
    ],
)
def test_personal_data(text: str, found: str | None) -> None:
    assert personal_data_in(text) == found
