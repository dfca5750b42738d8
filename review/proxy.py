"""Single sign-on by a proxy that authenticates people (OpenID Connect) and sends a name in a header."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from starlette.requests import HTTPConnection

from methods.errors import UserError

PEER = "review.peer"
"""Key of the ASGI scope: the peer address of the connection, independent of headers."""


@dataclass(frozen=True)
class SignInHeader:
    """The header with the name of the signed-in person, and the proxy addresses to trust."""

    header: str
    trusted: tuple[IPv4Network | IPv6Network, ...]

    def name_in(self, request: HTTPConnection) -> str | None:
        """Return the name in the header if the request is from a trusted address; else None."""
        peer = request.scope.get(PEER)
        named = request.headers.getlist(self.header)
        if peer is None or len(named) != 1 or not named[0].strip():
            return None
        address = ip_address(peer)
        if not any(address in network for network in self.trusted):
            return None
        # Servers read headers as Latin-1, proxies write names in UTF-8.
        return named[0].strip().encode("latin-1").decode("utf-8", "replace")


def sign_in_header(header: str | None, trusted: Sequence[str]) -> SignInHeader | None:
    """Validate the options for sign-in by a proxy.

    Args:
        header: The header with the name; None for sign-in by the app.
        trusted: The addresses of the proxy.

    Returns:
        The options; None for sign-in by the app.

    Raises:
        UserError: An option is missing or wrong.
    """
    if header is not None and not trusted:
        raise UserError(
            "Signing in by a proxy needs both --sign-in-header, such as X-Forwarded-Email, and "
            "--trusted-proxy, the address that the proxy connects from."
        )
    try:
        networks = tuple(ip_network(each) for each in trusted)
    except ValueError as error:
        raise UserError(f"--trusted-proxy is an address or a network: {error}.") from None
    return None if header is None else SignInHeader(header, networks)
