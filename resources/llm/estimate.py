"""Estimates of a request's tokens and cost before it is sent: for limits, budgets and dry runs."""

import math
from collections.abc import Callable

from methods.ids import canonical_json
from methods.prompts.messages import Image
from resources.llm.model_spec import ModelSpec
from resources.llm.request import ChatRequest

CHARACTERS_PER_TOKEN = 4
TOKENS_PER_WORD = 1.5
"""Tokens per English word: a word has about six characters, including the space after it."""
_TILE = 512
"""Pixels: the side of the square tiles that OpenAI cuts images into."""
_LONG_SIDE, _SHORT_SIDE = 2048, 768
"""Pixels: OpenAI shrinks an image to fit these sides before it cuts tiles."""
COMPLETION_TOKENS = 500
"""The assumed number of tokens of an answer in a dry run if nothing better is known."""
_MESSAGE_TOKENS = 8
"""Tokens of each message in addition to its content."""


def image_tokens(spec: ModelSpec) -> int:
    """Return the tokens of an image of the largest size that the model is sent.

    With GPT-4o's counts, these are 765 for a `max_side` of 1024, and 85 in low detail.
    """
    if spec.detail == "low":
        return spec.image_counts.base
    return spec.image_counts.base + spec.image_counts.tile * largest_tiles(spec)


def largest_tiles(spec: ModelSpec) -> int:
    """Return the number of tiles of an image of the largest size that the model is sent."""
    long_side, short_side = (
        math.ceil(min(spec.max_side, side) / _TILE) for side in (_LONG_SIDE, _SHORT_SIDE)
    )
    return long_side * short_side


def picture_tokens(spec: ModelSpec, width: int, height: int) -> int:
    """Estimate the tokens of an image by OpenAI's rule: shrink it, then cut it into tiles.

    With GPT-4o's counts an image of 1024 by 500 pixels takes 425 tokens, two tiles.

    Args:
        spec: The entry of the model.
        width: The width of the sent image in pixels.
        height: The height of the sent image in pixels.
    """
    if spec.detail == "low":
        return spec.image_counts.base
    part = min(1.0, _LONG_SIDE / max(width, height), _SHORT_SIDE / min(width, height))
    tiles = math.ceil(round(width * part) / _TILE) * math.ceil(round(height * part) / _TILE)
    return spec.image_counts.base + spec.image_counts.tile * tiles


def grid_sides(n_images: int) -> int:
    """Return the side length of the grid image as a multiple of `max_side`. The grid never costs
    more tokens than its images would.
    """
    return 2 if n_images >= 4 else 1


def _images_sent(request: ChatRequest, spec: ModelSpec) -> int:
    """Return how many images of the largest size the images of the request are charged as."""
    n_images = len(request.image_ids)
    match request.images_done(spec):
        case "grid":
            return grid_sides(n_images) ** 2
        case "sample":
            return spec.max_images
        case _:
            return n_images


def text_tokens(text: str) -> int:
    """Estimate the tokens of a text."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def prompt_tokens(request: ChatRequest, spec: ModelSpec) -> int:
    """Estimate the tokens of a request's prompt, with images of the largest size that is sent.

    Args:
        request: The request.
        spec: The entry of its model.
    """
    return text_tokens("".join(texts_of(request))) + _images_sent(request, spec) * image_tokens(
        spec
    )


def likely_prompt_tokens(
    request: ChatRequest, spec: ModelSpec, size_of: Callable[[str], tuple[int, int]]
) -> int:
    """Estimate the tokens of a request's prompt, with the actual sizes of its images.

    Args:
        request: The request.
        spec: The entry of its model.
        size_of: Returns width and height in pixels of an image as it is sent.
    """
    if request.images_done(spec) != "all":
        return prompt_tokens(request, spec)
    # Summed by part, as a provider gets each text and each image as a separate part.
    texts = sum(map(text_tokens, texts_of(request)))
    return texts + sum(picture_tokens(spec, *size_of(image_id)) for image_id in request.image_ids)


def estimated_tokens(request: ChatRequest, spec: ModelSpec) -> int:
    """Estimate the tokens of the prompt and of the longest allowed answer.

    The limit of tokens per minute is charged with this number until the answer arrives.

    Args:
        request: The request.
        spec: The entry of its model.
    """
    return prompt_tokens(request, spec) + spec.longest_answer(request.params)


def highest_cost(request: ChatRequest, spec: ModelSpec, via: str = "live") -> float:
    """Estimate the highest cost of one attempt in US dollars: a token a byte, and the longest answer.

    Args:
        request: The request.
        spec: The model's entry, with its prices.
        via: `live` or `batch`.
    """
    n_bytes = sum(len(text.encode("utf-8", "replace")) for text in texts_of(request))
    prompt = n_bytes + len(request.messages) * _MESSAGE_TOKENS
    prompt += _images_sent(request, spec) * image_tokens(spec)
    if request.schema:
        prompt += len(canonical_json(request.schema).encode())
    return spec.cost(prompt, spec.longest_answer(request.params), via)


def texts_of(request: ChatRequest) -> list[str]:
    """List the texts of a request's messages, in order."""
    return [
        part.text
        for message in request.messages
        for part in message.parts
        if not isinstance(part, Image)
    ]
