"""The Retry-After header (RFC 9110, section 10.2.3): how long a server asks its clients to wait.

What belongs here: reading the header. How long each client waits at most is the client's own limit.
"""

import math
import time
from email.utils import mktime_tz, parsedate_tz


def retry_after(value: str | None) -> float | None:
    """Seconds from now, from a number or an HTTP date; 0 for the past, None if it is neither."""
    text = (value or "").strip()
    try:
        seconds = float(text)
    except ValueError:
        seconds = _seconds_until(text)
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _seconds_until(date: str) -> float:
    """Seconds until an HTTP date; NaN if it is none."""
    parsed = parsedate_tz(date)
    try:
        return math.nan if parsed is None else mktime_tz(parsed) - time.time()
    except (ValueError, OverflowError):
        return math.nan  # a date that no calendar has
