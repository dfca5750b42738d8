"""Times as the store keeps them: UTC, ISO 8601 to the millisecond, so that they sort as texts."""

from datetime import UTC, datetime, timedelta


def now(seconds_later: float = 0.0) -> str:
    """The time it is, or will be in `seconds_later`."""
    time = datetime.now(UTC) + timedelta(seconds=seconds_later)
    return time.isoformat(timespec="milliseconds")


def today() -> str:
    """The day it is in UTC: every time of it is greater as a text."""
    return now()[: len("2026-01-01")]
