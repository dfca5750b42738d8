"""The language of replies: an instruction at the end of the first message, with the language's name."""

import pytest

from methods.prompts.messages import Image, Message, Text
from methods.prompts.reply_language import with_reply_language
from methods.wikimedia.languages import language_name


def test_the_first_message_ends_with_the_instruction_and_the_others_stay() -> None:
    user = Message("user", (Text("What is it?"), Image("a" * 64)))
    system, same = with_reply_language([Message.from_text("system", "You ask."), user], "Japanese")
    assert same == user
    text = "".join(part.text for part in system.parts if isinstance(part, Text))
    assert text.startswith("You ask.\n\nWrite all texts of your reply in Japanese. ")


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("ja", "Japanese"),
        ("zh", "Chinese"),
        ("simple", "Simple English"),
        ("azb", "South Azerbaijani"),
        ("tlh", "the language of the Wikipedia with the code 'tlh'"),
    ],
)
def test_a_language_has_its_english_name_or_its_code(code: str, name: str) -> None:
    assert language_name(code) == name
