"""The Retry-After header (RFC 9110, section 10.2.3): when a server wants to be asked again.

What belongs here: reading it. What does not: how far to go along with it.
"""

import time
from email.utils import parsedate_to_datetime


def retry_after(value: str | None) -> float | None:
    """Seconds from now, from a number or an HTTP date; None where it says nothing readable."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
