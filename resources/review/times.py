"""Times as the store keeps them: UTC, ISO 8601 to the millisecond, so that they sort as text."""

from datetime import UTC, datetime, timedelta


def now(seconds_later: float = 0.0) -> str:
    """The current time plus `seconds_later`."""
    return stored_time(datetime.now(UTC) + timedelta(seconds=seconds_later))


def stored_time(time: datetime) -> str:
    """A time in UTC as the store keeps it; all such texts have one length."""
    return time.isoformat(timespec="milliseconds")


def today() -> str:
    """The current day in UTC; as text it is smaller than every time of that day."""
    return now()[: len("2026-01-01")]
