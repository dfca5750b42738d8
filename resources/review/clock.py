"""The clock of the review store: the database's clock, the same for all processes and machines.

The time of locks never goes backwards, even if the clock is set back: an expired lock stays expired,
and a held lock lasts at most its normal time. The table `clock` has the latest lock time, and the
seconds by which the lock time is ahead of the database's clock.
"""

import time
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, text

from resources.stores.clock import server_seconds

_READ = text("SELECT ahead, latest FROM clock")
_ADVANCE = text("""
INSERT INTO clock ("only", ahead, latest) VALUES (1, 0, :clock)
ON CONFLICT ("only") DO UPDATE SET
    ahead = CASE WHEN :clock + clock.ahead < clock.latest
        THEN clock.latest - :clock ELSE clock.ahead END,
    latest = CASE WHEN :clock + clock.ahead < clock.latest
        THEN clock.latest ELSE :clock + clock.ahead END
RETURNING latest
""")


def stored_time(time: datetime) -> str:
    """Format a time in UTC for the store: ISO 8601 with milliseconds, so all texts have one length."""
    return time.isoformat(timespec="milliseconds")


def later(moment: str, seconds: float) -> str:
    """Add seconds to a stored time.

    Args:
        moment: The stored time.
        seconds: The seconds.

    Returns:
        The later time, in the store's format.
    """
    return stored_time(datetime.fromisoformat(moment) + timedelta(seconds=seconds))


def time_of_day(connection: Connection) -> datetime:
    """Return the time in UTC by the clock of the database."""
    return datetime.fromtimestamp(database_seconds(connection), UTC)


def database_time(connection: Connection) -> str:
    """Return the time by the clock of the database, in the store's format."""
    return stored_time(time_of_day(connection))


def today(connection: Connection) -> str:
    """Return the current day in UTC; as a text it sorts before every time of that day."""
    return database_time(connection)[: len("2026-01-01")]


def time_of_locks(connection: Connection) -> str:
    """Return the lock time in the store's format: locks that expire before it have ended."""
    row = connection.execute(_READ).first()
    return time_of_row(connection, *(row or (None, None)))


def time_of_row(connection: Connection, ahead: float | None, latest: float | None) -> str:
    """Compute the lock time from the row of the table `clock`.

    Args:
        connection: The review store.
        ahead: Seconds by which the lock time is ahead of the database's clock; None without a row.
        latest: The latest lock time, in seconds since 1970; None without a row.

    Returns:
        The lock time, in the store's format.
    """
    clock = database_seconds(connection)
    if ahead is None or latest is None:
        return _stored(clock)
    return _stored(max(clock + ahead, latest))


def advance(connection: Connection) -> str:
    """Advance the lock time to now and return it. Transactions that lock or unlock items call this."""
    return _stored(
        connection.execute(_ADVANCE, {"clock": database_seconds(connection)}).scalar_one()
    )


def database_seconds(connection: Connection) -> float:
    """Return the seconds since 1970 by the server's clock; by this machine's clock for a file."""
    server = server_seconds(connection)
    return time.time() if server is None else server


def _stored(seconds: float) -> str:
    return stored_time(datetime.fromtimestamp(seconds, UTC))
