"""Loopback ports and public addresses of this project's servers: the review app and Dagster's UI."""

import os
import socket

from methods.errors import UserError

HOST = "127.0.0.1"
REVIEW_PORT = 8090
REVIEW_ADDRESS = f"http://{HOST}:{REVIEW_PORT}"
REVIEW_VARIABLE = "LOOM_REVIEW"
"""Environment variable: comma-separated addresses of the review app; the first is used in links."""

UI_PORT = 3000
PORT_VARIABLE = "PORT"
"""Environment variable: the port of the UI, also in the processes that `vlm-loom ui` starts."""
UI_VARIABLE = "LOOM_UI"
"""Environment variable: comma-separated addresses of the UI; the first is used in links."""


def addresses_in(value: str | None) -> list[str]:
    """Split comma-separated addresses, and remove their final slashes."""
    return [address.strip().rstrip("/") for address in (value or "").split(",") if address.strip()]


def review_page(path: str) -> str:
    """Return the absolute address of a page of the review app."""
    return (addresses_in(os.environ.get(REVIEW_VARIABLE)) or [REVIEW_ADDRESS])[0] + path


def ui_page(path: str) -> str:
    """Return the absolute address of a page of the UI."""
    local = f"http://{HOST}:{os.environ.get(PORT_VARIABLE) or UI_PORT}"
    return (addresses_in(os.environ.get(UI_VARIABLE)) or [local])[0] + path


class PortError(UserError):
    """The server cannot listen on the port; the message says why."""


def require_free(port: int) -> None:
    """Raise PortError if a server cannot listen on the port."""
    try:
        with socket.socket() as trial:
            # As the server does, so that a port with recently closed connections counts as free.
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind((HOST, port))
    except OSError as error:
        raise PortError(
            f"The port {port} of {HOST} cannot be used ({error.strerror}): choose another with --port."
        ) from None
