"""How long a model's server has said nothing while it was asked, and when that is too long.

What belongs here: the clock of that silence. It runs while requests are out or a pause for a server
that is down is waited out, and begins anew with each reply, whatever the reply is. When a pause is made
is decided in `limits.py`.
"""

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class ProviderDown(Exception):
    """The model's server gave no answer for too long; nothing more is sent to it."""


class Silence:
    """The silence of the server of the model `name`, which is given up after `most` seconds of it."""

    def __init__(self, name: str, most: float):
        self.over = False
        """Whether the server was given up."""
        self._name, self._most = name, most
        self._out: set[asyncio.Timeout] = set()
        self._before = 0.0
        self._since = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def began(self) -> bool:
        """Whether the last that was sent got no reply, so that a pause is a part of the silence."""
        return self._before > 0

    def check(self) -> None:
        """Raise ProviderDown if the server was given up."""
        if self.over:
            raise self._given_up()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """The server is asked, or waited for, inside this block.

        Raises ProviderDown as soon as the server is given up, here or in another such block.
        """
        self.check()
        try:
            async with asyncio.timeout(None) as timeout:
                self._begin(timeout)
                try:
                    yield
                finally:
                    self._end(timeout)
        except TimeoutError:
            if timeout.expired():
                raise self._given_up() from None
            raise

    def heard(self) -> None:
        """The server replied."""
        self._before = 0.0
        if self._out:
            self._since = asyncio.get_running_loop().time()

    def _begin(self, timeout: asyncio.Timeout) -> None:
        if not self._out:
            loop = asyncio.get_running_loop()
            self._since = loop.time()
            if math.isfinite(self._most):
                self._timer = loop.call_later(self._most - self._before, self._look)
        self._out.add(timeout)

    def _end(self, timeout: asyncio.Timeout) -> None:
        self._out.discard(timeout)
        # A stage's event loop, which the timer belongs to, ends with nothing out.
        if not self._out:
            self._before += asyncio.get_running_loop().time() - self._since
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        left = self._most - self._before - (now - self._since)
        if left > 0:
            self._timer = loop.call_later(left, self._look)
            return
        self.over = True
        for timeout in self._out:
            timeout.reschedule(now)

    def _given_up(self) -> ProviderDown:
        return ProviderDown(
            f"The server of {self._name} gave no reply for {self._most:g} seconds and was given up "
            "(give_up_seconds in models.yaml)."
        )
