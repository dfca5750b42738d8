"""What goes wrong with a request to a wiki, for `MediaWiki.fail`."""

import json
import time
from collections.abc import Callable

from tests.doubles.serving import QuietHandler

ERROR_PAGE = b"<!DOCTYPE html><title>Wikimedia Error</title><p>Our servers are busy.</p>"

Fault = Callable[["Answering"], bool]
"""Does something to a request; says whether that was the answer to it."""


class Answering(QuietHandler):
    """A handler that sends whole answers."""

    def send(self, code: int, body: bytes, kind: str, **headers: str) -> None:
        raise NotImplementedError


def maxlag(retry_after: str | None = "5") -> Fault:
    """The databases lag behind: an error with status 200."""
    info = "Waiting for 10.64.16.7: 6.2 seconds lagged."
    return error("maxlag", info, retry_after)


def error(code: str, info: str, retry_after: str | None = None) -> Fault:
    """An error of the API, which comes with status 200."""
    body = {"error": {"code": code, "info": info, "docref": "See the API's pages."}}
    return _answer(200, json.dumps(body).encode(), "application/json", retry_after)


def status(code: int, retry_after: str | None = None) -> Fault:
    """An error page of the servers before the wiki."""
    return _answer(code, ERROR_PAGE, "text/html; charset=utf-8", retry_after)


def html() -> Fault:
    """An error page that says it is none."""
    return _answer(200, ERROR_PAGE, "text/html; charset=utf-8", None)


def redirect(location: str) -> Fault:
    """A redirect to this address."""

    def act(handler: "Answering") -> bool:
        handler.send(302, b"", "text/html; charset=utf-8", Location=location)
        return True

    return act


def text(body: str) -> Fault:
    """This text as the answer."""
    return _answer(200, body.encode(), "application/json", None)


def until(condition: Callable[[], object], then: Fault | None = None) -> Fault:
    """The right answer, or another fault, as soon as the condition holds."""

    def act(handler: "Answering") -> bool:
        deadline = time.monotonic() + 20
        while not condition() and time.monotonic() < deadline:
            time.sleep(0.005)
        return then(handler) if then else False

    return act


def drop() -> Fault:
    """The connection ends in the middle of an answer."""

    def act(handler: "Answering") -> bool:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"batchcomplete": tr')
        handler.close_connection = True
        return True

    return act


def _answer(code: int, body: bytes, kind: str, retry_after: str | None) -> Fault:
    def act(handler: "Answering") -> bool:
        extra = {} if retry_after is None else {"Retry-After": retry_after}
        handler.send(code, body, kind, **extra)
        return True

    return act
