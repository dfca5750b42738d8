"""Redirects of a model's server, which are followed to that server alone.

What belongs here: where a redirect may lead. Anywhere else would be sent the request with its secret
headers.
"""

import httpx2


async def stay_with_server(response: httpx2.Response) -> None:
    """A hook of an HTTP client: a redirect to elsewhere becomes a plain response, which is an error.

    Credentials in the new address are left out: those of the request are sent again.
    """
    if not response.has_redirect_location:
        return
    asked = response.request.url
    try:
        to = asked.join(response.headers["location"]).copy_with(userinfo=b"")
    except (httpx2.InvalidURL, ValueError):
        to = None
    if to is not None and to.host == asked.host and _origin(to) in _allowed(asked):
        response.headers["location"] = str(to)
    else:
        del response.headers["location"]


def _allowed(asked: httpx2.URL) -> list[tuple[str, int | None]]:
    """The request's own scheme and port, and https in place of http where both are the usual ones."""
    own = _origin(asked)
    return [own, ("https", None)] if own == ("http", None) else [own]


def _origin(url: httpx2.URL) -> tuple[str, int | None]:
    return url.scheme, url.port
