"""Rate limits of failed sign-ins by password, per name and per IP address.

Every function runs inside the caller's transaction.
"""

from datetime import datetime, timedelta
from ipaddress import IPv6Network, ip_address

from sqlalchemy import Connection, text

from methods.errors import UserError
from resources.review.clock import stored_time

ATTEMPTS_WINDOW = timedelta(minutes=5)
ATTEMPTS_PER_NAME = 5
ATTEMPTS_PER_ADDRESS = 20
"""Higher than the limit per name, since a whole office may share one address."""

# A row means that the limit is reached: its attempt must expire before the next attempt.
_OLDEST_THAT_COUNTS = {
    column: text(f"""
SELECT tried_at FROM sign_in_attempts WHERE {column} = :value AND tried_at > :since
ORDER BY tried_at DESC LIMIT 1 OFFSET :others
""")
    for column in ("name_hash", "address")
}
_FORGET_OLD = text("DELETE FROM sign_in_attempts WHERE tried_at <= :since")
_COUNT = text("""
INSERT INTO sign_in_attempts (name_hash, address, tried_at) VALUES (:name_hash, :address, :tried_at)
""")
_FORGET = text("DELETE FROM sign_in_attempts WHERE name_hash = :name_hash")


class TooManyAttempts(UserError):
    """Sign-in by password is blocked for a name or an address, for the time `wait`."""

    def __init__(self, wait: timedelta):
        self.wait = wait
        seconds = int(wait.total_seconds())
        n, unit = (seconds, "second") if seconds <= 60 else (-(-seconds // 60), "minute")
        super().__init__(f"Too many failed sign-ins: try again in {n} {unit}{'s' * (n != 1)}.")


def count_attempt(
    connection: Connection, name_hash: str, address: str, current_time: datetime
) -> None:
    """Count a sign-in attempt for a name and, if known, an IP address.

    Args:
        connection: The review store.
        name_hash: The hash of the name.
        address: The client's address; empty if it is unknown.
        current_time: The time of the attempt.

    Raises:
        TooManyAttempts: The limit is reached.
    """
    address = _counted_as(address)
    since = stored_time(current_time - ATTEMPTS_WINDOW)
    connection.execute(_FORGET_OLD, {"since": since})
    limits = [("name_hash", name_hash, ATTEMPTS_PER_NAME)]
    if address:
        limits.append(("address", address, ATTEMPTS_PER_ADDRESS))
    for column, value, most in limits:
        values = {"value": value, "since": since, "others": most - 1}
        oldest = connection.execute(_OLDEST_THAT_COUNTS[column], values).scalar()
        if oldest is not None:
            over = datetime.fromisoformat(oldest) + ATTEMPTS_WINDOW
            raise TooManyAttempts(max(over - current_time, timedelta(seconds=1)))
    attempt = {"name_hash": name_hash, "address": address, "tried_at": stored_time(current_time)}
    connection.execute(_COUNT, attempt)


def _counted_as(address: str) -> str:
    """Return the address to count: for IPv6 its /64 network, since one machine can have all of it."""
    try:
        ip = ip_address(address)
    except ValueError:
        return address
    if ip.version == 4:
        return address
    return str(ip.ipv4_mapped or IPv6Network((int(ip), 64), strict=False))


def forget_attempts(connection: Connection, name_hash: str) -> None:
    """Forget the attempts for a name, by its hash, after a successful sign-in."""
    connection.execute(_FORGET, {"name_hash": name_hash})
