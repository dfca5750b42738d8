"""The web server of the review app: uvicorn's options, and limits for requests."""

import asyncio
import os
from collections.abc import Sequence
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from resources.web.ports import HOST
from review.proxy import PEER

FORWARDED_ALLOW_IPS = "FORWARDED_ALLOW_IPS"
"""uvicorn's environment variable with the addresses of trusted proxies."""
WHOLE_WITHIN = 30.0
"""Seconds within which a request must arrive completely, with its body."""
MOST_OF_HEAD = 65_536
"""The most bytes of a request's first line and headers, and of its trailers. The last read from the
socket may exceed it."""


class _Pipelined(Exception):
    """A client sends a third request before it has the response to the first."""


class PromptRequests(HttpToolsProtocol):
    """uvicorn's HTTP/1.1 protocol with a timeout for requests and limits on headers and pipelines.

    The time runs from the connection, or from a request's first byte, to its last byte. The duration of
    the response does not count. Larger headers or trailers than MOST_OF_HEAD end the connection with
    status 431. The app limits bodies. One request may wait for the response to the last one, whose end
    uvicorn sends after its bytes. The next is not read, and the connection ends after the response to
    the waiting one: one read of the socket can hold thousands.
    """

    _deadline: asyncio.TimerHandle | None = None
    _n_bytes = 0
    """Bytes after the last complete part: a request, headers, a chunk's header, bytes of a body."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer of the first request."""
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        """Parse received bytes, and close the connection if headers or trailers are too large."""
        self._n_bytes += len(data)
        super().data_received(data)
        if self._n_bytes > MOST_OF_HEAD and not self.transport.is_closing():
            self._refuse_head()

    def on_headers_complete(self) -> None:
        """Count the bytes after the headers separately."""
        super().on_headers_complete()
        self._n_bytes = 0

    def on_chunk_header(self) -> None:
        """Count the bytes after a chunk's header separately."""
        self._n_bytes = 0

    def on_body(self, body: bytes) -> None:
        """Do not count the bytes of a body."""
        super().on_body(body)
        self._n_bytes = 0

    def on_message_begin(self) -> None:
        """Start the timer of a request at its first byte. Raises _Pipelined, which ends the reading."""
        if self.pipeline:
            self.cycle.keep_alive = False
            raise _Pipelined
        super().on_message_begin()
        # Store the peer's address before headers of a proxy replace it.
        self.scope[PEER] = self.client[0] if self.client else None  # type: ignore[literal-required]
        self._begin()

    def send_400_response(self, msg: str) -> None:
        """Answer a request that cannot be read, unless the response to an earlier one is pending."""
        if self.cycle is None or self.cycle.response_complete:
            super().send_400_response(msg)
        else:
            self.flow.pause_reading()

    def on_message_complete(self) -> None:
        """Stop the timer: the request is complete."""
        super().on_message_complete()
        self._n_bytes = 0
        self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer when the connection is closed."""
        super().connection_lost(exc)
        self._end()

    def _refuse_head(self) -> None:
        # A response that is being sent cannot be replaced.
        if not (self.cycle and self.cycle.response_started and not self.cycle.response_complete):
            self.transport.write(
                STATUS_LINE[431] + b"connection: close\r\ncontent-length: 0\r\n\r\n"
            )
        self.transport.close()

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
