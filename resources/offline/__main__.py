"""`python -m resources.offline`: start the offline model server.

What belongs here: the command line. The server's libraries are imported after it was parsed. The
server is a stand-in and calls no model. It keeps files and batches in memory only: they are gone
when it stops.
"""

from __future__ import annotations

import argparse

from resources.offline.files import Limits


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(
        prog="python -m resources.offline",
        description="Serve an offline stand-in for a paid OpenAI-protocol API on 127.0.0.1.",
    )
    parser.add_argument("--port", type=int, default=0, help="port to bind; 0 takes a free one")
    parser.add_argument("--latency-ms", type=float, default=0.0, help="delay of every chat answer")
    parser.add_argument("--parent", type=int, help="exit when the process of this id is gone")
    parser.add_argument(
        "--batch-seconds", type=float, default=0.0, help="how long a batch stays in progress"
    )
    parser.add_argument(
        "--batch-max-requests", type=int, default=Limits.requests, help="most requests of a batch"
    )
    parser.add_argument(
        "--batch-max-bytes", type=int, default=Limits.bytes, help="largest file of a batch"
    )
    parser.add_argument(
        "--context-tokens", type=int, default=Limits.context_tokens, help="context of all models"
    )
    options = parser.parse_args()

    from resources.offline.run_server import serve

    try:
        limits = Limits(options.batch_max_requests, options.batch_max_bytes, options.context_tokens)
        serve(options.port, options.latency_ms, options.parent, options.batch_seconds, limits)
    except OSError as error:
        parser.exit(1, f"The offline model server cannot bind port {options.port}: {error}.\n")


if __name__ == "__main__":
    main()
