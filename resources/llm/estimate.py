"""What a request may come to, before it is sent: for limits, budgets and dry runs.

What belongs here: estimates. What was used is what the provider says (`reply.py`).
"""

import math

from methods.ids import canonical_json
from methods.prompts.messages import Image
from resources.llm.registry import ModelSpec
from resources.llm.request import ChatRequest

CHARACTERS_PER_TOKEN = 4
_TILE = 512
"""Pixels a side of what OpenAI cuts images into."""
_LONG_SIDE, _SHORT_SIDE = 2048, 768
"""What OpenAI shrinks an image to before it cuts tiles."""
COMPLETION_TOKENS = 500
"""The length of a usual answer."""
LONGEST_COMPLETION = 4096
"""The longest answer where a request sets no limit of its own."""
_MESSAGE_TOKENS = 8
"""What a message adds by being one."""


def image_tokens(spec: ModelSpec) -> int:
    """Tokens of an image as large as the model is sent: 765 at 1024 pixels, 85 in low detail, by the
    counts of GPT-4o."""
    if spec.detail == "low":
        return spec.image_tokens.base
    tiles = [math.ceil(min(spec.max_side, side) / _TILE) for side in (_LONG_SIDE, _SHORT_SIDE)]
    return spec.image_tokens.base + spec.image_tokens.tile * tiles[0] * tiles[1]


def text_tokens(text: str) -> int:
    """Tokens that a text is likely to have."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def prompt_tokens(request: ChatRequest, spec: ModelSpec) -> int:
    """Tokens the prompt is likely to have."""
    return text_tokens("".join(_texts(request))) + len(request.image_ids) * image_tokens(spec)


def estimated_tokens(request: ChatRequest, spec: ModelSpec) -> int:
    """Tokens a request may cost, the longest answer it allows among them: what a limit is asked for
    until the answer is there."""
    return prompt_tokens(request, spec) + int(request.params.get("max_tokens", COMPLETION_TOKENS))


def highest_cost(request: ChatRequest, spec: ModelSpec, via: str = "live") -> float:
    """US dollars that an attempt cannot pass: a token is a byte at least, an answer has its limit."""
    n_bytes = sum(len(text.encode("utf-8", "replace")) for text in _texts(request))
    prompt = n_bytes + len(request.messages) * _MESSAGE_TOKENS
    prompt += len(request.image_ids) * image_tokens(spec)
    if request.schema:
        prompt += len(canonical_json(request.schema).encode())
    return spec.cost(prompt, int(request.params.get("max_tokens", LONGEST_COMPLETION)), via)


def _texts(request: ChatRequest) -> list[str]:
    return [
        part.text
        for message in request.messages
        for part in message.parts
        if not isinstance(part, Image)
    ]
