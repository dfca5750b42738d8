"""Settings of an entry that follow from what was measured, worked by hand."""

import pytest

from dagster_project.model_measures import (
    TokenRate,
    context_settings,
    image_settings,
    slots_of,
    speed_settings,
)
from resources.llm.estimate import image_tokens
from resources.llm.model_spec import ModelSpec


def entry(**fields: object) -> ModelSpec:
    return ModelSpec.model_validate({"name": "m", "provider": "openai", "model": "m", **fields})


@pytest.mark.parametrize(
    ("max_side", "small", "large", "base", "tile"),
    [
        (1024, 255, 765, 85, 170),  # GPT-4o: one tile, and four
        (1024, 64, 64, 64, 0),  # a fixed number
        (1024, 10, 171, 0, 54),  # per pixel; rounded up
        (512, 70, 90, 90, 0),  # the largest image is one tile
    ],
)
def test_image_tokens(max_side: int, small: int, large: int, base: int, tile: int) -> None:
    spec = entry(max_side=max_side)
    settings = image_settings(spec, small, large)

    assert settings == {"image_tokens": {"base": base, "tile": tile}}
    assert image_tokens(entry(max_side=max_side, **settings)) >= large


@pytest.mark.parametrize(
    ("refusal", "context"),
    [
        ("request (9030 tokens) exceeds the available context size (4096 tokens)", 2048),
        ("This model's maximum context length is 32768 tokens.", 30720),
        ("Input length (9030) exceeds max_model_len (8192).", 6144),
        ("The request is too long.", None),
    ],
)
def test_a_context_leaves_room_for_the_answer(refusal: str, context: int | None) -> None:
    expected = {} if context is None else {"context_tokens": context}

    assert context_settings(refusal) == expected


@pytest.mark.parametrize(
    ("seconds", "slots"), [(10.0, None), (12.0, None), (20.0, 2), (40.0, 1), (60.0, 1)]
)
def test_slots_are_how_much_faster_four_are_together(seconds: float, slots: int | None) -> None:
    assert slots_of(TokenRate(100, 10.0), TokenRate(400, seconds), 4) == slots


def test_a_server_that_answers_in_no_time_says_nothing_about_its_slots() -> None:
    assert slots_of(TokenRate(100, 0.01), TokenRate(400, 0.04), 4) is None


def test_timeouts_hold_the_longest_answer_and_one_before_it_in_the_queue() -> None:
    # 2,048 tokens at 10 a second are 205 s; with two requests a slot, twice that: 420 s in steps of 30.
    assert speed_settings(entry(), TokenRate(100, 10.0), 2, 2048) == {
        "concurrency": 4,
        "timeouts": {"whole": 420},
    }
    assert speed_settings(entry(), TokenRate(1000, 10.0), None, 2048) == {}, "the defaults will do"
