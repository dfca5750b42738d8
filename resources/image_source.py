"""Getting an image's bytes from its URL: from a mirror folder, a mirror server, or the web.

What belongs here: the mirrors, the HTTP client with its limits, and which hosts may be asked. What
does not: whether the bytes are an image (`methods/image_check.py`).

httpcore instead of httpx: its network backend is the one place where the address that is checked is
the address that is connected to. It also follows no redirect, keeps no cookie and reads no proxy
setting on its own.
"""

import asyncio
import email.utils
import ipaddress
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import httpcore
import httpx

from methods.image_check import MAX_BYTES, ImageRejected

CONCURRENCY = 8
TRIES = 3
MAX_REDIRECTS = 3
MAX_WAIT = 30.0
"""Seconds: no server's Retry-After holds a fetch up for longer."""

_MISSING = (404, 410)
_REDIRECTS = (301, 302, 303, 307, 308)
_NAT64 = ipaddress.ip_network("64:ff9b::/96")

Fetched = bytes | ImageRejected


class ImageSourceError(ValueError):
    """Images cannot be fetched as configured; the message says what to do."""


class ImageFetcher:
    """Fetches images, several at a time.

    `mirror` is a folder or an http(s) base URL in which an image has the name that ends its URL's
    path; None fetches from the URL itself. `timeout` is what one try may take from first to last
    byte, `backoff` the wait after the first failed one (doubled after each), both in seconds.
    Raises ImageSourceError if the mirror is neither a folder that exists nor an http(s) address.
    """

    def __init__(
        self,
        mirror: str | Path | None = None,
        *,
        max_bytes: int = MAX_BYTES,
        timeout: float = 30.0,
        backoff: float = 0.5,
        user_agent: str = "vlm-loom/0.1",
    ) -> None:
        self._base_url: str | None = None
        self._folder: Path | None = None
        if mirror is not None and str(mirror).lower().startswith(("http://", "https://")):
            self._base_url = str(mirror).rstrip("/")
        elif mirror is not None:
            self._folder = Path(mirror)
            if not self._folder.is_dir():
                raise ImageSourceError(
                    f"The image mirror {mirror} is neither a folder nor an http(s) address: "
                    "make the folder, or configure another mirror or none."
                )
        self._max_bytes = max_bytes
        self._timeout = timeout
        self._backoff = backoff
        self._headers: dict[bytes | str, bytes | str] = {
            "User-Agent": user_agent,
            "Accept": "image/*",
            # Nothing here unpacks a body, and images gain nothing by being packed again.
            "Accept-Encoding": "identity",
        }

    def fetch_all(
        self, urls: Sequence[str], on_progress: Callable[[int, int], None] | None = None
    ) -> dict[str, Fetched]:
        """The bytes of each distinct URL, or why there are none; never raises for a single one.

        Reasons: missing, oversized_bytes, http_error, timeout, unreachable, private_address.
        `on_progress(done, total)` is called after each, in the calling thread. Everything fetched
        is held in memory, so a long list is given in portions. Not to be called from a coroutine.
        """
        distinct = list(dict.fromkeys(urls))
        if self._folder is None:
            return asyncio.run(self._gather(distinct, on_progress))
        results: dict[str, Fetched] = {}
        for url in distinct:
            try:
                results[url] = self._from_folder(self._folder, url)
            except ImageRejected as rejected:
                results[url] = rejected
            if on_progress:
                on_progress(len(results), len(distinct))
        return results

    def _from_folder(self, folder: Path, url: str) -> bytes:
        path = folder / _file_name(url)
        try:
            n_bytes = path.stat().st_size
            if n_bytes > self._max_bytes:
                raise _oversized(n_bytes, self._max_bytes)
            return path.read_bytes()
        except OSError as error:
            detail = f"The mirror has no readable file {path.name[:80]!r} ({error.strerror})."
            raise ImageRejected("missing", detail) from None

    async def _gather(
        self, urls: list[str], on_progress: Callable[[int, int], None] | None
    ) -> dict[str, Fetched]:
        results: dict[str, Fetched] = {}
        waiting = iter(urls)

        async def work(pool: httpcore.AsyncConnectionPool) -> None:
            for url in waiting:
                try:
                    results[url] = await self._fetch(pool, url)
                except ImageRejected as rejected:
                    results[url] = rejected
                if on_progress:
                    on_progress(len(results), len(urls))

        backend = _GuardedBackend(self._base_url)
        connections = httpcore.AsyncConnectionPool(
            max_connections=CONCURRENCY, network_backend=backend
        )
        async with connections as pool, asyncio.TaskGroup() as group:
            for _ in range(min(CONCURRENCY, len(urls))):
                group.create_task(work(pool))
        return {url: results[url] for url in urls}

    async def _fetch(self, pool: httpcore.AsyncConnectionPool, url: str) -> bytes:
        """One image, tried up to TRIES times. Raises ImageRejected with the last try's reason."""
        address = url if self._base_url is None else self._base_url + "/" + quote(_file_name(url))
        for tries_left in reversed(range(TRIES)):
            try:
                async with asyncio.timeout(self._timeout):
                    return await self._one_try(pool, address)
            except TimeoutError:
                rejected = ImageRejected("timeout", f"No answer within {self._timeout:g} seconds.")
                wait = None
            except _Transient as transient:
                rejected, wait = transient.rejected, transient.wait
            if tries_left:
                doubled = self._backoff * 2 ** (TRIES - 1 - tries_left)
                await asyncio.sleep(min(doubled if wait is None else wait, MAX_WAIT))
        raise rejected

    async def _one_try(self, pool: httpcore.AsyncConnectionPool, address: str) -> bytes:
        url = _parsed(address)
        for _ in range(MAX_REDIRECTS + 1):
            try:
                async with pool.stream("GET", _as_httpcore(url), headers=self._headers) as response:
                    location = httpx.Headers(response.headers).get("location")
                    if response.status not in _REDIRECTS or location is None:
                        return await self._body(response)
            except (httpcore.ReadError, httpcore.WriteError, httpcore.ProtocolError) as error:
                # The host is there but broke off: worth another try, as a dead host is not.
                detail = f"The connection broke off ({error!r})."
                raise _Transient(ImageRejected("unreachable", detail)) from None
            except (OSError, UnicodeError, httpcore.NetworkError) as error:
                detail = f"No connection to {url.host} ({error!r})."
                raise ImageRejected("unreachable", detail) from None
            url = _parsed(location, url)
        raise ImageRejected("http_error", f"The server redirected over {MAX_REDIRECTS} times.")

    async def _body(self, response: httpcore.Response) -> bytes:
        status, headers = response.status, httpx.Headers(response.headers)
        if status in _MISSING:
            raise ImageRejected("missing", f"The server answered with status {status}.")
        if status != 200:
            rejected = ImageRejected("http_error", f"The server answered with status {status}.")
            if status == 429 or status >= 500:
                raise _Transient(rejected, _retry_after(headers.get("retry-after")))
            raise rejected
        announced = headers.get("content-length", "")
        if announced.isdecimal() and int(announced) > self._max_bytes:
            raise _oversized(int(announced), self._max_bytes)
        body = bytearray()
        async for chunk in response.aiter_stream():
            body += chunk
            if len(body) > self._max_bytes:
                raise _oversized(len(body), self._max_bytes)
        return bytes(body)


