"""What goes wrong with a request to a wiki, for `MediaWiki.fail`."""

import json
import time
from collections.abc import Callable
from typing import Any

ERROR_PAGE = b"<!DOCTYPE html><title>Wikimedia Error</title><p>Our servers are busy.</p>"

Fault = Callable[[Any], bool]
"""Does something to the handler of a request; says whether that was the answer to it."""


def maxlag(retry_after: str | None = "5") -> Fault:
    """The databases lag behind: an error with status 200."""
    info = "Waiting for 10.64.16.7: 6.2 seconds lagged."
    return error("maxlag", info, retry_after)


def error(code: str, info: str, retry_after: str | None = None) -> Fault:
    """An error of the API, which comes with status 200."""
    body = {"error": {"code": code, "info": info, "docref": "See the API's pages."}}
    return _answer(200, json.dumps(body).encode(), "application/json", **_after(retry_after))


def status(code: int, retry_after: str | None = None) -> Fault:
    """An error page of the servers before the wiki."""
    return _answer(code, ERROR_PAGE, "text/html; charset=utf-8", **_after(retry_after))


def html() -> Fault:
    """An error page that says it is none."""
    return _answer(200, ERROR_PAGE, "text/html; charset=utf-8")


def redirect(location: str) -> Fault:
    return _answer(302, b"", "text/html; charset=utf-8", Location=location)


def text(body: str) -> Fault:
    return _answer(200, body.encode(), "application/json")


def until(condition: Callable[[], object], then: Fault | None = None) -> Fault:
    """The right answer, or another fault, as soon as the condition holds."""

    def act(handler: Any) -> bool:
        deadline = time.monotonic() + 20
        while not condition() and time.monotonic() < deadline:
            time.sleep(0.005)
        return then(handler) if then else False

    return act


def drop() -> Fault:
    """The connection ends in the middle of an answer."""

    def act(handler: Any) -> bool:
        handler.begin(Content_Length="1000")
        handler.write(b'{"batchcomplete": tr')
        handler.close_connection = True
        return True

    return act


def _after(seconds: str | None) -> dict[str, str]:
    return {} if seconds is None else {"Retry_After": seconds}


def _answer(code: int, body: bytes, kind: str, **headers: str) -> Fault:
    def act(handler: Any) -> bool:
        handler.send(body, code, Content_Type=kind, **headers)
        return True

    return act
