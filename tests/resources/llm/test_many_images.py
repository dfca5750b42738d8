"""A request with more images than its model takes: what the entry's `many_images` makes of it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.prompts.messages import Image, Message, Text, evenly
from resources.images.store import ImageStore
from resources.llm.estimate import highest_cost, prompt_tokens
from resources.llm.request import ChatRequest, request_key
from resources.llm.request_body import unsendable, wire_body
from tests.doubles.one_colour import one_colour
from tests.resources.llm.entries import contents, pictures, spec_of

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


# A grid


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


def test_a_grid_of_few_images_measures_max_side(images, twenty):
    few = ChatRequest("m", (Message("user", twenty.messages[1].parts[:6]),), "p@1")

    (grid,) = pictures(contents(few, images, many_images="grid", max_images=2, max_side=512))

    assert max(grid.size) <= 512


# A sample


@pytest.mark.parametrize(
    ("most", "kept"), [(1, [1]), (2, [1, 20]), (5, [1, 6, 11, 15, 20]), (19, None)]
)
def test_a_sample_is_evenly_spread_with_the_first_and_the_last(images, twenty, most, kept):
    parts = contents(twenty, images, many_images="sample", max_images=most)

    assert len(pictures(parts)) == most
    text = text_of(parts)
    if kept:
        assert [n for n in range(1, 21) if f"No. {n}: *" in text] == kept
    assert text.count("is left out>") == 20 - most
    assert ("<image 2 is left out>" in text) == (most < 19)


@given(n=st.integers(1, 40), most=st.integers(1, 45))
def test_as_many_are_kept_as_may_be_each_once_in_their_order(n: int, most: int) -> None:
    places = evenly(n, most)
    assert places == sorted(set(places)) and len(places) == min(n, most)
    assert places[0] == 0
    assert most == 1 or places[-1] == n - 1


# Keys, limits, costs


@pytest.mark.parametrize("policy", ["grid", "sample"])
def test_only_a_request_that_does_not_fit_is_known_by_the_policy(images, twenty, policy):
    plain, other = spec_of(max_images=20), spec_of(max_images=20, many_images=policy)

    assert wire_body(twenty, plain, images) == wire_body(twenty, other, images)
    assert twenty.canonical(plain) == twenty.canonical(other)
    assert unsendable(twenty, spec_of(max_images=5, many_images=policy), "k") is None


def test_requests_of_which_something_else_is_sent_have_keys_of_their_own(twenty):
    specs = [
        spec_of(max_images=20),
        spec_of(max_images=5, many_images="grid"),
        spec_of(max_images=5, many_images="sample"),
        spec_of(max_images=6, many_images="sample"),
    ]
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
    without = ChatRequest("m", (Message.from_text("user", "Well?"),), "p@1")
    grid = replace(without, in_a_grid=True)
    assert request_key(grid.canonical(spec)) == request_key(without.canonical(spec))


def test_without_a_policy_it_is_not_sent(twenty):
    refused = unsendable(twenty, spec_of(max_images=5), "k")

    assert refused and refused.kind == "too_long"
    assert refused.detail == "20 images, it takes 5."


def test_tokens_and_costs_are_estimated_for_what_is_sent(twenty):
    price = {"price": {"prompt": 1, "completion": 1}}
    whole = spec_of(max_images=20, **price)
    grid = spec_of(max_images=1, many_images="grid", **price)
    sample = spec_of(max_images=5, many_images="sample", **price)

    assert prompt_tokens(twenty, whole) - prompt_tokens(twenty, sample) == 15 * 765
    assert prompt_tokens(twenty, whole) - prompt_tokens(twenty, grid) == 16 * 765
    assert highest_cost(twenty, grid) < highest_cost(twenty, sample) < highest_cost(twenty, whole)


# The context


def test_a_prompt_that_is_likely_above_the_context_is_not_sent(twenty):
    request = ChatRequest("m", (Message.from_text("user", "x" * 4004),), "p@1")

    assert unsendable(request, spec_of(context_tokens=1001), "k") is None
    refused = unsendable(request, spec_of(context_tokens=1000), "k")
    assert refused and refused.kind == "too_long"
    assert refused.detail == (
        "The prompt has about 1001 tokens, and it takes 1000 (context_tokens): correct context_tokens "
        "of its entry in models.yaml, or send less."
    )


LOCAL = "http://127.0.0.1:8080/v1"


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


def test_texts_refuse_a_request_with_images_all_the_same(twenty):
    long = replace(twenty, messages=(Message.from_text("user", "x" * 20_000), *twenty.messages))

    assert unsendable(long, spec_of(context_tokens=4096, base_url=LOCAL), "k") is not None
