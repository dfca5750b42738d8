"""What goes over the wire: a model is asked as its entry says, also with more images than it takes."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.prompts.messages import Image, Message, Text, evenly
from resources.images.store import ImageNotStored, ImageStore
from resources.llm.estimate import highest_cost, prompt_tokens
from resources.llm.request import ChatRequest, request_key
from resources.llm.request_body import encoded_body, unsendable, wire_body
from resources.settings.prompts import PromptError
from tests.doubles.one_colour import one_colour
from tests.resources.llm.entries import contents, pictures, spec_of

SCHEMA = {"type": "object", "properties": {"Q1": {"type": "string"}}}


@pytest.fixture
def photo(images) -> str:
    return images.put(one_colour("red", (3000, 1500))).image_id


def asked_with(*parts: Text | Image, **fields: object) -> ChatRequest:
    return ChatRequest("m", (Message("user", parts),), "mmdu/judge@1", **fields)


FORM = {"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA, "strict": True}}
LIMITED = {"max_tokens": 7, "seed": 1}


@pytest.mark.parametrize(
    ("fields", "entry", "more"),
    [
        ({"params": LIMITED}, {}, LIMITED),
        ({"schema": SCHEMA}, {"structured_output": True}, {"response_format": FORM}),
        ({"schema": SCHEMA}, {"structured_output": False}, {}),
        ({}, {"structured_output": True}, {}),
        ({"task": "judge"}, {"provider": "mock"}, {"metadata": {"task": "judge"}}),
        ({"task": "judge"}, {}, {}),
        # A question to an evaluated model, and a prompt that names no task.
        ({}, {"provider": "mock"}, {}),
        ({"task": ""}, {}, {}),
    ],
)
def test_the_body_has_the_parameters_a_schema_and_for_the_mock_server_the_task(
    images, fields, entry, more
):
    body = wire_body(asked_with(Text("Why?"), **fields), spec_of(**entry), images)

    assert body == {"model": "it-1", "messages": [{"role": "user", "content": "Why?"}], **more}


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
    parts = contents(asked_with(Image(photo), Image(photo)), images, **entry)

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


def test_an_image_that_is_not_stored_is_told_not_left_out(images):
    with pytest.raises(ImageNotStored):
        wire_body(asked_with(Image("0" * 64), Text("Which?")), spec_of(), images)


def test_a_prompt_without_a_task_is_one_sentence_for_the_mock_server(images):
    with pytest.raises(PromptError) as caught:
        wire_body(asked_with(Text("Why?"), task=""), spec_of(provider="mock"), images)
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


COLOURS = [(20 + 11 * n, 255 - 11 * n, 40 + 5 * n) for n in range(20)]


@pytest.fixture
def twenty(images: ImageStore) -> ChatRequest:
    """Two messages with twenty pictures in all, each of one colour, a text before each."""
    parts: list[Text | Image] = []
    for number, colour in enumerate(COLOURS, 1):
        image_id = images.put(one_colour(colour, (300, 150))).image_id
        parts += [Text(f"No. {number}: "), Image(image_id)]
    messages = (
        Message.from_text("system", "Look."),
        Message("user", tuple(parts[:20])),
        Message("user", tuple(parts[20:])),
    )
    return ChatRequest("m", messages, "p@1")


def text_of(parts: list[dict]) -> str:
    return "".join(part.get("text", "*") for part in parts)


@pytest.mark.parametrize("most", [1, 5])
def test_a_grid_of_all_images_stands_in_the_place_of_the_first(images, twenty, most):
    parts = contents(twenty, images, many_images="grid", max_images=most)

    assert len(pictures(parts)) == 1
    assert text_of(parts).startswith(
        "Look.No. 1: *<image 1 of the grid>No. 2: <image 2 of the grid>"
    )
    assert text_of(parts).endswith("No. 20: <image 20 of the grid>")


def test_the_pictures_of_a_grid_stand_row_by_row_in_their_order_under_their_numbers(images, twenty):
    (grid,) = pictures(contents(twenty, images, many_images="grid", max_images=1, max_side=512))

    assert grid.format == "JPEG"
    assert grid.size == (1020, 816), "five columns and four rows within twice max_side"
    corners = [(column * 204, row * 204) for row in range(4) for column in range(5)]
    for (x, y), colour in zip(corners, COLOURS, strict=True):
        middle = grid.getpixel((x + 102, y + 112))
        assert all(abs(a - b) <= 4 for a, b in zip(middle, colour, strict=True))
    # Each picture has a number of its own above it.
    labels = [grid.crop((x, y, x + 200, y + 20)) for x, y in corners]
    assert len({label.tobytes() for label in labels}) == 20
    assert all(label.getpixel((150, 10)) == (0, 0, 0) for label in labels)
    few = asked_with(*twenty.messages[1].parts[:6])
    (small,) = pictures(contents(few, images, many_images="grid", max_images=2, max_side=512))
    assert max(small.size) <= 512


@pytest.mark.parametrize(("most", "kept"), [(1, [1]), (2, [1, 20]), (5, [1, 6, 11, 15, 20])])
def test_a_sample_is_evenly_spread_with_the_first_and_the_last(images, twenty, most, kept):
    parts = contents(twenty, images, many_images="sample", max_images=most)

    text = text_of(parts)
    assert [n for n in range(1, 21) if f"No. {n}: *" in text] == kept
    assert len(pictures(parts)) == most and text.count("is left out>") == 20 - most
    assert ("<image 3 is left out>" in text) and "<image 1 is left out>" not in text


@given(n=st.integers(1, 40), most=st.integers(1, 45))
def test_as_many_are_kept_as_may_be_each_once_in_their_order(n, most):
    places = evenly(n, most)
    assert places == sorted(set(places)) and len(places) == min(n, most)
    assert places[0] == 0
    assert most == 1 or places[-1] == n - 1


@pytest.mark.parametrize("policy", ["grid", "sample"])
def test_only_a_request_that_does_not_fit_is_known_by_the_policy(images, twenty, policy):
    plain, other = spec_of(max_images=20), spec_of(max_images=20, many_images=policy)

    assert wire_body(twenty, plain, images) == wire_body(twenty, other, images)
    assert twenty.canonical(plain) == twenty.canonical(other)
    assert unsendable(twenty, spec_of(max_images=5, many_images=policy), "k") is None
    # Without a policy it is not sent.
    refused = unsendable(twenty, spec_of(max_images=5), "k")
    assert refused and (refused.kind, refused.detail) == ("too_long", "20 images, it takes 5.")


def test_requests_of_which_something_else_is_sent_have_keys_of_their_own(twenty):
    ways = ((20, "fail"), (5, "grid"), (5, "sample"), (6, "sample"))
    specs = [spec_of(max_images=most, many_images=way) for most, way in ways]
    assert len({request_key(twenty.canonical(spec)) for spec in specs}) == 4
    # A grid holds all of them, however many the model takes.
    grids = [spec_of(max_images=most, many_images="grid") for most in (1, 5)]
    assert len({request_key(twenty.canonical(spec)) for spec in grids}) == 1


def test_a_request_may_ask_for_a_grid_of_images_that_the_model_would_take(twenty, images):
    asked, spec = replace(twenty, in_a_grid=True), spec_of(max_images=20)

    # What is sent, and the key, are those of a model that takes one image.
    one = spec_of(max_images=1, many_images="grid")
    assert wire_body(asked, spec, images) == wire_body(twenty, one, images)
    assert request_key(asked.canonical(spec)) == request_key(twenty.canonical(one))
    assert request_key(asked.canonical(spec)) != request_key(twenty.canonical(spec))
    assert prompt_tokens(asked, spec) == prompt_tokens(twenty, one) < prompt_tokens(twenty, spec)
    # Neither does the entry's own way matter, nor is there a grid of nothing.
    assert unsendable(asked, spec_of(max_images=5), "k") is None
    without = asked_with(Text("Well?"))
    grid = replace(without, in_a_grid=True)
    assert request_key(grid.canonical(spec)) == request_key(without.canonical(spec))


def test_tokens_and_costs_are_estimated_for_what_is_sent(twenty):
    price = {"price": {"prompt": 1, "completion": 1}}
    whole = spec_of(max_images=20, **price)
    grid = spec_of(max_images=1, many_images="grid", **price)
    sample = spec_of(max_images=5, many_images="sample", **price)

    assert prompt_tokens(twenty, whole) - prompt_tokens(twenty, sample) == 15 * 765
    assert prompt_tokens(twenty, whole) - prompt_tokens(twenty, grid) == 16 * 765
    assert highest_cost(twenty, grid) < highest_cost(twenty, sample) < highest_cost(twenty, whole)


LOCAL = "http://127.0.0.1:8080/v1"


def test_a_prompt_that_is_likely_above_the_context_is_not_sent(twenty):
    request = asked_with(Text("x" * 4004))

    assert unsendable(request, spec_of(context_tokens=1001), "k") is None
    refused = unsendable(request, spec_of(context_tokens=1000), "k")
    assert refused and refused.kind == "too_long"
    assert refused.detail == (
        "The prompt has about 1001 tokens, and it takes 1000 (context_tokens): correct context_tokens "
        "of its entry in models.yaml, or send less."
    )
    # Of a server whose images are not known the texts count all the same.
    long = replace(twenty, messages=(Message.from_text("user", "x" * 20_000), *twenty.messages))
    assert unsendable(long, spec_of(context_tokens=4096, base_url=LOCAL), "k") is not None


@pytest.mark.parametrize(
    ("fields", "is_sent"),
    [
        ({"base_url": LOCAL}, True),
        ({"base_url": LOCAL, "image_tokens": {"base": 64, "tile": 0}}, True),
        ({"base_url": LOCAL, "image_tokens": {"base": 0, "tile": 300}}, False),
        ({"base_url": "https://api.openai.com/v1"}, False),
    ],
)
def test_images_refuse_a_request_only_where_it_is_known_what_they_count(twenty, fields, is_sent):
    refused = unsendable(twenty, spec_of(context_tokens=4096, **fields), "k")

    assert (refused is None) is is_sent
    if refused is not None:
        assert "context_tokens and image_tokens of its entry" in refused.detail
