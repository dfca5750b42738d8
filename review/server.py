"""The web server of the review app."""

import asyncio
import os
from collections.abc import Sequence
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from resources.web.ports import HOST
from review.proxy import PEER

FORWARDED_ALLOW_IPS = "FORWARDED_ALLOW_IPS"
"""The variable in which uvicorn is told whose headers it believes."""
WHOLE_WITHIN = 30.0
"""Seconds within which a request must have arrived, with its body."""


class PromptRequests(HttpToolsProtocol):
    """HTTP/1.1 as uvicorn speaks it, which closes a connection whose request is not whole in time.

    The time runs from the connection or from a request's first byte, and ends with its last byte: how
    long the answer takes does not matter.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin the time of the first request."""
        super().connection_made(transport)
        self._begin()

    def on_message_begin(self) -> None:
        """Begin the time of a request, at its first byte."""
        super().on_message_begin()
        # Before headers of a proxy replace it.
        self.scope[PEER] = self.client[0] if self.client else None  # type: ignore[literal-required]
        self._begin()

    def on_message_complete(self) -> None:
        """End the time: the request is whole."""
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
    # Longer than proxies keep idle connections (60 s): none sends a request into one that closes.
    "timeout_keep_alive": 75,
    # Anybody on this machine can send them.
    "proxy_headers": False,
}
"""What uvicorn is told beside the app and the port: it serves on loopback."""


def proxy_options(proxies: Sequence[str]) -> dict[str, Any]:
    """The options of uvicorn behind proxies: their X-Forwarded-For and -Proto are believed.

    Args:
        proxies: Addresses and networks. Without any, those of FORWARDED_ALLOW_IPS.
    """
    if not proxies and FORWARDED_ALLOW_IPS not in os.environ:
        return OPTIONS
    return {**OPTIONS, "proxy_headers": True, "forwarded_allow_ips": list(proxies) or None}
