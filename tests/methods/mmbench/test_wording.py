"""Words around a question: English requests are what they were, Chinese ones are Chinese."""

import pytest

from methods.evaluation.asking import Answer, AskingLimits
from methods.evaluation.items import Item, Turn
from methods.mmbench import Mmbench
from methods.mmbench.wording import worded
from methods.prompts.messages import Text

HINTED = "<ImageHere>\nHint: Look up.\nQuestion: What is it?"


def item(language: str | None, question: str = HINTED) -> Item:
    turn = Turn(1, question, (1,), {"key": "A"})
    return Item("i", (turn,), ("picture",), ("x", "y"), language=language)


def asked(of: Item) -> str:
    asking = Mmbench().ask(of, AskingLimits())
    message = asking.send(None).messages[0]
    return "".join(part.text for part in message.parts if isinstance(part, Text))


ENGLISH = (
    "\nHint: Look up.\nQuestion: What is it?\nA. x\nB. y\n"
    "Answer with the letter of the choice that is right."
)
CHINESE = "\n提示: Look up.\n问题: What is it?\nA. x\nB. y\n请回答正确选项的字母。"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (None, ENGLISH),
        ("en", ENGLISH),
        ("fr", ENGLISH),
        ("zh", CHINESE),
        ("zh-CN", CHINESE),
        ("ZH_hant", CHINESE),
    ],
)
def test_what_stands_around_a_question_is_in_its_language(language: str | None, text: str) -> None:
    assert asked(item(language)).lstrip("\n") == text.lstrip("\n")


def test_a_question_without_a_hint_has_no_words_but_the_instruction() -> None:
    plain = item("zh", "<ImageHere>\n它是什么？")
    assert worded(plain) == plain
    assert asked(plain).strip() == "它是什么？\nA. x\nB. y\n请回答正确选项的字母。"


def test_the_extractor_reads_the_question_as_it_was_asked() -> None:
    asking = Mmbench().ask(item("zh"), AskingLimits())
    asking.send(None)
    extract = asking.send(Answer("answered", "也许吧"))
    assert extract.data["question"] == "(image)\n提示: Look up.\n问题: What is it?"
