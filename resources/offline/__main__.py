"""`python -m resources.offline`: start the offline model server.

Belongs here: the command line only; the server's libraries are imported once it was read. The
server stands in for a model and never calls one.
"""

from __future__ import annotations

import argparse


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(
        prog="python -m resources.offline",
        description="Serve an offline stand-in for a paid OpenAI-protocol API on 127.0.0.1.",
    )
    parser.add_argument("--port", type=int, default=0, help="port to bind; 0 takes a free one")
    parser.add_argument("--latency-ms", type=float, default=0.0, help="delay of every chat answer")
    parser.add_argument("--parent", type=int, help="exit when the process of this id is gone")
    options = parser.parse_args()

    from resources.offline.serve import serve

    try:
        serve(options.port, options.latency_ms, options.parent)
    except OSError as error:
        parser.exit(1, f"The offline model server cannot bind port {options.port}: {error}.\n")


if __name__ == "__main__":
    main()
