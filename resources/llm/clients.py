"""Connections to the models' servers, one client a model, opened when first asked for.

What belongs here: addresses, keys and transport. What is sent and what becomes of it is
`attempt.py`'s and `batches.py`'s.
"""

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from resources.llm.registry import ModelSpec
from resources.offline.process import OfflineServer

if TYPE_CHECKING:
    from openai import AsyncOpenAI

OPERATION_SECONDS = 180.0
"""The longest wait for a connection or for the next bytes of a reply."""


class Clients:
    """The clients of one event loop, closed with the block."""

    def __init__(self, offline: OfflineServer):
        self._offline = offline
        self._stack = AsyncExitStack()
        self._clients: dict[str, AsyncOpenAI] = {}
        self._starting = asyncio.Lock()

    async def __aenter__(self) -> "Clients":
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    async def of(self, spec: ModelSpec) -> "AsyncOpenAI":
        """The client for a model; starts the offline server if that is who answers."""
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
            address, own = await asyncio.to_thread(self._offline.start), True
        # aiohttp under the client costs a third of the processor time of the default. A proxy in the
        # environment is for the world outside, not for a server of our own.
        transport = DefaultAioHttpClient(trust_env=not own)
        return AsyncOpenAI(
            api_key=spec.api_key(),
            base_url=address,
            max_retries=0,
            timeout=OPERATION_SECONDS,
            http_client=transport,
        )
