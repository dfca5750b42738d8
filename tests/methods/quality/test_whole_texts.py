"""Texts that end without a full stop: those that are whole, those that were cut, and published ones."""

import json
from pathlib import Path

import pytest

from methods.quality.outcome import DialogueContent, QuestionAnswerPair
from methods.quality.rules import RuleLimits, by_rules
from methods.quality.truncation import truncation_in

WHOLE = [
    # It ends as texts do.
    ("en", 'It says "red"'),
    ("en", "Seen from above:\n- a mill\n- a field with a few rows of very small trees behind it"),
    ("en", "มีกังหันลมสีแดงอยู่กลางทุ่งหิมะ"),
    ("en", "Both are red (the left one is also large and has a door on its side, as one can see)"),
    ("en", "Seen from the left, and read from top to bottom, the number on the board is 16b"),
    ("en", "It fades into the mist…"),
    # A word that may end a sentence.
    ("en", "The lamp in <image-1> is switched on"),
    ("en", "The door is taller than he is"),
    ("en", "The window can be seen through"),
    ("en", "The second arrow points to A"),
    ("fr", "Il n'en reste qu'un"),
    ("es", "La grieta tiene forma de Y"),
    ("pt", "Só há um"),
    ("ru", "Это буква И"),
    ("en", "How does he die"),
    # Code, faces and addresses.
    ("en", "The line that has the error is `x = y + 1;`"),
    ("en", "The function ends with { return x; }"),
    ("en", "Both cats look at the camera :)"),
    ("en", "The address on the sign is https://example.org/"),
    ("en", "The sign in the lower left corner of the wall below the lamps has www.example.org"),
    # A list, a name and a quotation.
    ("en", "George Washington, Thomas Jefferson, Theodore Roosevelt, John Adams, James Monroe"),
    ("en", "Thirty-six Views of Mount Fuji: The Great Wave off Kanagawa, by Hokusai of Edo"),
    ("en", "The man in the hat leans out and calls to people below: “Nobody leaves this house”"),
]
CUT = "The boat lies at the pier of the old town and the men are carrying heavy nets"
CUT_OFF = [
    # It stops in a sentence.
    ("en", "It shows the"),
    ("en", "There are two:"),
    ("en", "```python\nprint(1)"),
    ("en", "It shows:\n1. A mill.\n2. A barn.\n3."),
    # A list in a sentence is no list.
    ("en", "It is mostly purple with some pink, has a bright look, shows a few boxy"),
    ("en", CUT),
    ("en", "It shows a mill and…"),
    ("en", "It shows one wide field in the snow with a red mill that was built long ago near"),
    # A word or a bracket that something follows.
    ("en", "The pier is made of"),
    ("en", "The boats are tied up because"),
    ("en", "The boats, which"),
    ("en", "The first of them (on the left"),
    ("en", "It shows two things: the mill;"),
    ("en", "The address is https://"),
    ("de", "Das Bild zeigt eine Mühle und"),
    ("fr", "Les bateaux sont dans un"),
    ("es", "La casa es de"),
    ("it", "La casa della"),
    ("ru", "Вид на мельницу и"),
]


@pytest.mark.parametrize(("language", "text"), WHOLE)
def test_a_whole_text_ends(language: str, text: str) -> None:
    assert truncation_in(text, language) is None


@pytest.mark.parametrize(("language", "text"), CUT_OFF)
def test_a_text_that_was_cut_off_does_not(language: str, text: str) -> None:
    assert truncation_in(text, language) is not None


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
    texts = [("How is the scene?", answer) for answer in answers]
    pairs = [QuestionAnswerPair("d", str(n), n, *text) for n, text in enumerate(texts, 1)]
    evidence = by_rules([DialogueContent("d", pairs, [])], RuleLimits())
    assert [p.turn for p in pairs if evidence["d", p.question_id]["truncation"]] == cut


SHARED = Path(__file__).parents[4] / "shared" / "data"
MOST_DROPPED = 0.01
DROPPED = {"00070002-0": {"length": "question: 2 words, at least 3"}}
"""What is dropped of the slice: "求解" ("solve it") is shorter than a writer's questions may be."""

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="needs the shared folder")


@needs_shared
def test_at_most_one_in_a_hundred_published_pairs_is_dropped() -> None:
    lines = (SHARED / "alignmmbench_slice" / "metadata.jsonl").read_text("utf-8").splitlines()
    dropped = {}
    for row in map(json.loads, lines):
        name = row["question_id"]
        pair = QuestionAnswerPair(name, name, 1, row["prompt"], row["ref_answer"])
        dialogue, limits = DialogueContent(name, [pair], [], 1), RuleLimits(language="zh")
        (found,) = by_rules([dialogue], limits).values()
        if evidence := {rule: text for rule, text in found.items() if text is not None}:
            dropped[name] = evidence
    assert dropped == DROPPED
    assert len(dropped) <= MOST_DROPPED * len(lines)


@needs_shared
def test_no_published_question_without_a_mark_is_cut_off() -> None:
    """40 of 785 published questions were called cut off."""
    file = SHARED / "fidelity" / "zh_questions_called_cut_off.json"
    questions = json.loads(file.read_text("utf-8"))
    assert len(questions) == 40
    assert [text for text in questions if truncation_in(text, "zh", asks=True)] == []


@pytest.mark.parametrize(
    "question", ["请给图中的产品写一句广告词，因为", "请介绍图中的建筑，", "图中有哪些动物，例如"]
)
def test_a_chinese_question_that_stops_in_the_middle_is_cut_off(question: str) -> None:
    assert truncation_in(question, "zh", asks=True) is not None
