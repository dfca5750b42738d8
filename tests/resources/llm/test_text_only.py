"""A model that takes no images: declared, or found out from its server's words; texts are asked on."""

import json
from pathlib import Path

import pytest

from methods.prompts.messages import Image, Message, Text
from resources.llm.error_kinds import kind_of, passes
from resources.llm.model_calls import ModelCalls
from resources.llm.parsed_reply import complete_and_parse
from resources.llm.request import ChatRequest, Completion, Failure
from resources.llm.server_errors import read_error
from tests.doubles.odd_api import Asked, answering
from tests.resources.llm.loopback import gateway_of, questions

NO_IMAGES = [
    (500, "image input is not supported - hint: you may need to provide the mmproj"),  # llama.cpp
    (501, "This server does not support multimodal"),
    (400, "Invalid content type. image_url is only supported by certain models."),  # OpenAI
    (400, "some-model is not a multimodal model"),  # vLLM
    (400, "At most 0 image(s) may be provided in one prompt."),
    (404, "No endpoints found that support image input"),  # OpenRouter
    (400, "Failed to deserialize: unknown variant `image_url`, expected `text`"),  # DeepSeek
    (400, "Model does not support images. Please use a model that does."),  # LM Studio
    (500, "this model is missing data required for image input"),  # Ollama
    (400, "The model does not support image input"),
    (422, "vision is not supported by this model"),
    (400, "Image input modality is not enabled for models/gemma-3-1b-it"),  # Gemini
    (400, "This model doesn't support the image content block that you provided."),  # Bedrock
    (503, "Images are not supported for this model."),
    (400, "The model is not a VLM (Vision Language Model)."),
    (400, "This model only supports text input"),
    (400, "该模型不支持图片输入"),
    (400, "multimodal input is not enabled"),
    (400, "Cannot process images: this is a text-only model"),
]
OTHERS = [
    (400, "Image format not supported", "bad_request"),
    (400, "image/tiff images are not supported formats", "bad_request"),
    (400, "This model does not support more than 4 images", "too_long"),
    (400, "The model does not support images larger than 5 MB", "too_long"),
    (400, "Only one image is supported; multiple images are not supported", "too_long"),
    (400, "The image is not supported type: use PNG", "bad_request"),
    (400, "The file is not an image", "bad_request"),
    (400, "There is no image in the request", "bad_request"),
    (400, "图片格式不支持", "bad_request"),
    (500, "The image could not be decoded", "server_error"),
    (429, "image input is not supported at this rate: rate limit reached", "rate_limited"),
]


@pytest.mark.parametrize(("status", "message"), NO_IMAGES)
def test_words_of_a_model_without_images(status: int, message: str) -> None:
    error = read_error(status, {"error": {"message": message, "type": "server_error"}})

    assert kind_of(error) == "text_only" and not passes(error)


@pytest.mark.parametrize(("status", "message", "kind"), OTHERS)
def test_words_about_certain_images(status: int, message: str, kind: str) -> None:
    assert kind_of(read_error(status, {"error": {"message": message}})) == kind


def with_image(number: int, model: str = "it") -> ChatRequest:
    parts = (Text(f"Picture {number}?"), Image(f"{number:064}"))
    return ChatRequest(model, (Message("user", parts),), "q@1")


class NoImageNeeded:
    """Images that are not stored: any bytes do."""

    def are_at_hand(self, *_: object) -> bool:
        return True

    def jpeg_base64(self, *_: object) -> str:
        return "data:image/jpeg;base64,AAAA"


def refuses_images(asked: Asked) -> None:
    if b"image_url" not in asked.body:
        asked.says()
        return
    words = "image input is not supported - hint: you may need to provide the mmproj"
    asked.send(json.dumps({"error": {"code": 500, "message": words}}).encode(), 500)


def test_one_image_costs_one_request_and_the_texts_are_answered(tmp_path: Path) -> None:
    with answering(refuses_images) as api:
        gateway = gateway_of(tmp_path, {"it": {"base_url": api.url, "concurrency": 1}})
        gateway.context.images = NoImageNeeded()  # type: ignore[assignment]
        images = [with_image(number) for number in range(40)]
        outcomes, usage = gateway.ask("s", [*images, *questions(40)])
        n_received = len(api.received)

    assert n_received == 41 and usage.failures == {"text_only": 40}
    assert all(isinstance(each, Completion) for each in outcomes[40:])
    first, *others = outcomes[:40]
    assert isinstance(first, Failure) and "set `max_images: 0` in the entry it" in first.detail
    assert all(isinstance(each, Failure) and "Not sent." in each.detail for each in others)


def test_replies_that_are_parsed_go_on_too(tmp_path: Path) -> None:
    async def parsed(calls: ModelCalls, request: ChatRequest) -> str | None:
        return (await complete_and_parse(calls, request, str)).value

    with answering(refuses_images) as api:
        gateway = gateway_of(tmp_path, {"it": {"base_url": api.url}})
        gateway.context.images = NoImageNeeded()  # type: ignore[assignment]
        asked = [*(with_image(number) for number in range(40)), *questions(5)]
        values, _ = gateway.map("s", asked, parsed)

    assert values == [None] * 40 + ["Fine."] * 5


def test_a_model_that_answered_an_image_loses_one_request(tmp_path: Path) -> None:
    def answer(asked: Asked) -> None:
        if b"Picture 3?" in asked.body:
            refuses_images(asked)
        else:
            asked.says()

    with answering(answer) as api:
        gateway = gateway_of(tmp_path, {"it": {"base_url": api.url, "concurrency": 1}})
        gateway.context.images = NoImageNeeded()  # type: ignore[assignment]
        _, usage = gateway.ask("s", [with_image(number) for number in range(10)])

    assert usage.failures == {"text_only": 1} and usage.calls == 9


@pytest.mark.parametrize("many_images", ["fail", "grid", "sample"])
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
        entry = {"base_url": api.url, "attempts": 50, "give_up_seconds": 1}
        entry["timeouts"] = {"whole": 0.9}
        gateway = gateway_of(tmp_path, {"it": entry})
        gateway.context.images = NoImageNeeded()  # type: ignore[assignment]
        asked = [*questions(30), *(with_image(number) for number in range(5))]
        outcomes, _ = gateway.ask("s", asked)

    assert all(isinstance(each, Completion) for each in outcomes[:30])
    assert {each.kind for each in outcomes[30:] if isinstance(each, Failure)} == {"server_error"}
