"""The HTTP client's log of requests, whose addresses may contain secrets."""

import logging


def hide_queries() -> None:
    """Remove queries, which may contain keys, from the addresses that the HTTP client logs."""
    logging.getLogger("httpx2").addFilter(_WITHOUT_QUERY)


class _WithoutQuery(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        from httpx2 import URL

        if isinstance(record.args, tuple):
            record.args = tuple(
                arg.copy_with(query=None) if isinstance(arg, URL) else arg for arg in record.args
            )
        return True


_WITHOUT_QUERY = _WithoutQuery()
