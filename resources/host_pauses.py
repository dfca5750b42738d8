"""Pauses that hosts have asked for: no request goes to a host before its pause is over.

What belongs here: until when each host is paused, for everything in this process that sends requests.
How long a pause is, and when a host is given up, is decided by who sends them
(`resources/wikipedia/api_client.py`, `resources/images/host_queue.py`).
"""

import threading
import time
from urllib.parse import urlsplit


class HostPauses:
    """Until when each host is paused, in the time of `time.monotonic`; safe among threads."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}
        self._lock = threading.Lock()

    def pause(self, host: str, seconds: float) -> None:
        """Pause a host for so many seconds from now; a pause that ends later stays as it is."""
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