class _Transient(Exception):
    """A failure that may pass; `wait` is how many seconds the server asked for, if it did."""

    def __init__(self, rejected: ImageRejected, wait: float | None = None) -> None:
        super().__init__(str(rejected))
        self.rejected = rejected
        self.wait = wait


class _GuardedBackend(httpcore.AsyncNetworkBackend):
    """Connects to public addresses, and to the mirror wherever it stands.

    A URL out of a data set must not make this machine ask its own network: the host is resolved
    here and that very address connected to, so a name cannot change between check and use, and
    redirects pass through as well.
    """

    def __init__(self, mirror: str | None) -> None:
        self._inner = httpcore.AnyIOBackend()
        self._trusted = None
        if mirror is not None:
            origin = _as_httpcore(_parsed(mirror)).origin
            self._trusted = (origin.host.decode(), origin.port)

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        addresses = [host]
        if (host, port) != self._trusted:
            addresses = await _addresses(host, port)
            if not all(map(_is_public, addresses)):
                detail = f"The host {host} is on a private or local network."
                raise ImageRejected("private_address", detail)
        failed: Exception = OSError(f"{host} has no address")
        for address in addresses:
            try:
                return await self._inner.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except httpcore.ConnectError as error:
                failed = error
        raise failed

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)


async def _addresses(host: str, port: int) -> list[str]:
    """Addresses of the host, IPv4 first: many a machine has IPv6 names but no IPv6 route."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return sorted({str(entry[4][0]) for entry in found}, key=lambda text: (":" in text, text))


def _is_public(address: str) -> bool:
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address):
        # An IPv4 address inside an IPv6 one is what the packets end up at.
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        ip = inner or ip
    return ip.is_global and not ip.is_multicast


def _file_name(url: str) -> str:
    """The name that ends the URL's path, percent-decoded; it names a file in the mirror only."""
    try:
        name = unquote(urlsplit(url).path.rpartition("/")[2], errors="strict")
    except ValueError:
        name = ""
    if name in ("", ".", "..") or any(c in "/\\\0" for c in name):
        raise ImageRejected("missing", "The address ends in no file name.")
    return name


def _parsed(address: str, base: httpx.URL | None = None) -> httpx.URL:
    try:
        url = httpx.URL(address) if base is None else base.join(address)
    except (httpx.InvalidURL, ValueError) as error:
        detail = f"The address cannot be read ({error})."
        raise ImageRejected("unreachable", detail) from None
    if url.scheme not in ("http", "https") or not url.host:
        raise ImageRejected("unreachable", "The address is not an http or https one.")
    return url


def _as_httpcore(url: httpx.URL) -> httpcore.URL:
    port = url.port or {"http": 80, "https": 443}[url.scheme]
    return httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=port, target=url.raw_path)


def _retry_after(value: str | None) -> float | None:
    """Seconds asked for by a Retry-After header: a number or an HTTP date (RFC 9110, 10.2.3)."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _oversized(n_bytes: int, max_bytes: int) -> ImageRejected:
    detail = f"The file has at least {n_bytes} bytes, more than the {max_bytes} allowed."
    return ImageRejected("oversized_bytes", detail)
