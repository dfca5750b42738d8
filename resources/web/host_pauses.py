"""Pauses that hosts have asked for: no request goes to a host before its pause is over."""

import math
import threading
import time
from email.utils import mktime_tz, parsedate_tz
from urllib.parse import urlsplit


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


class HostPauses:
    """Until when each host is paused, in the time of `time.monotonic`; safe among threads."""

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
        """When the host may be asked again; a time in the past if it is not paused."""
        return self._until.get(host, 0.0)

    def seconds_left(self, host: str) -> float:
        """Seconds until the host may be asked again; 0 if it is not paused."""
        return max(0.0, self.until(host) - time.monotonic())


def host_name(address: str) -> str:
    """The host of an address, in lower case and without its port; empty where it has none."""
    try:
        return (urlsplit(address).hostname or "").rstrip(".")
    except ValueError:
        return ""
