"""Rate limiting by hosts: no request is sent to a host before the end of its pause (Retry-After)."""

import math
import threading
import time
from email.utils import mktime_tz, parsedate_tz

from methods.web_address import split_address


def retry_after(value: str | None) -> float | None:
    """Parse a Retry-After header, a number or an HTTP date, to seconds from now; None if invalid."""
    text = (value or "").strip()
    try:
        seconds = float(text)
    except ValueError:
        seconds = _seconds_until(text)
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _seconds_until(date: str) -> float:
    """Return the seconds until an HTTP date; NaN if the text is no date."""
    parsed = parsedate_tz(date)
    try:
        return math.nan if parsed is None else mktime_tz(parsed) - time.time()
    except (ValueError, OverflowError):
        return math.nan  # a date that does not exist


class HostPauses:
    """The end of the pause of each host, in `time.monotonic` seconds; safe among threads."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}
        self._lock = threading.Lock()

    def pause(self, host: str, seconds: float) -> None:
        """Pause a host, unless it is already paused for longer.

        Args:
            host: The host.
            seconds: The length of the pause from now.
        """
        until = time.monotonic() + seconds
        with self._lock:
            self._until[host] = max(until, self._until.get(host, 0.0))

    def until(self, host: str) -> float:
        """Return the end of the host's pause, in monotonic seconds; in the past if it is not paused."""
        return self._until.get(host, 0.0)

    def seconds_left(self, host: str) -> float:
        """Return the seconds until the end of the host's pause; 0 if it is not paused."""
        return max(0.0, self.until(host) - time.monotonic())


def host_name(address: str) -> str:
    """Return the host of a URL, in lower case and without port; empty if it has no host."""
    try:
        return (split_address(address).hostname or "").rstrip(".")
    except ValueError:
        return ""
