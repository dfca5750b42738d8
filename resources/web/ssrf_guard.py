"""A guard against server-side request forgery (SSRF): no connections into private networks.

The guard is a network backend of httpcore2: it connects to exactly the address that it has checked.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Iterable
from typing import Any

import httpcore2
import httpx2

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
_OF_CLOUDS = frozenset(map(ipaddress.IPv4Address, ("168.63.129.16", "192.0.0.192")))
"""Public-looking internal addresses of clouds: Azure's wire server, Oracle's metadata service."""
_DEFAULT_PORTS = {"http": 80, "https": 443}

Origin = tuple[str, int]
"""(host, port) of a requested connection."""


class PrivateAddress(Exception):
    """A host is on a private or local network, so connections to it are refused."""

    def __init__(self, host: str) -> None:
        super().__init__(f"The host {host} is on a private or local network.")
        self.host = host


class GuardedBackend(httpcore2.AnyIOBackend):
    """Connects to public addresses, and to `trusted` at any address.

    A URL in a data set must not make this machine send requests into its own network. The backend
    resolves the host and connects to the checked address, so that the name cannot resolve to another
    address between check and connection. Redirects are checked, too. `allow_private` allows every
    address. Raises PrivateAddress.
    """

    def __init__(self, trusted: Origin | None = None, *, allow_private: bool = False) -> None:
        self._trusted = trusted
        self._allow_private = allow_private

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first of the host's addresses that accepts a connection."""
        addresses = [host]
        if (host, port) != self._trusted:
            addresses = await _addresses(host, port)
            _check(host, addresses, self._allow_private)
        failed: Exception = OSError(f"{host} has no address")
        for address in addresses:
            try:
                return await super().connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except httpcore2.ConnectError as error:
                failed = error
        raise failed


class GuardedSyncBackend(httpcore2.SyncBackend):
    """The synchronous version of `GuardedBackend`."""

    def __init__(self, trusted: Origin | None = None) -> None:
        self._trusted = trusted

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        """Connect to the first of the host's addresses that accepts a connection."""
        addresses = [host]
        if (host, port) != self._trusted:
            try:
                addresses = _in_order(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
            except OSError as error:
                raise httpcore2.ConnectError(str(error)) from error
            _check(host, addresses)
        failed: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in addresses:
            try:
                return super().connect_tcp(address, port, timeout, local_address, socket_options)
            except httpcore2.ConnectError as error:
                failed = error
        raise failed


def guard(client: httpx2.Client | httpx2.AsyncClient, configured: str) -> None:
    """Restrict an HTTP client to public addresses and the configured origin.

    The configured origin may be on a private network. The target of a redirect may not: the request
    raises PrivateAddress. If the environment configures a proxy, the proxy makes the connections, and
    they are not checked here.

    Args:
        client: The client of httpx2.
        configured: The configured address.
    """
    # With a `transport` argument, the client would ignore the proxies of the environment.
    pool: Any = client._transport._pool  # type: ignore[union-attr]
    backend = GuardedSyncBackend if isinstance(client, httpx2.Client) else GuardedBackend
    pool._network_backend = backend(origin(configured))


def origin(address: str) -> Origin | None:
    """Return the host and port of an http(s) address; None for other texts."""
    try:
        url = httpx2.URL(address)
        port = url.port or _DEFAULT_PORTS[url.scheme]
    except (httpx2.InvalidURL, KeyError):
        return None
    return url.raw_host.decode(), port


def is_public(address: str) -> bool:
    """Whether an IP address, as text, is public."""
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address):
        # Packets to an IPv6 address with an embedded IPv4 address go to the latter.
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is None and ip not in _GLOBAL_UNICAST:
            # Python's list of special ranges lacks a few: site-local, local NAT64.
            return False
        ip = inner or ip
    return ip.is_global and not ip.is_multicast and ip not in _OF_CLOUDS


def _check(host: str, addresses: list[str], allow_private: bool = False) -> None:
    if not (allow_private or all(map(is_public, addresses))):
        raise PrivateAddress(host)


async def _addresses(host: str, port: int) -> list[str]:
    loop = asyncio.get_running_loop()
    return _in_order(await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM))


def _in_order(entries: Iterable[Any]) -> list[str]:
    """Sort addresses, IPv4 first, since many machines resolve IPv6 addresses but cannot reach them."""
    return sorted({str(entry[4][0]) for entry in entries}, key=lambda text: (":" in text, text))
