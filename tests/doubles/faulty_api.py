"""A provider on its bad days: answers chat completions late, wrongly or not at all, by a seeded draw.

What becomes of the n-th attempt of a request is drawn from the seed, the request's text and n alone,
whatever else arrives in between; `Weather.plan` tells it.
"""

import asyncio
import hashlib
import json
import math
import random
import socket
import struct
from dataclasses import dataclass, field
from itertools import count

from tests.doubles.openai_api import Api, completion_by_rule, http_reply

# In thousandths of all attempts where three in ten fail. Those that a caller waits long for are few.
MIX = {
    "429": 40,
    "429 seconds": 20,
    "500": 50,
    "503 seconds": 30,
    "408": 20,
    "reset": 30,
    "reset in body": 20,
    "silence": 5,
    "trickle": 4,
    "truncated": 15,
    "no choices": 15,
    "not utf-8": 10,
}
ANSWERED, FILTERED, REJECTED, ABANDONED = "answered", "filtered", "rejected", "abandoned"
LOST = {"reset in body", "silence", "trickle", "truncated", "no choices", "not utf-8", ABANDONED}
"""The provider worked, and what it made was lost on the way; `abandoned`: the caller left first."""


@dataclass(frozen=True)
class Weather:
    """What there is to suffer: the share of attempts that fail, in which ways, how late all come.

    `latency` is lognormal, in milliseconds: the median, and sigma.
    `rejected` and `filtered` are shares of requests, which meet the same end whenever they are asked.
    `passes_after` attempts nothing fails any more.
    """

    share: float = 0.3
    mix: dict[str, int] = field(default_factory=lambda: dict(MIX))
    latency: tuple[float, float] = (3.0, 1.0)
    rejected: float = 0.0
    filtered: float = 0.0
    passes_after: int | None = None
    seed: int = 0

    def draw(self, text: str, attempt: int) -> tuple[str, float, random.Random]:
        """How this attempt, 1 being the first, will end, after how many seconds; more to draw from."""
        rng = random.Random(f"{self.seed}/{attempt}/{text}")
        median, sigma = self.latency
        seconds = median * math.exp(rng.gauss(0, sigma)) / 1000
        passed = self.passes_after is not None and attempt > self.passes_after
        if passed or rng.random() >= self.share:
            return self.lot(text), seconds, rng
        return rng.choices(list(self.mix), list(self.mix.values()))[0], seconds, rng

    def lot(self, text: str) -> str:
        """What a request comes to once nothing fails: always the same."""
        share = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) / 2**64
        if share < self.rejected:
            return REJECTED
        return FILTERED if share < self.rejected + self.filtered else ANSWERED

    def plan(self, text: str) -> list[str]:
        """Every end this request meets, if it is asked until nothing fails and never again."""
        ends: list[str] = []
        for attempt in count(1):
            ends.append(self.draw(text, attempt)[0])
            if ends[-1] not in self.mix:
                break
        return ends


class FaultyApi(Api):
    def __init__(self, weather: Weather):
        super().__init__()
        self._weather = weather
        self._ends: dict[str, list[str]] = {}

    def ends(self) -> dict[str, list[str]]:
        """By text, how each attempt ended until now, in the order they arrived."""
        return {text: list(ends) for text, ends in list(self._ends.items())}

    def reply(self, headers: dict[str, str], body: bytes, transport: asyncio.Transport) -> None:
        content = json.loads(body)["messages"][-1]["content"]
        ends = self._ends.setdefault(content, [])
        ends.append("under way")
        end, seconds, rng = self._weather.draw(content, len(ends))

        def come(place: int = len(ends) - 1) -> None:
            here = not transport.is_closing()
            ends[place] = end if here or end in self._weather.mix else ABANDONED
            if here:
                self._come(end, content, transport, rng)

        asyncio.get_running_loop().call_later(seconds, come)

    def _come(self, end: str, text: str, transport: asyncio.Transport, rng: random.Random) -> None:
        if end == "silence":
            return
        if end in ("reset", "reset in body"):
            whole = completion_by_rule(text)
            if end == "reset in body":
                transport.write(http_reply(200, whole[: len(whole) // 2], length=len(whole)))
            # Not in the same breath, or what was sent would never be seen.
            asyncio.get_running_loop().call_later(0.003, _reset, transport)
        elif end == "trickle":
            transport.write(http_reply(200, b"", length=1_000_000))
            _trickle(transport)
        else:
            transport.write(self._whole(end, text, rng))

    def _whole(self, end: str, text: str, rng: random.Random) -> bytes:
        """A reply that comes to its end, good or bad."""
        seconds = f"Retry-After: {rng.uniform(0.005, 0.03):.3f}"
        replies = {
            ANSWERED: lambda: http_reply(200, completion_by_rule(text)),
            FILTERED: lambda: http_reply(200, completion_by_rule(text, "content_filter")),
            REJECTED: lambda: http_reply(400, _error("This cannot be asked.")),
            "429": lambda: http_reply(429, _error("Too many.")),
            "429 seconds": lambda: http_reply(429, _error("Too many."), seconds),
            "500": lambda: http_reply(500, _error("It broke.")),
            "503 seconds": lambda: http_reply(503, _error("Overloaded."), seconds),
            "408": lambda: http_reply(408, _error("You were slow.")),
            "truncated": lambda: http_reply(200, completion_by_rule(text)[:-40]),
            "no choices": lambda: http_reply(200, b'{"choices": []}'),
            "not utf-8": lambda: http_reply(
                200, completion_by_rule(text).replace(b"assistant", b"assist\xe9")
            ),
        }
        return replies[end]()


def _error(message: str) -> bytes:
    return json.dumps({"error": {"message": message, "type": "bad_day", "code": None}}).encode()


def _reset(transport: asyncio.Transport) -> None:
    if not transport.is_closing():
        # Without lingering, the caller's kernel is told of a reset, not of a polite end.
        lingering = struct.pack("ii", 1, 0)
        transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, lingering
        )
        transport.abort()


def _trickle(transport: asyncio.Transport) -> None:
    if not transport.is_closing():
        transport.write(b" ")
        asyncio.get_running_loop().call_later(0.05, _trickle, transport)
