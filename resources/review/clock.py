"""The clock of the review store: the database's clock, the same for all processes and machines.

The time of locks never goes backwards, even if the clock is set back: an expired lock stays expired,
and a held lock lasts at most its normal time. The table `clock` has the latest time at which a lock was
given or ended, and the offset of this time since then.
"""

import time
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection

from resources.review.statements import statement
from resources.stores.clock import server_seconds

_READ = statement("SELECT ahead, latest FROM clock", "ahead", "latest")
_ADVANCE = statement(
    """
INSERT INTO clock ("only", ahead, latest) VALUES (1, 0, :clock)
ON CONFLICT ("only") DO UPDATE SET
    ahead = CASE WHEN :clock + clock.ahead < clock.latest
        THEN clock.latest - :clock ELSE clock.ahead END,
    latest = CASE WHEN :clock + clock.ahead < clock.latest
        THEN clock.latest ELSE :clock + clock.ahead END
RETURNING latest
""",
    "latest",
)


def stored_time(time: datetime) -> str:
    """A time in UTC as the store keeps it; all such texts have one length."""
    return time.isoformat(timespec="milliseconds")


def later(moment: str, seconds: float) -> str:
    """Add seconds to a stored time.

    Args:
        moment: The stored time.
        seconds: The seconds.

    Returns:
        The later time as the store keeps it.
    """
    return stored_time(datetime.fromisoformat(moment) + timedelta(seconds=seconds))


def time_of_day(connection: Connection) -> datetime:
    """The time in UTC by the clock of the database."""
    return datetime.fromtimestamp(database_seconds(connection), UTC)


def database_time(connection: Connection) -> str:
    """The time by the clock of the database, as the store keeps it."""
    return stored_time(time_of_day(connection))


def today(connection: Connection) -> str:
    """The current day in UTC; as text it is smaller than every time of that day."""
    return database_time(connection)[: len("2026-01-01")]


def time_of_locks(connection: Connection) -> str:
    """The time that says which locks have ended, as the store keeps it."""
    row = connection.execute(_READ).first()
    return time_of_row(connection, *(row or (None, None)))


def time_of_row(connection: Connection, ahead: float | None, latest: float | None) -> str:
    """Compute the time of locks from the row of the table `clock`.

    Args:
        connection: The review store.
        ahead: By how many seconds the time of locks is ahead; None without a row.
        latest: The latest time of locks; None without a row.

    Returns:
        The time as the store keeps it.
    """
    clock = database_seconds(connection)
    if ahead is None or latest is None:
        return _stored(clock)
    return _stored(max(clock + ahead, latest))


def advance(connection: Connection) -> str:
    """Advance the time of locks to now, which a transaction that gives or ends locks does."""
    return _stored(
        connection.execute(_ADVANCE, {"clock": database_seconds(connection)}).scalar_one()
    )


def database_seconds(connection: Connection) -> float:
    """Return the seconds since 1970 by the server's clock; by this machine's clock for a file."""
    server = server_seconds(connection)
    return time.time() if server is None else server


def _stored(seconds: float) -> str:
    return stored_time(datetime.fromtimestamp(seconds, UTC))
