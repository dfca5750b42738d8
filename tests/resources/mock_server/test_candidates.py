"""The mock candidates: whose pictures they speak of, their skills, and their choices."""

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
