"""Wait for a resource that others hold, with a log message now and then."""

import time
from collections.abc import Callable

from filelock import BaseFileLock, Timeout


class TimedWait:
    """A wait of at most `timeout` seconds, which logs after `first` seconds and then every `again`
    seconds.
    """

    def __init__(
        self, timeout: float, log: Callable[[str], None], first: float, again: float
    ) -> None:
        self._log = log
        self._began = time.monotonic()
        self._ends = self._began + timeout
        self._says_at = self._began + first
        self._again = again

    def seconds_left(self) -> float:
        """Return the seconds until the next log message is due or the wait is over."""
        return max(0.0, min(self._says_at, self._ends) - time.monotonic())

    def goes_on(self, why: str) -> bool:
        """Tell whether there is time left. Logs the reason of the wait if a message is due."""
        current_time = time.monotonic()
        if current_time >= self._ends:
            return False
        if current_time >= self._says_at:
            self._says_at = current_time + self._again
            seconds = current_time - self._began
            so_far = f" for {seconds:.0f} s" if seconds >= 1 else ""
            self._log(f"Waiting{so_far}: {why}.")
        return True

    def acquire(self, lock: BaseFileLock, why: str) -> bool:
        """Acquire a lock. Returns False if others hold it until the wait is over."""
        while True:
            try:
                lock.acquire(timeout=self.seconds_left())
                return True
            except Timeout:
                if not self.goes_on(why):
                    return False
