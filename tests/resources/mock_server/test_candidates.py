"""The mock candidates: whose pictures they speak of, their skills, and their choices."""

import pytest

from resources.mock_server.chat_completion import answer
from resources.mock_server.chat_request import read_chat
from resources.mock_server.image_facts import analyse
from resources.mock_server.vocabulary import correctness, stated_facts
from tests.resources.mock_server.mock_drawings import (
    DRAWN,
    chat_messages,
    draw,
    picture_part,
    text_part,
)

IMAGES = [draw(*drawn) for drawn in DRAWN]
FACTS = {number: analyse(image) for number, image in enumerate(IMAGES, start=1)}


def ask(skill: str, messages: list) -> str:
    return answer(read_chat({"model": f"offline-{skill}", "messages": messages}))


def test_images_are_numbered_over_the_whole_conversation() -> None:
    first = chat_messages(IMAGES[:2], "Compare <image-1> and <image-2>.")
    third = [text_part("Image3:"), picture_part(IMAGES[2]), text_part("Describe <image-3>.")]
    done = {"role": "assistant", "content": "Done."}
    messages = [*first, done, {"role": "user", "content": third}]
    found = stated_facts(ask("careful", messages))
    assert {fact.image for fact in found} == {3}
    assert all(correctness(fact, FACTS[3]) == 1.0 for fact in found)
    later = {"role": "user", "content": "And how does <image-1> compare with <image-3>?"}
    found = stated_facts(ask("careful", [*messages, done, later]))
    assert {fact.image for fact in found} == {1, 3}
    assert all(correctness(fact, FACTS[fact.image]) == 1.0 for fact in found)


def test_question_without_tokens_is_about_the_images_sent_with_it() -> None:
    messages = [
        *chat_messages(IMAGES[:1], "Describe this."),
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": [picture_part(IMAGES[1]), text_part("Describe it.")]},
    ]
    assert {fact.image for fact in stated_facts(ask("careful", messages))} == {2}


@pytest.mark.parametrize("count", [1, 2, 3])
def test_careful_is_right_and_careless_is_partly_wrong(count: int) -> None:
    rates = []
    for start in range(len(IMAGES) - count + 1):
        messages = chat_messages(IMAGES[start : start + count], "What do the images show?")
        for skill in ("careful", "careless"):
            made = stated_facts(ask(skill, messages))
            right = [correctness(fact, FACTS[fact.image + start]) for fact in made]
            if skill == "careful":
                assert set(right) == {1.0}
            else:
                rates.append(sum(right) / len(right))
    assert 0.3 < sum(rates) / len(rates) < 0.8
    assert len(set(rates)) > 1


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("What is the main colour?\nA. Blue\nB. White\nC. Green", "B"),
        ("What shape is the subject?\nA) boxy\nB) triangular\nC) round", "C"),
        ("Where is the subject? (A) Left (B) Right", "A"),
        ("How is the light?\nA. dark\nB. bright", "B"),
        ("Which one holds?\nA. A boxy form on the left\nB. A round form on the left", "B"),
    ],
)
def test_multiple_choice(question: str, right: str) -> None:
    messages = chat_messages(IMAGES[:1], question)
    assert ask("careful", messages) == f"The answer is {right}."
    assert ask("careless", messages).startswith("I think it is ")


def test_multiple_choice_between_images() -> None:
    question = "Which is the darkest?\nA. <image-1>\nB. <image-2>\nC. <image-3>"
    assert ask("careful", chat_messages(IMAGES[:3], question)) == "The answer is B."
    question = "Which shows something triangular?\nA. <image-1>\nB. <image-2>\nC. <image-3>"
    assert ask("careful", chat_messages(IMAGES[:3], question)) == "The answer is C."


FAULTY = ("offline-poor-perception", "offline-poor-reasoning")


def said_by(model: str, *before: str) -> str:
    """What a model says of a picture after so many answers of its own."""
    messages = [{"role": "user", "content": [picture_part(IMAGES[0]), text_part("What is it?")]}]
    for text in before:
        messages += [
            {"role": "assistant", "content": text},
            {"role": "user", "content": "And what follows?"},
        ]
    return answer(read_chat({"model": model, "messages": messages}))


def test_poor_perception_rests_on_what_was_said_first() -> None:
    right = set(stated_facts(said_by("offline-careful"), 1))
    assert not right & set(stated_facts(said_by(FAULTY[0]), 1))
    assert said_by(FAULTY[0], "It is red.", "So it is hot.") == "Going by what was said: It is red."


def test_poor_reasoning_sees_and_concludes_wrong_and_rests_on_the_conclusion() -> None:
    careful = said_by("offline-careful")
    assert said_by(FAULTY[1]) == careful
    right = set(stated_facts(careful, 1))
    assert not right & set(stated_facts(said_by(FAULTY[1], careful), 1))
    assert said_by(FAULTY[1], "It is red.", "It is hot.") == "Going by what was said: It is hot."
