"""HTTP clients of the models' servers, one for each model, opened on first use."""

import asyncio
from contextlib import AsyncExitStack
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

import httpx2

from methods.errors import UserError
from resources.llm.model_spec import ModelSpec
from resources.llm.server_address import ServerAddress, proxy_for
from resources.web.request_log import hide_queries

if TYPE_CHECKING:
    from ssl import SSLContext

    from openai import AsyncOpenAI

    from resources.llm.chat_client import ChatClient


REFUSED_REDIRECT = "vlm_loom_redirect"
"""The extension of a response that holds the scheme, host and port of a redirect to another server."""


async def stay_with_server(response: httpx2.Response) -> None:
    """Turn a redirect to another server into an error response (a hook of the HTTP client).

    Credentials in the new address are ignored, and the request's own credentials are sent again.
    """
    if not response.has_redirect_location:
        return
    url = response.request.url
    try:
        to = url.join(response.headers["location"]).copy_with(userinfo=b"")
    except (httpx2.InvalidURL, ValueError):
        to = None
    # The scheme and port stay, or become https instead of http if both are default ports.
    own = url.scheme, url.port
    allowed = [own, ("https", None)] if own == ("http", None) else [own]
    if to is not None and to.host == url.host and (to.scheme, to.port) in allowed:
        response.headers["location"] = str(to)
    else:
        target = f"{to.scheme}://{to.netloc.decode()}" if to else "an invalid address"
        response.extensions[REFUSED_REDIRECT] = target
        del response.headers["location"]


class Launcher(Protocol):
    """Starts the server of the models whose provider is `mock` and that have no address."""

    def start(self) -> str:
        """Start the server unless it runs, and return its base URL."""

    def stop(self) -> None:
        """Stop the server if it runs."""


class ProxyNotSupported(UserError):
    """The proxy of the environment has a protocol that the client does not support."""


class ModelClient(NamedTuple):
    """The clients of one model's server: `chat` for completions, `api` for files and batches."""

    api: "AsyncOpenAI"
    chat: "ChatClient"


class Clients:
    """The clients of one event loop, closed at the end of the `async with` block."""

    def __init__(self, launcher: Launcher):
        self._launcher = launcher
        self._stack = AsyncExitStack()
        self._clients: dict[str, ModelClient] = {}
        self._opening: dict[str, asyncio.Lock] = {}
        self._starting = asyncio.Lock()

    async def __aenter__(self) -> "Clients":
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    async def client(self, spec: ModelSpec) -> ModelClient:
        """Return the client for a model. Starts the mock server if the model needs it."""
        if spec.name in self._clients:
            return self._clients[spec.name]
        # One lock per model, so that no model waits for the start of another model's server.
        async with self._opening.setdefault(spec.name, asyncio.Lock()):
            if spec.name not in self._clients:
                self._clients[spec.name] = client = await self._open(spec)
                self._stack.push_async_callback(client.api.close)
        return self._clients[spec.name]

    async def _open(self, spec: ModelSpec) -> ModelClient:
        from openai import AsyncOpenAI, DefaultAioHttpClient, Timeout

        from resources.llm.chat_client import ChatClient
        from resources.llm.reply import limit_replies

        server = spec.server()
        remote = server is not None
        if server is None:
            async with self._starting:
                server = ServerAddress(await asyncio.to_thread(self._launcher.start))
        proxy = proxy_for(server.public)
        if proxy is not None and proxy.address.lower().startswith("socks"):
            raise ProxyNotSupported(
                f"{spec.name} cannot be asked through the SOCKS proxy of {proxy.variable}: set "
                "HTTPS_PROXY and HTTP_PROXY to an HTTP proxy, or add the server's host to NO_PROXY."
            )
        hide_queries()
        # aiohttp takes a third of the processor time of the client's default transport. Without
        # trust_env the client ignores the proxies of the environment.
        transport = DefaultAioHttpClient(
            trust_env=proxy is not None,
            verify=_certificates(remote),
            params=list(server.query),
            event_hooks={"response": [limit_replies(spec), stay_with_server]},
        )
        times = spec.timeouts
        headers = {**server.headers, **spec.headers()}
        api = AsyncOpenAI(
            api_key=spec.api_key(),
            base_url=server.public,
            default_headers=headers,
            max_retries=0,
            timeout=Timeout(times.whole, connect=times.connect, read=times.first_byte),
            http_client=transport,
        )
        # The openai package reads these from the environment for any server, although the
        # entry has its own headers.
        api.organization = api.project = None
        return ModelClient(api, ChatClient(api, transport, headers, times.whole))


@cache
def _certificates(from_environment: bool) -> "SSLContext":
    """Load the trusted certificates once, because this takes 30 ms."""
    from httpx2 import create_ssl_context

    return create_ssl_context(trust_env=from_environment)
