"""The web server of the review app: uvicorn's options, and a timeout for slow requests."""

import asyncio
import os
from collections.abc import Sequence
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from resources.web.ports import HOST
from review.proxy import PEER

FORWARDED_ALLOW_IPS = "FORWARDED_ALLOW_IPS"
"""uvicorn's environment variable with the addresses of trusted proxies."""
WHOLE_WITHIN = 30.0
"""Seconds within which a request must arrive completely, with its body."""


class PromptRequests(HttpToolsProtocol):
    """uvicorn's HTTP/1.1 protocol with a timeout for requests, against slow clients.

    The time runs from the connection, or from a request's first byte, to its last byte. The duration of
    the response does not count.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer of the first request."""
        super().connection_made(transport)
        self._begin()

    def on_message_begin(self) -> None:
        """Start the timer of a request at its first byte."""
        super().on_message_begin()
        # Store the peer's address before headers of a proxy replace it.
        self.scope[PEER] = self.client[0] if self.client else None  # type: ignore[literal-required]
        self._begin()

    def on_message_complete(self) -> None:
        """Stop the timer: the request is complete."""
        super().on_message_complete()
        self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer when the connection is closed."""
        super().connection_lost(exc)
        self._end()

    def _begin(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(WHOLE_WITHIN, self.transport.close)

    def _end(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


OPTIONS: dict[str, Any] = {
    "host": HOST,
    "log_level": "warning",
    "lifespan": "off",
    "http": PromptRequests,
    # Longer than proxies keep idle connections (60 s), so that the proxy closes them first.
    "timeout_keep_alive": 75,
    # Do not trust headers of proxies by default: any user of this machine can send them.
    "proxy_headers": False,
}
"""uvicorn's options in addition to the app and the port; it serves on loopback."""


def proxy_options(proxies: Sequence[str]) -> dict[str, Any]:
    """Return uvicorn's options; with proxies, their X-Forwarded-For and X-Forwarded-Proto are trusted.

    Args:
        proxies: Addresses and networks of proxies; by default those in FORWARDED_ALLOW_IPS.
    """
    if not proxies and FORWARDED_ALLOW_IPS not in os.environ:
        return OPTIONS
    return {**OPTIONS, "proxy_headers": True, "forwarded_allow_ips": list(proxies) or None}
