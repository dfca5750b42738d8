"""Read the rate limit headers of a response.

`retry-after-ms` and `Retry-After` come with a refusal. `x-ratelimit-*` (OpenAI and compatible
servers) and `anthropic-ratelimit-*` come with every reply; they state the remaining units of a
limit and the time of its reset.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from resources.web.host_pauses import retry_after

if TYPE_CHECKING:
    from httpx2 import Headers

_SECONDS = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001, "us": 1e-6, "ns": 1e-9}
_PART = re.compile(r"(\d{1,12}(?:\.\d{1,12})?)(ms|us|ns|d|h|m|s)")
_DURATION = re.compile(rf"(?:{_PART.pattern})+")
_NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,12})?")


def refusal_pause(headers: "Headers") -> float | None:
    """Return the seconds that a refusal asks to wait; None if it does not say."""
    pause = _number(headers.get("retry-after-ms", ""), 0.001)
    if pause is None:
        pause = retry_after(headers.get("retry-after"))
    return pause


def pause_until_reset(headers: "Headers") -> float:
    """Return the seconds until all exhausted limits are reset; 0 if no limit is exhausted."""
    limits = dict(_of_limits(headers.raw))
    pauses = [0.0]
    for name, value in limits.items():
        # x-ratelimit-remaining-tokens, anthropic-ratelimit-input-tokens-remaining
        if "remaining" in name and value.strip() == "0":
            pauses.append(seconds_until_reset(limits.get(name.replace("remaining", "reset"), "")))
    return max(pauses)


def seconds_until_reset(text: str) -> float:
    """Parse a reset time: a duration such as `1h2m3.5s`, a number of seconds, or an RFC
    3339 date; 0 for anything else.
    """
    text = text.strip()
    seconds = _number(text, 1.0)
    if seconds is not None:
        return seconds
    if len(text) < 100 and _DURATION.fullmatch(text):
        return sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
    try:
        until = datetime.fromisoformat(text)
    except ValueError:
        return 0.0
    if until.tzinfo is None:
        return 0.0
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


def _number(text: str, unit: float) -> float | None:
    return float(text) * unit if _NUMBER.fullmatch(text.strip()) else None


def _of_limits(raw: Iterable[tuple[bytes, bytes]]) -> Iterable[tuple[str, str]]:
    # Filtered as bytes for speed: this runs for each response, and most have no such header.
    for raw_name, value in raw:
        name = raw_name.lower()
        if b"ratelimit" in name:
            yield name.decode("latin-1"), value.decode("latin-1")
