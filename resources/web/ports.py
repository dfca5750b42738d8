"""The port on loopback that a server of this project listens on."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from methods.errors import UserError

HOST = "127.0.0.1"
REVIEW_PORT = 8090
REVIEW_ADDRESS = f"http://{HOST}:{REVIEW_PORT}"
REVIEW_VARIABLE = "LOOM_REVIEW"
"""The variable with the addresses of the review app for its users, the one for links first."""

UI_ADDRESS = f"http://{HOST}:3000"
UI_VARIABLE = "LOOM_UI"
"""The variable with the addresses of the UI for its users, the one for links first."""


def addresses_in(value: str | None) -> list[str]:
    """The addresses in a value: "https://a.example, http://b:3000/" -> both, without the last slash."""
    return [address.strip().rstrip("/") for address in (value or "").split(",") if address.strip()]


def review_page(path: str) -> str:
    """The address of a page of the review app, for links from elsewhere."""
    return (addresses_in(os.environ.get(REVIEW_VARIABLE)) or [REVIEW_ADDRESS])[0] + path


def ui_page(path: str) -> str:
    """The address of a page of the UI, for links from elsewhere."""
    return (addresses_in(os.environ.get(UI_VARIABLE)) or [UI_ADDRESS])[0] + path


class PortError(UserError):
    """The server cannot listen on the port; the message says why."""


def require_free(port: int) -> None:
    """Raise PortError unless a server can listen on the port."""
    with socket.socket() as trial, _refusals_of(port):
        # As the server listens: a port whose connections have just ended is free.
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        trial.bind((HOST, port))


@contextmanager
def _refusals_of(port: int) -> Iterator[None]:
    """Raise PortError, one sentence, for what the operating system refuses."""
    try:
        yield
    except OSError as error:
        raise PortError(
            f"The port {port} of {HOST} cannot be used ({error.strerror}): choose another with --port."
        ) from None
