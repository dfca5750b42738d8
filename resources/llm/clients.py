"""HTTP clients of the models' servers, one client a model, opened when it is first needed.

What belongs here: addresses, keys and transport, and what is expected of the launcher of the offline
server. What is sent, and what becomes of the reply, is in `attempt.py` and `batches.py`.
"""

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Protocol

from resources.llm.registry import ModelSpec

if TYPE_CHECKING:
    from openai import AsyncOpenAI

OPERATION_SECONDS = 180.0
"""The longest wait for a connection or for the next bytes of a reply."""


class Launcher(Protocol):
    """Starts the server of the models whose provider is `offline` and that have no address."""

    def start(self) -> str:
        """Start the server unless it runs, and return its base URL."""

    def stop(self) -> None:
        """Stop the server if it runs."""


class Clients:
    """The clients of one event loop, closed at the end of the `async with` block."""

    def __init__(self, launcher: Launcher):
        self._launcher = launcher
        self._stack = AsyncExitStack()
        self._clients: dict[str, AsyncOpenAI] = {}
        self._starting = asyncio.Lock()

    async def __aenter__(self) -> "Clients":
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    async def of(self, spec: ModelSpec) -> "AsyncOpenAI":
        """The client for a model; starts the offline server if the model needs it."""
        if spec.name in self._clients:
            return self._clients[spec.name]
        async with self._starting:
            if spec.name not in self._clients:
                self._clients[spec.name] = await self._stack.enter_async_context(
                    await self._open(spec)
                )
        return self._clients[spec.name]

    async def _open(self, spec: ModelSpec) -> "AsyncOpenAI":
        from openai import AsyncOpenAI, DefaultAioHttpClient

        address, own = spec.address(), False
        if spec.provider == "offline" and address is None:
            address, own = await asyncio.to_thread(self._launcher.start), True
        # aiohttp takes a third of the processor time of the client's default transport. A proxy in
        # the environment is for remote servers, not for one on this machine.
        transport = DefaultAioHttpClient(trust_env=not own)
        return AsyncOpenAI(
            api_key=spec.api_key(),
            base_url=address,
            max_retries=0,
            timeout=OPERATION_SECONDS,
            http_client=transport,
        )
