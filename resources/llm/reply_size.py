"""A limit on how much of a response is held in memory.

What belongs here: counting a body while it arrives, as it is sent and as it is decoded: a small body
may be a large one compressed. Responses of any status are counted. A response that is read piece by
piece, as a batch's result file is, may be of any size.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

import httpx2

from resources.llm.model_spec import ModelSpec
from resources.llm.reply import BadResponse, exceeds_limit

_LIMIT = "vlm_loom_limit"
"""The extension of a response that holds its limit."""


class ReplyTooLarge(BadResponse):
    """A response's body is larger than the model's entry allows; the rest of it was not read."""


class _Limited(httpx2.Response):
    """A response that raises ReplyTooLarge when its whole body is read and is larger than its limit."""

    _read_whole = False

    async def aread(self) -> bytes:
        self._read_whole = True
        said = self.headers.get("content-length", "")
        # A longer number has no meaning, and Python converts no number of thousands of digits.
        if said.isdecimal() and len(said) < 20:
            self._check(int(said))
        return await super().aread()

    async def aiter_raw(self, chunk_size: int | None = None) -> AsyncGenerator[bytes, None]:
        async with aclosing(super().aiter_raw(chunk_size)) as parts:
            async for part in parts:
                self._check(self.num_bytes_downloaded)
                yield part

    async def aiter_bytes(self, chunk_size: int | None = None) -> AsyncGenerator[bytes, None]:
        n_bytes = 0
        async with aclosing(super().aiter_bytes(chunk_size)) as parts:
            async for part in parts:
                n_bytes += len(part)
                self._check(n_bytes)
                yield part

    def _check(self, n_bytes: int) -> None:
        spec: ModelSpec = self.extensions[_LIMIT]
        if self._read_whole and n_bytes > spec.max_reply_bytes:
            raise ReplyTooLarge(exceeds_limit(spec))


def limit_replies(spec: ModelSpec) -> Callable[[httpx2.Response], Awaitable[None]]:
    """A hook of an HTTP client, called with each response before its body is read."""

    async def hook(response: httpx2.Response) -> None:
        # The client makes its responses itself and has no setting for their class.
        response.__class__ = _Limited
        response.extensions[_LIMIT] = spec

    return hook
