"""Limits of failed sign-ins by password: for a name, and for an address.

What belongs here: the table `sign_in_attempts`. Every function runs inside the caller's transaction.
"""

import sqlite3
from datetime import datetime, timedelta

from methods.errors import UserError
from resources.review.clock import stored_time

ATTEMPTS_WINDOW = timedelta(minutes=5)
ATTEMPTS_PER_NAME = 5
ATTEMPTS_PER_ADDRESS = 20
"""More than for a name, since a whole office may share one address."""

# A row means that the limit is reached: the oldest attempt that counts must expire before the next one.
_OLDEST_THAT_COUNTS = """
SELECT tried_at FROM sign_in_attempts WHERE {column} = ? AND tried_at > ?
ORDER BY tried_at DESC LIMIT 1 OFFSET ?
"""


class TooManyAttempts(UserError):
    """Signing in by password is blocked for a name or an address for the time `wait`."""

    def __init__(self, wait: timedelta):
        self.wait = wait
        seconds = int(wait.total_seconds())
        n, unit = (seconds, "second") if seconds <= 60 else (-(-seconds // 60), "minute")
        super().__init__(f"Too many failed sign-ins: try again in {n} {unit}{'s' * (n != 1)}.")


def count_attempt(
    connection: sqlite3.Connection, name_hash: str, address: str, now: datetime
) -> None:
    """Count an attempt for a name and, if known, an address. Raises TooManyAttempts at the limit."""
    since = stored_time(now - ATTEMPTS_WINDOW)
    connection.execute("DELETE FROM sign_in_attempts WHERE tried_at <= ?", (since,))
    limits = [("name_hash", name_hash, ATTEMPTS_PER_NAME)]
    if address:
        limits.append(("address", address, ATTEMPTS_PER_ADDRESS))
    for column, value, most in limits:
        row = connection.execute(
            _OLDEST_THAT_COUNTS.format(column=column), (value, since, most - 1)
        ).fetchone()
        if row is not None:
            over = datetime.fromisoformat(row["tried_at"]) + ATTEMPTS_WINDOW
            raise TooManyAttempts(max(over - now, timedelta(seconds=1)))
    connection.execute(
        "INSERT INTO sign_in_attempts (name_hash, address, tried_at) VALUES (?, ?, ?)",
        (name_hash, address, stored_time(now)),
    )


def forget_attempts(connection: sqlite3.Connection, name_hash: str) -> None:
    """Forget the attempts for a name after a successful sign-in."""
    connection.execute("DELETE FROM sign_in_attempts WHERE name_hash = ?", (name_hash,))
