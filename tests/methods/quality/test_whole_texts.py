"""Texts that end without a full stop: those that are whole, and those that were cut."""

import pytest

from methods.quality.outcome import DialogueContent, QuestionAnswerPair
from methods.quality.rules import RuleLimits, by_rules
from methods.quality.truncation import truncation_in

WHOLE = [
    # It ends as texts do.
    ("en", "Red and blue"),
    ("en", 'It says "red"'),
    ("en", "The wall is old 🙂"),
    ("en", "Seen from above:\n- a mill\n- a field with a few rows of very small trees behind it"),
    ("en", "มีกังหันลมสีแดงอยู่กลางทุ่งหิมะ"),
    ("en", "Both are red (the left one is also large and has a door on its side, as one can see)"),
    ("en", "雪地里有一座红色的风车。"),
    ("en", ""),
    ("en", "Seen from the left, and read from top to bottom, the number on the board is 16"),
    ("en", "It fades into the mist…"),
    # A word that may end a sentence.
    ("en", "The lamp in <image-1> is switched on"),
    ("en", "The door is taller than he is"),
    ("en", "It no longer looks like what it was"),
    ("en", "The window can be seen through"),
    ("en", "He knows how"),
    ("en", "The second arrow points to A"),
    ("de", "Die Tür steht auf"),
    ("de", "Der Mann steigt ein"),
    ("fr", "Il n'en reste qu'un"),
    ("es", "Solo queda una"),
    ("es", "La grieta tiene forma de Y"),
    ("it", "La freccia indica la lettera A"),
    ("pt", "Só há um"),
    ("nl", "De lamp in de hal staat aan"),
    ("sv", "Lampan är på"),
    ("pl", "Nie wiadomo, jaka jest"),
    ("tr", "Bir kuş gibi"),
    ("ru", "Это буква И"),
    ("en", "How does he die"),
    # Code, faces and addresses.
    ("en", "The line that has the error is `x = y + 1;`"),
    ("en", "The line that has the error is x = y + 1;"),
    ("en", "The function ends with { return x; }"),
    ("en", "Both cats look at the camera :)"),
    ("en", "Both cats smile ;-)"),
    ("en", "The address on the sign is https://example.org/"),
    ("en", "The sign in the lower left corner of the wall below the lamps has www.example.org"),
    # A list, a name and a quotation.
    (
        "en",
        "George Washington, Thomas Jefferson, Theodore Roosevelt, Abraham Lincoln, James Monroe",
    ),
    ("en", "The picture shows: a red house, two old men, a small brown dog, some trees and a boat"),
    ("en", "Thirty-six Views of Mount Fuji: The Great Wave off Kanagawa, by Hokusai of Edo"),
    (
        "en",
        "The man at the window leans out and calls to the people below: “Nobody leaves this house”",
    ),
]
CUT_OFF = [
    # It stops in a sentence.
    ("en", "It shows the"),
    ("en", "There are two:"),
    ("en", "It is red,"),
    ("en", "```python\nprint(1)"),
    ("en", "It shows:\n1. A mill.\n2. A barn.\n3."),
    ("en", "It shows a mill and…"),
    ("en", "The left one is older, whereas"),
    (
        "en",
        "The picture shows a wide field in the snow with a red mill that was built long ago near",
    ),
    # A word or a bracket that something follows.
    ("en", "The pier is made of"),
    ("en", "It is red and"),
    ("en", "The boats are tied up because"),
    ("en", "The boats, which"),
    ("en", "The sky is grey, with"),
    ("en", "The first of them (on the left"),
    ("en", "It shows two things: the mill;"),
    ("en", "The address is https://"),
    ("de", "Das Bild zeigt eine Mühle und"),
    ("fr", "Les bateaux sont dans un"),
    ("es", "La casa es de"),
    ("it", "La casa della"),
    ("pt", "O barco do"),
    ("nl", "De man staat naast de"),
    ("sv", "Huset och"),
    ("pl", "Dom oraz"),
    ("tr", "Ev ve"),
    ("ru", "Вид на мельницу и"),
]


@pytest.mark.parametrize(("language", "text"), WHOLE)
def test_a_whole_text_ends(language: str, text: str) -> None:
    assert truncation_in(text, language) is None


@pytest.mark.parametrize(("language", "text"), CUT_OFF)
def test_a_text_that_was_cut_off_does_not(language: str, text: str) -> None:
    assert truncation_in(text, language) is not None


CUT = "The boat lies at the pier of the old town and the men are carrying heavy nets"


def test_a_list_in_a_sentence_is_no_list() -> None:
    assert truncation_in(CUT) is not None
    assert truncation_in("It is mostly purple with some pink, has a bright look, shows a few boxy")


@pytest.mark.parametrize(
    ("answers", "cut"),
    [
        ([CUT, "It is calm and grey today", "There are three boats"], []),
        ([CUT, "It is calm and grey today.", "There are three boats."], [1]),
        ([CUT], [1]),
        # A word that something follows is one in any writing.
        (["The men carry the", "It is calm and grey", "Three boats lie there"], [1]),
    ],
)
def test_who_ends_no_answer_with_a_mark_has_not_stopped_in_the_middle(answers, cut) -> None:
    pairs = [
        QuestionAnswerPair("d", str(turn), turn, "How is the scene?", answer)
        for turn, answer in enumerate(answers, 1)
    ]
    evidence = by_rules([DialogueContent("d", pairs, [])], RuleLimits())
    assert [p.turn for p in pairs if evidence["d", p.question_id]["truncation"]] == cut
