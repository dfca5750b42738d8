"""Multiple-choice questions and their Chinese: each passes the checks and is answered."""

import json
from typing import Any

import pytest
from PIL.Image import Image

from methods.choice.contents import choices_of, texts_of
from methods.choice.languages import LANGUAGES
from methods.choice.lettered import with_letters
from methods.mmbench.taxonomy import DESCRIPTIONS
from methods.mmbench.translating import read_translation
from resources.mock_server import vocabulary
from resources.mock_server.choice_questions import (
    QUESTIONS,
    is_chinese,
    to_chinese,
    to_english,
    worded,
)
from resources.settings.prompts import prompt
from tests.resources.mock_server.mock_drawings import (
    IMAGES,
    ask,
    chat_messages,
    picture_part,
    prompt_messages,
    text_part,
)

ZH = LANGUAGES["zh"]


def translated(texts: dict[str, str]) -> str:
    template = prompt("mmbench/translate")
    system, user = template.render(item=json.dumps(texts), language=ZH.name)
    said = ["".join(part.text for part in message.parts) for message in (system, user)]
    return ask("writer", prompt_messages(*said), template.task)


@pytest.mark.parametrize("kind", QUESTIONS)
def test_every_question_and_choice_is_chinese_and_comes_back(kind):
    question, form = QUESTIONS[kind]
    choices = [worded(form, value) for value in vocabulary.values(kind)]
    source = texts_of(question, None, choices[:8])
    made = read_translation(translated(source), source, ZH)
    assert all(is_chinese(text) for text in made.texts.values())
    assert [to_english(text) for text in choices_of(made.texts)] == choices[:8]


def test_names_numbers_and_code_stay_and_what_is_not_known_is_no_translation():
    question = "Which boat is in the picture of Ada Lovelace?"
    assert to_chinese(question) == "哪个船是在图片的Ada Lovelace？"
    assert to_chinese("3 boats and `red x`") == "3船和`red x`"
    source = texts_of("What is the boat?", None, ["Ada", "Grace"])
    names = read_translation(translated(source), source, ZH).names
    assert names == {"Ada": "Ada", "Grace": "Grace"}
    assert to_chinese("a wheelbarrow") == "wheelbarrow"


def written(ability: str, image: Image) -> dict[str, Any]:
    parts = [text_part(f"<ability>{ability}</ability>"), picture_part(image)]
    parts.append(text_part("<caption>Zanzibar</caption>\n<summary>Quokka</summary>"))
    return json.loads(ask("writer", prompt_messages("", parts), "item"))


@pytest.mark.parametrize("ability", sorted(DESCRIPTIONS))
def test_an_items_right_choice_is_what_the_careful_model_finds(ability):
    for image in IMAGES[::3]:
        item = written(ability, image)
        choices = sorted([item["answer"], *item["distractors"]])
        assert 2 <= len(set(choices)) == len(choices) <= 4
        assert "Zanzibar" not in str(item) and "Quokka" not in str(item)
        question = f"{item['question']}\n{with_letters(choices)}\nWhich is it?"
        reply = ask("careful", chat_messages([image], question))
        assert reply == f"The answer is {'ABCD'[choices.index(item['answer'])]}."
