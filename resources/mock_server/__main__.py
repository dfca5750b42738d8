"""`python -m resources.mock_server`: start the mock model server, which calls no model."""

import argparse

from resources.web.ports import HOST


def arguments() -> argparse.ArgumentParser:
    """Return the command line that `MockServerProcess` starts a server with."""
    parser = argparse.ArgumentParser(
        prog="python -m resources.mock_server",
        description="Serve a mock model server in place of a paid OpenAI-protocol API.",
    )
    parser.add_argument("--port", type=int, default=0, help="port to bind; 0 takes a free one")
    parser.add_argument("--listen", default=HOST, help="address to listen on")
    parser.add_argument("--parent", type=int, help="exit when the process of this id is gone")
    return parser


def main() -> None:
    """Read the command line and serve."""
    parser = arguments()
    options = parser.parse_args()

    # Imported after the command line was checked.
    from resources.mock_server.server import create_app, serve

    try:
        serve(create_app(), options.port, options.parent, options.listen)
    except OSError as error:
        parser.exit(1, f"The mock model server cannot bind port {options.port}: {error}.\n")


if __name__ == "__main__":
    main()
