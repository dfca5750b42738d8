"""The time of the review store, which does not jump when somebody sets the machine's clock.

What belongs here: the table `clock`. The store's time is the time since the machine's start, which
nobody sets, plus an offset that is stored once for each start; so it is the same in every process.
Where machines share the store it is the time of the server's clock.
"""

import sqlite3
import time
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from resources.store_backend import server_seconds

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def stored_time(time: datetime) -> str:
    """A time in UTC as the store keeps it; all such texts have one length."""
    return time.isoformat(timespec="milliseconds")


def now(connection: sqlite3.Connection, seconds_later: float = 0.0) -> str:
    """The store's time plus `seconds_later`."""
    server = server_seconds(connection)
    if server is not None:
        return _time(server, seconds_later)
    row = connection.execute("SELECT ahead FROM clock WHERE boot = ?", [boot()]).fetchone()
    seconds = wall() if row is None else since_boot() + row[0]
    return _time(seconds, seconds_later)


def _time(seconds: float, later: float) -> str:
    return stored_time(datetime.fromtimestamp(seconds, UTC) + timedelta(seconds=later))


def time_of_day(connection: sqlite3.Connection) -> datetime:
    """The time in UTC as people have it: by the machine's clock, or by that of the server that machines
    share."""
    server = server_seconds(connection)
    return datetime.fromtimestamp(wall() if server is None else server, UTC)


def today(connection: sqlite3.Connection) -> str:
    """The current day in UTC; as text it is smaller than every time of that day."""
    return stored_time(time_of_day(connection))[: len("2026-01-01")]


def anchor(connection: sqlite3.Connection, longest: float) -> None:
    """Take the machine's clock once for each of its starts, inside the caller's transaction.

    No lock then lasts longer than `longest` seconds, though the clock may have gone back meanwhile.
    """
    if server_seconds(connection) is not None:
        return
    if connection.execute("SELECT 1 FROM clock WHERE boot = ?", [boot()]).fetchone():
        return
    connection.execute(
        "INSERT INTO clock (only, boot, ahead) VALUES (1, ?, ?) "
        "ON CONFLICT (only) DO UPDATE SET boot = excluded.boot, ahead = excluded.ahead",
        [boot(), wall() - since_boot()],
    )
    connection.execute(
        "UPDATE locks SET expires_at = min(expires_at, ?)", [now(connection, longest)]
    )


def wall() -> float:
    """The machine's clock: seconds since 1970."""
    return time.time()


def since_boot() -> float:
    """Seconds since the machine's start, the time that it slept included."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@cache
def boot() -> str:
    """What names this start of the machine; where the system does not say, one name for all."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return "unknown"
