"""The HTTP client's log of requests, whose addresses may contain secrets."""

import logging


def hide_queries() -> None:
    """Remove queries and passwords from the addresses that the HTTP client logs."""
    logging.getLogger("httpx2").addFilter(_without_secrets)


def _without_secrets(record: logging.LogRecord) -> bool:
    from httpx2 import URL

    if isinstance(record.args, tuple):
        record.args = tuple(
            arg.copy_with(query=None, userinfo=b"") if isinstance(arg, URL) else arg
            for arg in record.args
        )
    return True
