"""A guard against server-side request forgery (SSRF): no connections into private networks.

What belongs here: which addresses may be connected to. What does not: what is sent over the
connection. The guard is a network backend of httpcore, because there the address that is checked is
the address that is connected to.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Iterable

import httpcore

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")


class PrivateAddress(Exception):
    """A host on a private or local network, which may not be connected to."""


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """Connects to public addresses, and to `trusted`, a (host, port), at any address.

    A URL in a data set must not make this machine send requests into its own network. The host is
    resolved here, and the connection goes to the checked address, so that the name cannot resolve to
    another one in between; redirects are checked as well. `allow_private` allows every address.
    Raises PrivateAddress.
    """

    def __init__(
        self, trusted: tuple[str, int] | None = None, *, allow_private: bool = False
    ) -> None:
        self._inner = httpcore.AnyIOBackend()
        self._trusted = trusted
        self._allow_private = allow_private

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """A connection to the first of the host's addresses that accepts one."""
        addresses = [host]
        if (host, port) != self._trusted:
            addresses = await _addresses(host, port)
            if not (self._allow_private or all(map(is_public, addresses))):
                raise PrivateAddress(f"The host {host} is on a private or local network.")
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
        """Wait, as httpcore asks its backend to."""
        await self._inner.sleep(seconds)


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
    return ip.is_global and not ip.is_multicast


async def _addresses(host: str, port: int) -> list[str]:
    """Addresses of the host, IPv4 first: many machines resolve IPv6 addresses but cannot reach them."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return sorted({str(entry[4][0]) for entry in found}, key=lambda text: (":" in text, text))
