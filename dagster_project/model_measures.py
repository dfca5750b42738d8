"""The settings of a model's entry that follow from what was measured at its server."""

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
"""Tokens of the context that are kept for the answer, or half of a smaller context."""
_ALL_AT_ONCE = 0.75
"""Part of the ideal pace from which a server counts as answering all that are sent together at once."""
_PER_SLOT = 2
"""Requests to send for each that the server answers at once, so that none of its slots waits."""
_SHORTEST = 0.2
"""Seconds of an answer from which its pace says something about the server, and not the network."""
_STEP = 30
"""Seconds to which timeouts are rounded up."""


class TokenRate(NamedTuple):
    """Tokens of answers, and the seconds that they took together."""

    tokens: int
    seconds: float

    @property
    def per_second(self) -> float:
        """Tokens of answers a second."""
        return self.tokens / max(self.seconds, 1e-6)


def image_settings(spec: ModelSpec, small: int, large: int) -> dict[str, object]:
    """`image_tokens` of an entry.

    Args:
        spec: The entry.
        small: Tokens that an image of one tile counts.
        large: Tokens that an image counts whose sides have `max_side` pixels.
    """
    tiles = largest_tiles(spec)
    tile = max(0, math.ceil((large - small) / (tiles - 1))) if tiles > 1 else 0
    base = max(0, max(small, large) - tiles * tile)
    return {"image_tokens": {"base": base, "tile": tile}}


def room_for_prompt(context: int) -> int:
    """The tokens that a prompt may have in a context of so many tokens, so that an answer fits, too."""
    return context - min(ANSWER_TOKENS, context // 2)


def context_settings(refusal: str) -> dict[str, object]:
    """`context_tokens` of an entry, from the words of a server that refused a long prompt.

    Args:
        refusal: What the server said.

    Returns:
        The setting; empty if the words name no context.
    """
    named = _CONTEXT.search(refusal)
    return {} if named is None else {"context_tokens": room_for_prompt(int(named[1]))}


def slots_of(alone: TokenRate, together: TokenRate, n: int) -> int | None:
    """How many requests the server answers at once.

    Args:
        alone: The pace of one request.
        together: The pace of `n` requests that were sent together.
        n: At least 1.

    Returns:
        The number; None if all `n` are answered at once, or too fast to tell.
    """
    if alone.seconds < _SHORTEST:
        return None
    gain = together.per_second / max(alone.per_second, 1e-6)
    return None if gain >= _ALL_AT_ONCE * n else max(1, round(gain))


def speed_settings(
    spec: ModelSpec, alone: TokenRate, slots: int | None, longest_answer: int
) -> dict[str, object]:
    """`concurrency` and `timeouts` of an entry, so that the longest answer comes in time.

    Args:
        spec: The entry.
        alone: The pace of one request by itself.
        slots: How many requests the server answers at once; None if at least as many as were tried.
        longest_answer: Tokens of the longest answer that is asked for.

    Returns:
        Those of the two settings that the entry does not have already.
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
