"""What a request may come to, worked by hand, and a highest cost that no bill can pass."""

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from methods.prompts.messages import Image, Message, Text
from resources.llm.estimate import (
    estimated_tokens,
    highest_cost,
    image_tokens,
    likely_prompt_tokens,
    picture_tokens,
    prompt_tokens,
    text_tokens,
)
from resources.llm.model_spec import ModelSpec
from resources.llm.request import ChatRequest
from tests.resources.llm.entries import spec_of

RED, BLUE = "a" * 64, "b" * 64


PRICE = {"prompt": 2.0, "completion": 8.0}


def asked_of(**entry: object) -> ModelSpec:
    """A model at $2 a million tokens asked and $8 answered."""
    return spec_of(**{"price": PRICE, **entry})


def request(*messages: Message, **more: object) -> ChatRequest:
    return ChatRequest("m", messages, "test/estimate@1", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("a" * 4001, 1001)]
)
def test_four_characters_are_a_token_and_what_is_left_is_one_more(text, tokens):
    assert text_tokens(text) == tokens


@pytest.mark.parametrize(
    ("max_side", "tokens"),
    [
        # 85, and 170 for each tile of 512: as many along the long side, up to 2,048, as along the
        # short one, which is never more than 768 and so never more than two.
        *((512, 255), (513, 765), (1024, 765)),  # 1 * 1, 2 * 2
        *((1025, 1105), (1537, 1445), (8000, 1445)),  # 3 * 2, 4 * 2; 8000 is shrunk to 2,048
    ],
)
@pytest.mark.parametrize("detail", ["auto", "high"])
def test_an_image_is_a_token_base_and_its_tiles(max_side, tokens, detail):
    assert image_tokens(asked_of(max_side=max_side, detail=detail)) == tokens


@pytest.mark.parametrize(
    ("width", "height", "tokens"),
    [
        (512, 512, 255),  # 1 * 1
        (1024, 500, 425),  # 2 * 1
        (1024, 1024, 765),  # 768 * 768: 2 * 2
        (2048, 1024, 1105),  # 1536 * 768: 3 * 2
        (4096, 512, 765),  # 2048 * 256: 4 * 1
    ],
)
def test_a_picture_counts_the_tiles_that_it_is_cut_into(width, height, tokens):
    assert picture_tokens(asked_of(), width, height) == tokens
    assert picture_tokens(asked_of(detail="low"), width, height) == 85


@settings(deadline=None)
@given(st.integers(64, 4000), st.floats(0.01, 1), st.floats(0.01, 1))
def test_no_image_of_the_size_that_is_sent_has_more(max_side, wide, high):
    width, height = math.ceil(max_side * wide), math.ceil(max_side * high)

    spec = asked_of(max_side=max_side)
    assert picture_tokens(spec, width, height) <= image_tokens(spec)


def test_an_image_counts_what_its_models_entry_says():
    mini = asked_of(image_tokens={"base": 2833, "tile": 5667})

    # 2,833 and four tiles of 5,667 at 1,024 pixels.
    assert image_tokens(mini) == 25_501
    assert image_tokens(mini.model_copy(update={"detail": "low"})) == 2833
    asked = request(Message("user", (Image(RED), Image(BLUE))), params={"max_tokens": 1})
    assert prompt_tokens(asked, mini) == 51_002
    assert highest_cost(asked, mini) == pytest.approx((51_002 + 8) * 2e-6 + 8e-6)


def test_a_prompt_is_its_texts_and_its_images():
    asked = request(
        Message.from_text("system", "Be brief."),  # 9 characters
        Message("user", (Image(RED), Text("Which is où?"), Image(BLUE))),  # 12
    )

    # 21 characters are 6 tokens; two images of 765.
    assert prompt_tokens(asked, asked_of()) == 6 + 2 * 765
    assert prompt_tokens(asked, asked_of(detail="low")) == 6 + 2 * 85
    # And 4,096 of the longest answer, or as many as it may have.
    assert estimated_tokens(asked, asked_of()) == 6 + 2 * 765 + 4096
    short = replace(asked, params={"max_tokens": 20})
    assert estimated_tokens(short, asked_of()) == 6 + 2 * 765 + 20
    own_limit = asked_of(token_limit={"tokens": 3000})
    assert estimated_tokens(short, own_limit) == 6 + 2 * 765 + 3000


