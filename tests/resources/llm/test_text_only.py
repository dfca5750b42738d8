"""A model that takes no images: declared, or found out from its server's words; texts are asked on."""

import json
from pathlib import Path

import pytest

from methods.prompts.messages import Image, Message, Text
from resources.llm.gateway import Gateway
from resources.llm.request import ChatRequest, Completion, Failure
from tests.doubles.odd_api import Asked, answering
from tests.resources.llm.loopback import gateway_of, questions


def with_image(number: int, model: str = "it") -> ChatRequest:
    parts = (Text(f"Picture {number}?"), Image(f"{number:064}"))
    return ChatRequest(model, (Message("user", parts),), "q@1")


class NoImageNeeded:
    """Images that are not stored: any bytes do."""

    def are_at_hand(self, *_: object) -> bool:
        return True

    def jpeg_base64(self, *_: object) -> str:
        return "data:image/jpeg;base64,AAAA"


def gateway_without_store(folder: Path, **entry: object) -> Gateway:
    gateway = gateway_of(folder, {"it": entry})
    gateway.context.images = NoImageNeeded()  # type: ignore[assignment]
    return gateway


def refuses_images(asked: Asked) -> None:
    if b"image_url" not in asked.body:
        asked.says()
        return
    words = "image input is not supported - hint: you may need to provide the mmproj"
    asked.send(json.dumps({"error": {"code": 500, "message": words}}).encode(), 500)


def test_one_image_costs_one_request_and_the_texts_are_answered(tmp_path: Path) -> None:
    with answering(refuses_images) as api:
        gateway = gateway_without_store(tmp_path, base_url=api.url, concurrency=1)
        images = [with_image(number) for number in range(40)]
        outcomes, usage = gateway.ask("s", [*images, *questions(40)])
        n_received = len(api.received)

    assert n_received == 41 and usage.failures == {"text_only": 40}
    assert all(isinstance(each, Completion) for each in outcomes[40:])
    first, *others = outcomes[:40]
    assert isinstance(first, Failure) and "set `max_images: 0` in the entry it" in first.detail
    assert all(isinstance(each, Failure) and "Not sent." in each.detail for each in others)


def test_a_model_that_answered_an_image_loses_one_request(tmp_path: Path) -> None:
    def answer(asked: Asked) -> None:
        if b"Picture 3?" in asked.body:
            refuses_images(asked)
        else:
            asked.says()

    with answering(answer) as api:
        gateway = gateway_without_store(tmp_path, base_url=api.url, concurrency=1)
        _, usage = gateway.ask("s", [with_image(number) for number in range(10)])

    assert usage.failures == {"text_only": 1} and usage.calls == 9


@pytest.mark.parametrize("many_images", ["fail", "sample"])
def test_an_entry_that_declares_no_images_is_sent_none(tmp_path: Path, many_images: str) -> None:
    with answering(Asked.says) as api:
        entry = {"base_url": api.url, "max_images": 0, "many_images": many_images}
        gateway = gateway_of(tmp_path, {"it": entry})
        (image, text), _ = gateway.ask("s", [with_image(1), *questions(1)])
        n_received = len(api.received)

    assert isinstance(image, Failure) and image.kind == "text_only"
    assert "max_images: 0" in image.detail
    assert isinstance(text, Completion) and n_received == 1


def test_errors_for_images_do_not_stop_the_texts(tmp_path: Path) -> None:
    """A server that fails at images in words that nobody knows pauses its images only."""

    def answer(asked: Asked) -> None:
        if b"image_url" in asked.body:
            asked.send(b'{"error": {"message": "clip.cpp: assertion"}}', 500)
        else:
            asked.says()

    with answering(answer) as api:
        entry = {"attempts": 50, "give_up_seconds": 1, "timeouts": {"whole": 0.9}}
        gateway = gateway_without_store(tmp_path, base_url=api.url, **entry)
        asked = [*questions(30), *(with_image(number) for number in range(5))]
        outcomes, _ = gateway.ask("s", asked)

    assert all(isinstance(each, Completion) for each in outcomes[:30])
    assert {each.kind for each in outcomes[30:] if isinstance(each, Failure)} == {"server_error"}
