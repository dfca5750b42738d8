"""One HTTP request for an image, and its outcome.

The bytes may be no image: a server's Content-Type is ignored (`methods/ingest/image_check.py`).

httpcore2 is used instead of httpx2 because it accepts a network backend, follows no redirects, keeps no
cookies and reads no proxy settings.
"""

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass

import anyio
import httpcore2
import httpx2

from methods.ingest.image_check import ImageRejected
from methods.web_address import Credentials
from resources.files.bounded import BoundedReadError, joined, oversized
from resources.web.host_pauses import retry_after
from resources.web.ssrf_guard import PrivateAddress
from resources.wikipedia.api_client import NO_CONTACT, is_wikimedia, user_agent

_MISSING = (404, 410)
_REDIRECTS = (301, 302, 303, 307, 308)
_REFUSALS = (429, 503)


@dataclass(frozen=True, slots=True)
class Redirect:
    """The image is at another address."""

    address: str


@dataclass(frozen=True, slots=True)
class HostRefusal:
    """The host refuses requests for now; `wait` are the seconds of its Retry-After, if any."""

    status: int
    wait: float | None


@dataclass(frozen=True, slots=True)
class RequestFailure:
    """A failure that a retry may resolve; `rejected` is the outcome if it does not."""

    rejected: ImageRejected


Outcome = bytes | ImageRejected | Redirect | HostRefusal | RequestFailure


class ImageRequests:
    """Requests images over a pool of connections.

    `contact` is sent in the User-Agent. `timeout` is the limit of a whole request in seconds.
    `credentials` are only sent to `mirror`, a (host, port).
    """

    def __init__(
        self,
        pool: httpcore2.AsyncConnectionPool,
        *,
        contact: str | None,
        max_bytes: int,
        timeout: float,
        mirror: tuple[str, int] | None = None,
        credentials: Credentials | None = None,
    ) -> None:
        self._pool = pool
        self._contact = contact
        self._max_bytes = max_bytes
        self._timeout = timeout
        self._mirror = mirror
        self._authorization = b""
        if credentials is not None:
            self._authorization = b"Basic " + b64encode(":".join(credentials).encode())
        self._headers: dict[bytes | str, bytes | str] = {
            "User-Agent": user_agent(contact).encode(),
            "Accept": "image/*",
            # Images are compressed already, and nothing here decompresses a body.
            "Accept-Encoding": "identity",
        }

    async def ask(self, address: str, on_length: Callable[[int], None]) -> Outcome:
        """Send one request.

        Args:
            address: The address.
            on_length: Called with the largest possible size of the body before it is read. An error
                that it raises ends the request.

        Returns:
            The body, a rejection, or the next step: a redirect, a refusal or a
            failure that may be retried.
        """
        try:
            url = parse_address(address)
            if is_wikimedia(url.host) and not self._contact:
                return ImageRejected("no_contact", NO_CONTACT)
            with anyio.fail_after(self._timeout):
                return await self._request(url, on_length)
        except ImageRejected as rejected:
            return rejected
        except TimeoutError:
            detail = f"No answer within {self._timeout:g} seconds."
            return RequestFailure(ImageRejected("timeout", detail))

    async def _request(self, url: httpx2.URL, on_length: Callable[[int], None]) -> Outcome:
        try:
            target = as_httpcore(url)
            headers = self._headers
            if self._authorization and (url.host, target.port) == self._mirror:
                headers = {**headers, "Authorization": self._authorization}
            async with self._pool.stream("GET", target, headers=headers) as response:
                if response.status == 200:
                    return await self._body(response, on_length)
                return _without_body(url, response)
        except PrivateAddress as private:
            raise ImageRejected("private_address", str(private)) from None
        except (httpcore2.ReadError, httpcore2.WriteError, httpcore2.ProtocolError) as error:
            # The connection broke off, so a retry may succeed, in contrast to a
            # host that cannot be reached.
            detail = f"The connection broke off ({error!r})."
            return RequestFailure(ImageRejected("unreachable", detail))
        except (OSError, UnicodeError, httpcore2.NetworkError) as error:
            detail = f"No connection to {url.host} ({error!r})."
            raise ImageRejected("unreachable", detail) from None

    async def _body(self, response: httpcore2.Response, on_length: Callable[[int], None]) -> bytes:
        announced = httpx2.Headers(response.headers).get("content-length", "")
        length = int(announced) if announced.isdecimal() else self._max_bytes
        if length > self._max_bytes:
            raise rejection(oversized(length, self._max_bytes))
        on_length(length)
        # A body that ends before its announced length ends in a ProtocolError.
        try:
            return await joined(response.aiter_stream(), self._max_bytes)
        except BoundedReadError as not_read:
            raise rejection(not_read) from None


def _without_body(url: httpx2.URL, response: httpcore2.Response) -> Outcome:
    status, headers = response.status, httpx2.Headers(response.headers)
    if status in _REDIRECTS and "location" in headers:
        return Redirect(str(parse_address(headers["location"], url)))
    if status in _REFUSALS:
        return HostRefusal(status, retry_after(headers.get("retry-after")))
    reason = "missing" if status in _MISSING else "http_error"
    rejected = ImageRejected(reason, f"The server answered with status {status}.")
    return RequestFailure(rejected) if status >= 500 else rejected


def parse_address(address: str, base: httpx2.URL | None = None) -> httpx2.URL:
    """Parse an http or https address.

    Args:
        address: The address, perhaps relative.
        base: The address that it is relative to.

    Raises:
        ImageRejected: It is not a valid http or https address.
    """
    try:
        url = httpx2.URL(address) if base is None else base.join(address)
        host, port = url.host, url.port
    except (httpx2.InvalidURL, ValueError):
        # The library's message quotes parts of the address, such as a password.
        raise ImageRejected("unreachable", "The address cannot be read.") from None
    possible = host and (port is None or 0 < port < 65536)
    if url.scheme not in ("http", "https") or not possible:
        raise ImageRejected("unreachable", "The address is not an http or https one.")
    return url


def as_httpcore(url: httpx2.URL) -> httpcore2.URL:
    """Convert an address for httpcore2, with its port, and without user name and password."""
    port = url.port or {"http": 80, "https": 443}[url.scheme]
    return httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=port, target=url.raw_path)


def rejection(not_read: BoundedReadError) -> ImageRejected:
    """Make the rejection of an image whose file was not read."""
    return ImageRejected(not_read.reason, f"{not_read.detail[:1].upper()}{not_read.detail[1:]}.")