def test_the_highest_cost_is_a_token_a_byte_and_the_longest_answer():
    asked = request(Message.from_text("user", "Où 字?"), params={"max_tokens": 100})

    # O, ù (2), space, 字 (3), ? are 8 bytes, the message 8 more: 16 * $2 + 100 * $8.
    assert highest_cost(asked, asked_of()) == pytest.approx(832e-6)
    # Without a limit 4,096 may be answered.
    unlimited = replace(asked, params={})
    assert highest_cost(unlimited, asked_of()) == pytest.approx((16 * 2 + 4096 * 8) / 1e6)
    # In a batch it is its part of that.
    spec = asked_of(price={**PRICE, "batch": 0.25})
    assert highest_cost(asked, spec, "batch") == pytest.approx(208e-6)
    assert highest_cost(asked, spec) == highest_cost(asked, spec, "live") == pytest.approx(832e-6)
    # Every message, image and schema adds to it.
    more = request(
        Message.from_text("system", "Brief."),  # 6 + 8
        Message("user", (Image(RED), Image(BLUE), Text("Which?"))),  # 6 + 8 + 2 * 765
        params={"max_tokens": 1},
        schema={"ty": "字"},  # {"ty":"字"}: 12 bytes
    )
    assert highest_cost(more, asked_of()) == pytest.approx((14 + 14 + 1530 + 12) * 2e-6 + 8e-6)


texts = st.text(
    st.characters(exclude_categories=[]), max_size=30
)  # half characters too, as a page may hold them
parts = st.lists(texts.map(Text) | st.sampled_from([Image(RED), Image(BLUE)]), max_size=4)
messages = st.lists(parts.map(lambda each: Message("user", tuple(each))), min_size=1, max_size=4)
specs = st.builds(
    lambda detail, side: asked_of(detail=detail, max_side=side),
    st.sampled_from(["auto", "low", "high"]),
    st.integers(64, 4000),
)


@settings(deadline=None)
@given(messages, specs, st.integers(1, 5000))
def test_no_tokenizer_of_bytes_can_make_a_call_dearer_than_the_highest_cost(
    drawn, spec, max_tokens
):
    asked = request(*drawn, params={"max_tokens": max_tokens})
    n_bytes = sum(
        len(part.text.encode("utf-8", "replace"))
        for message in drawn
        for part in message.parts
        if isinstance(part, Text)
    )
    n_prompt = n_bytes + len(asked.image_ids) * image_tokens(spec)

    assert highest_cost(asked, spec) >= spec.cost(n_prompt, max_tokens)
    assert highest_cost(asked, spec, "batch") >= spec.cost(n_prompt, max_tokens, "batch")


def test_a_prompt_counts_its_pictures_as_large_as_they_are():
    said = request(Message("user", (Text("abcde"), Image(RED), Text("abc"), Image(BLUE))))
    sizes = {RED: (512, 512), BLUE: (1024, 500)}

    assert likely_prompt_tokens(said, asked_of(), sizes.__getitem__) == 2 + 255 + 1 + 425
    # In one grid they count as the largest that may be sent.
    grid = replace(said, in_a_grid=True)
    four = replace(grid, messages=(Message("user", (Image(RED), Image(BLUE)) * 2),))
    assert prompt_tokens(four, asked_of()) == 4 * 765
    assert likely_prompt_tokens(grid, asked_of(), sizes.__getitem__) == prompt_tokens(
        grid, asked_of()
    )
