"""Parse the address of a model's server into its public part and its credentials, and find its proxy.

The identity of the server in request keys is `ModelSpec.endpoint`.
"""

import ipaddress
import os
from base64 import b64encode
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit
from urllib.request import getproxies_environment, proxy_bypass

OPENAI = "https://api.openai.com/v1"
_NO_SECRETS = ("api-version", "deployment", "deployment-id", "model", "region", "version")
"""Query parameters that identify the server or model; all others may be secrets."""


@dataclass(frozen=True)
class ServerAddress:
    """A parsed base URL. `public` is the URL without user, password and query.

    `user` and `password` are sent as basic authentication, `query` with every request.
    """

    public: str
    user: str = ""
    password: str = ""
    query: tuple[tuple[str, str], ...] = ()

    @property
    def shown(self) -> str:
        """The address for display, with only those query parameters that are not secret."""
        named = [(name, value) for name, value in self.query if name.lower() in _NO_SECRETS]
        return f"{self.public}?{urlencode(named)}" if named else self.public

    @property
    def headers(self) -> dict[str, str]:
        """The header of basic authentication, if there is a user; it replaces the API key's header."""
        if not (self.user or self.password):
            return {}
        return {"Authorization": f"Basic {self._basic}"}

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        """The parts that must not be displayed: credentials, also in their encoded form, and query
        values.

        A user name without a password counts as a secret, too. The base64 form
        is listed without its padding.
        """
        secrets = [value for name, value in self.query if name.lower() not in _NO_SECRETS]
        if self.user or self.password:
            secrets += [self.password or self.user, self._basic.rstrip("=")]
        if self.user and self.password:
            secrets.append(f"{self.user}:{self.password}")
            secrets.append(f"{quote(self.user)}:{quote(self.password)}")
        return tuple(secret for secret in secrets if secret)

    @property
    def _basic(self) -> str:
        return b64encode(f"{self.user}:{self.password}".encode()).decode()


@lru_cache(maxsize=64)
def read_address(address: str) -> ServerAddress:
    """Parse an http(s) address. Raises ValueError, whose message does not contain the address."""
    try:
        parts = urlsplit(address.strip())
        port = parts.port
    except ValueError:
        raise ValueError("it is not an address") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("it must begin with http:// or https:// and name a host")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    if port is not None and port != {"http": 80, "https": 443}[parts.scheme]:
        host = f"{host}:{port}"
    public = SplitResult(parts.scheme, host, parts.path.rstrip("/"), "", "")
    return ServerAddress(
        urlunsplit(public),
        unquote(parts.username or ""),
        unquote(parts.password or ""),
        tuple(parse_qsl(parts.query, keep_blank_values=True)),
    )


class Proxy(NamedTuple):
    """A proxy from the environment: the variable that names it, and its address."""

    variable: str
    address: str

    def at(self, host: str, port: int | None) -> bool:
        """Tell whether the proxy listens at an address.

        Args:
            host: The host.
            port: The port; None for the default one.
        """
        address = self.address if "://" in self.address else f"http://{self.address}"
        parts = urlsplit(address)
        return parts.hostname == host and (parts.port or 80) == port


def proxy_for(url: str) -> Proxy | None:
    """Find the proxy that the environment sets for an address.

    Args:
        url: An http or https address.

    Returns:
        The proxy of HTTP_PROXY, HTTPS_PROXY or ALL_PROXY. None for addresses of this machine and those
        that NO_PROXY names.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if is_this_machine(host) or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxies = getproxies_environment()
    for scheme in (parts.scheme, "all"):
        if address := proxies.get(scheme):
            name = f"{scheme}_proxy"
            return Proxy(next(n for n in os.environ if n.lower() == name), address)
    return None


def is_this_machine(host: str) -> bool:
    """Tell whether a host is a loopback address of this machine."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host.lower().rstrip(".").rpartition(".")[2] == "localhost"
    return address.is_loopback or address.is_unspecified
