"""Settings of a model's entry in models.yaml, derived from measurements of `vlm-loom model check`:
tokens of images, context length, concurrency and timeouts.
"""

import math
import re
from typing import NamedTuple

from resources.llm.estimate import largest_tiles
from resources.llm.model_spec import ModelSpec

_CONTEXT = re.compile(
    r"(?:context (?:size|length|window)|max[_ ]model[_ ]len)(?: of| is)?\W{0,3}(\d{3,9})\b",
    re.IGNORECASE,
)
ANSWER_TOKENS = 2048
"""Tokens of the context that are reserved for the answer, at most half of the context."""
_ALL_AT_ONCE = 0.75
"""If the throughput of n concurrent requests is at least this share of n times that of one request, the
server counts as processing all n in parallel. Chosen by hand.
"""
_PER_SLOT = 2
"""Requests in flight for each parallel slot of the server, so that no slot is idle."""
_SHORTEST = 0.2
"""Shortest answer, in seconds, whose rate is used: below, the network's share is too large."""
_STEP = 30
"""Timeouts are rounded up to a multiple of this number of seconds."""


class TokenRate(NamedTuple):
    """Number of generated tokens, and the seconds that they took in total."""

    tokens: int
    seconds: float

    @property
    def per_second(self) -> float:
        """Generated tokens per second."""
        return self.tokens / max(self.seconds, 1e-6)


def image_settings(spec: ModelSpec, small: int, large: int) -> dict[str, object]:
    """Compute the setting `image_tokens`: base and tokens per tile.

    Args:
        spec: The entry.
        small: The prompt tokens of an image of one tile.
        large: The prompt tokens of a square image with sides of `max_side` pixels.
    """
    tiles = largest_tiles(spec)
    tile = max(0, math.ceil((large - small) / (tiles - 1))) if tiles > 1 else 0
    base = max(0, max(small, large) - tiles * tile)
    return {"image_tokens": {"base": base, "tile": tile}}


def room_for_prompt(context: int) -> int:
    """Return the tokens of a context that are left for the prompt, with room for an answer."""
    return context - min(ANSWER_TOKENS, context // 2)


def context_settings(refusal: str) -> dict[str, object]:
    """Compute the setting `context_tokens` from a server's error message about a long prompt.

    It is empty if the message has no context length.
    """
    named = _CONTEXT.search(refusal)
    return {} if named is None else {"context_tokens": room_for_prompt(int(named[1]))}


def slots_of(alone: TokenRate, together: TokenRate, n: int) -> int | None:
    """Estimate the number of requests that the server processes in parallel.

    Args:
        alone: The rate of one request.
        together: The total rate of `n` concurrent requests.
        n: The number of concurrent requests, at least 1.

    Returns:
        The number; None if it is at least `n`, or if answers are too fast to tell.
    """
    if alone.seconds < _SHORTEST:
        return None
    gain = together.per_second / max(alone.per_second, 1e-6)
    return None if gain >= _ALL_AT_ONCE * n else max(1, round(gain))


def speed_settings(
    spec: ModelSpec, alone: TokenRate, slots: int | None, longest_answer: int
) -> dict[str, object]:
    """Compute the settings `concurrency` and `timeouts`, so that the longest answer does not time out.

    Args:
        spec: The entry.
        alone: The rate of a single request.
        slots: The result of `slots_of`.
        longest_answer: The tokens of the longest answer that the project requests.

    Returns:
        The settings that differ from those of the entry.
    """
    in_flight = spec.concurrency if slots is None else min(spec.concurrency, _PER_SLOT * slots)
    queued = 1.0 if slots is None else max(1.0, in_flight / slots)
    seconds = queued * longest_answer / max(alone.per_second, 1e-6)
    whole = max(spec.timeouts.whole, math.ceil(seconds / _STEP) * _STEP)
    settings: dict[str, object] = {}
    if in_flight != spec.concurrency:
        settings["concurrency"] = in_flight
    if whole != spec.timeouts.whole:
        settings["timeouts"] = {"whole": round(whole)}
    return settings
