"""Running the offline server in this process.

What belongs here: the socket, the uvicorn server around the application, resetting a connection on
demand, and ending with the parent process. No model is called.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import threading
import time

import uvicorn
from starlette.requests import Request
from uvicorn.protocols.http.h11_impl import H11Protocol

from resources.offline.app import create_app
from resources.offline.files import Limits

HOST = "127.0.0.1"
_WATCH_SECONDS = 0.25
_transports: dict[object, asyncio.Transport] = {}


class TrackedProtocol(H11Protocol):
    """Uvicorn's protocol, which also keeps each caller's transport."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Keep the transport under its caller's address."""
        self._caller = transport.get_extra_info("peername")
        _transports[self._caller] = transport
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Drop the transport."""
        _transports.pop(self._caller, None)
        super().connection_lost(exc)


def serve(
    port: int, latency_ms: float, parent: int | None, batch_seconds: float, limits: Limits
) -> None:
    """Serve on the loopback interface until stopped; on a free port when the port is 0."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((HOST, port))
    listener.listen(256)
    config = uvicorn.Config(
        create_app(latency_ms, batch_seconds, limits, _break_connection),
        http=TrackedProtocol,
        ws="none",
        lifespan="off",
        proxy_headers=False,
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=1,
    )
    if parent is not None:
        threading.Thread(target=_exit_with, args=(parent,), daemon=True).start()
    print(f"offline model server on http://{HOST}:{listener.getsockname()[1]}/v1", flush=True)
    uvicorn.Server(config).run(sockets=[listener])


def _break_connection(request: Request) -> None:
    """Reset the connection that a request came on, so that its caller gets no answer."""
    client = request.client
    transport = _transports.get((client.host, client.port)) if client else None
    if transport is not None:
        linger = struct.pack("ii", 1, 0)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        transport.abort()


def _exit_with(parent: int) -> None:
    """End this process as soon as the parent process is gone."""
    direct = os.getppid() == parent
    while _alive(parent) and not (direct and os.getppid() != parent):
        time.sleep(_WATCH_SECONDS)
    os._exit(0)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
