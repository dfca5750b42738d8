"""Waits for a Postgres server that stops or restarts. The stores, the lake and Dagster's storage open
their sessions here.
"""

import logging
import math
import time
from collections.abc import Callable
from typing import TypeVar

OUTAGE_SECONDS = 60.0
"""A process waits at most this long for a server that it reached before; a restart takes seconds. The
time is for one outage, in all sessions of the process together."""
_PAUSE_SECONDS = 0.1
_LOG = logging.getLogger(__name__)
_waited_for: dict[str, float] = {}
"""Address of each server that was reached -> when waiting for it ends; inf while it answers."""

Session = TypeVar("Session")


def open_session(
    address: str,
    shown: str,
    connect: Callable[[], Session],
    failure: type[Exception],
    *,
    endless: bool = False,
) -> Session:
    """Open a session; wait for a server that this process has reached before.

    Args:
        address: The address of the server.
        shown: The address in messages, without the password.
        connect: Opens the session.
        failure: The error of `connect` if the server does not answer.
        endless: Whether to wait until the server is back, however long its outage takes.

    Returns:
        The session.

    Raises:
        Exception: The error of `connect`: this process has not reached the server before, or the
            outage took too long.
    """
    while True:
        try:
            session = connect()
            break
        except failure as error:
            if address not in _waited_for:
                raise
            if not _is_short(address, shown, error) and not endless:
                raise
            time.sleep(_PAUSE_SECONDS)
    _waited_for[address] = math.inf
    return session


def _is_short(address: str, shown: str, error: Exception) -> bool:
    """Whether the outage of a server is still short; its first error begins it, and is logged."""
    current_time = time.monotonic()
    if _waited_for[address] == math.inf:
        _waited_for[address] = current_time + OUTAGE_SECONDS
        reason = " ".join(str(error).split())
        _LOG.warning(
            f"{shown} does not answer ({reason}): waiting for it for {OUTAGE_SECONDS:.0f} s at most."
        )
    return current_time < _waited_for[address]
