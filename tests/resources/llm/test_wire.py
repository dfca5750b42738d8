"""What goes over the wire: a model is asked in the way that its entry says."""

import json

import pytest

from methods.prompts.messages import Image, Message, Text
from resources.images.store import ImageNotStored
from resources.llm.request import ChatRequest
from resources.llm.request_body import encoded_body, wire_body
from resources.settings.prompts import PromptError
from tests.doubles.one_colour import one_colour
from tests.resources.llm.entries import contents, pictures, spec_of

SCHEMA = {"type": "object", "properties": {"Q1": {"type": "string"}}}


@pytest.fixture
def photo(images) -> str:
    return images.put(one_colour("red", (3000, 1500))).image_id


def test_the_body_names_the_providers_model_and_holds_the_parameters(images):
    request = ChatRequest(
        "m", (Message.from_text("user", "Why?"),), "p@1", {"max_tokens": 7, "seed": 1}
    )

    assert wire_body(request, spec_of(), images) == {
        "model": "it-1",
        "messages": [{"role": "user", "content": "Why?"}],
        "max_tokens": 7,
        "seed": 1,
    }


@pytest.mark.parametrize(
    ("entry", "detail", "expected"),
    [
        ({}, "auto", (1024, 512)),
        ({"max_side": 100, "detail": "low"}, "low", (100, 50)),
        ({"max_side": 4000, "detail": "high"}, "high", (3000, 1500)),
    ],
)
def test_every_image_goes_in_the_size_and_with_the_detail_of_the_entry(
    images, photo, entry, detail, expected
):
    request = ChatRequest("m", (Message("user", (Image(photo), Image(photo))),), "p@1")

    parts = contents(request, images, **entry)

    assert [part["image_url"]["detail"] for part in parts] == [detail] * 2
    assert [picture.size for picture in pictures(parts)] == [expected] * 2


def test_texts_and_images_go_in_their_order_and_texts_alone_are_one_string(images, photo):
    blue = images.put(one_colour("blue")).image_id
    parts = (Text("First"), Image(blue), Text("then"), Text("again"), Image(photo), Text("Which?"))
    messages = (Message("system", (Text("Be "), Text("brief."))), Message("user", parts))
    request = ChatRequest("m", messages, "p@1")

    system, user = wire_body(request, spec_of(), images)["messages"]  # type: ignore[misc]

    assert system == {"role": "system", "content": "Be brief."}
    assert [part.get("text") for part in user["content"]] == [
        *("First", None, "then", "again", None, "Which?")
    ]
    assert [picture.size for picture in pictures(user["content"])] == [(60, 40), (1024, 512)]


@pytest.mark.parametrize(
    ("structured", "schema", "held"),
    [(True, SCHEMA, True), (False, SCHEMA, False), (True, None, False)],
)
def test_only_an_endpoint_that_can_is_held_to_a_schema_where_there_is_one(
    images, structured, schema, held
):
    request = ChatRequest("m", (Message.from_text("user", "Why?"),), "p@1", schema=schema)

    body = wire_body(request, spec_of(structured_output=structured), images)

    shape = {"name": "reply", "schema": SCHEMA, "strict": True}
    form = {"type": "json_schema", "json_schema": shape}
    assert body.get("response_format") == (form if held else None)


def test_an_image_that_is_not_stored_is_told_not_left_out(images):
    request = ChatRequest("m", (Message("user", (Image("0" * 64), Text("Which?"))),), "p@1")

    with pytest.raises(ImageNotStored):
        wire_body(request, spec_of(), images)


TASK = ChatRequest("m", (Message.from_text("user", "Why?"),), "mmdu/judge@1", task="judge")


def test_only_the_mock_server_is_told_the_task_beside_the_messages(images):
    mock = spec_of(provider="mock")

    assert wire_body(TASK, mock, images) == {
        "model": "it-1",
        "messages": [{"role": "user", "content": "Why?"}],
        "metadata": {"task": "judge"},
    }
    assert wire_body(TASK, spec_of(), images).keys() == {"model", "messages"}
    # A question to an evaluated model names none.
    plain = ChatRequest("m", TASK.messages, "dialogue@1")
    assert "metadata" not in wire_body(plain, mock, images)


def test_a_prompt_without_a_task_reaches_a_provider_and_is_one_sentence_for_the_mock_server(
    images,
):
    request = ChatRequest("m", TASK.messages, "mmdu/judge@1", task="")

    assert "metadata" not in wire_body(request, spec_of(), images)
    with pytest.raises(PromptError) as caught:
        wire_body(request, spec_of(provider="mock"), images)
    assert str(caught.value) == (
        "The prompt mmdu/judge@1 names no task, which the mock model server needs. Begin its file with "
        "the lines '---', 'task: <task>' and '---', as the project's prompt that it replaces begins."
    )


@pytest.mark.parametrize("entry", [{}, {"max_images": 1, "many_images": "grid"}])
def test_the_bytes_that_are_sent_are_the_body_in_json_with_its_pictures_in_place(
    images, photo, entry
):
    parts = (Text('Which is it, "this" 字?'), Image(photo), Text("\\ or"), Image(photo), Text(""))
    request = ChatRequest("m", (Message("user", parts), Message.from_text("assistant", "Ω")), "p@1")

    body = encoded_body(request, spec_of(**entry), images)

    assert json.loads(body) == wire_body(request, spec_of(**entry), images)
    assert body.isascii() and b"\n" not in body
