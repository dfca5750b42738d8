"""`serve`: the review app on a loopback port.

What belongs here: arguments, and starting the server. The app is `review/app.py`.
"""

import argparse
import socket
import sys

from resources.home import images_path, review_path
from resources.images.store import ImageStore
from resources.review.accounts import Accounts
from resources.review.store import ReviewStore

HOST = "127.0.0.1"
PORT = 8090


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `serve`."""
    parser = commands.add_parser("serve", help="serve the review app on loopback")
    add_port(parser)
    parser.set_defaults(command=_serve)


def add_port(parser: argparse.ArgumentParser) -> None:
    """Add `--port`."""
    parser.add_argument("--port", type=int, default=PORT, help=f"default {PORT}")


def _serve(arguments: argparse.Namespace) -> int:
    store, accounts = ReviewStore(review_path()), Accounts(review_path())
    if not accounts.all():
        print("Nobody can sign in yet: run python -m review account add NAME --role annotator")
    return serve(store, accounts, arguments.port)


def serve(store: ReviewStore, accounts: Accounts, port: int) -> int:
    """Serve until Ctrl-C. Returns the exit code: 2 when the port is in use."""
    import uvicorn

    from review.app import create_app

    if not port_is_free(port):
        return 2
    print(f"Review on http://{HOST}:{port} (Ctrl-C stops it)", flush=True)
    app = create_app(store, accounts, ImageStore(images_path()))
    uvicorn.run(app, host=HOST, port=port, log_level="warning")
    return 0


def port_is_free(port: int) -> bool:
    """Whether the server can listen on `port`; if not, a sentence on standard error says so."""
    with socket.socket() as probe:
        # Bind as the server will, so that closing connections of an earlier one do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            print(
                f"Port {port} is in use: choose another one (make review PORT=8091, or --port).",
                file=sys.stderr,
            )
            return False
    return True
