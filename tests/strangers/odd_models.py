"""Models that answer oddly: the mock server behind proxies that rewrite what it answers."""

import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any

from tests.doubles.garbling_proxy import Asked, GarblingProxy, ProxyServer, When
from tests.doubles.serving import serving

DEEP = '{"a":' * 3000
LONG_CHARACTERS = 5_000_000
ANSWERED_BEFORE_OUTAGE = 20
CANDIDATES = {
    "careful": "offline-careful",
    "talkative": "offline-careful",
    "nested": "offline-careful",
    "endless": "offline-careful",
    "silent": "offline-careful",
    "renamed": "offline-careless",
}
"""Each model that is compared, and the mock model that is behind it."""


def in_prose(true: str) -> str:
    """The reply as a talkative person gives it: words alone, no braces and no quotes."""
    words = true.translate(str.maketrans('{}[]":', " " * 6)).split()
    return f"What a nice question! Let me think aloud. {' '.join(words)} I hope this is of use."


def longer(true: str) -> str:
    """The reply, and after it the same words over and over, five million characters in all."""
    return f"{true}\n{'and so on, ' * (LONG_CHARACTERS // len('and so on, '))}"[:LONG_CHARACTERS]


def one_in(n: int) -> When:
    """Picks one asking in `n` of each request, which one by its text: the same at each run."""
    asked_before: Counter[int] = Counter()
    lock = Lock()

    def when(asked: Asked) -> bool:
        key = zlib.crc32(asked.text.encode())
        with lock:
            asked_before[key] += 1
            return (key + asked_before[key]) % n == 0

    return when


def always(_asked: Asked) -> bool:
    """Picks every request."""
    return True


def talkative(proxy: GarblingProxy) -> None:
    """Answers in prose."""
    proxy.rewrite(always, in_prose)


def nested(proxy: GarblingProxy) -> None:
    """Answers with JSON of 3,000 levels one time in four."""
    proxy.rewrite(one_in(4), DEEP)


def endless(proxy: GarblingProxy) -> None:
    """Answers with 5 MB one time in twenty."""
    proxy.rewrite(one_in(20), longer)


def silent(proxy: GarblingProxy) -> None:
    """Answers with nothing half the time."""
    proxy.rewrite(one_in(2), "")


def renamed(proxy: GarblingProxy) -> None:
    """Says that another model answered."""
    proxy.name(always, "somebody-else-7b")


def out_of_order(proxy: GarblingProxy) -> None:
    """Answers twenty times, then with 503 for an hour."""
    proxy.refuse(
        lambda _asked: len(proxy.requests) > ANSWERED_BEFORE_OUTAGE, 503, "The model is restarted."
    )


ODDITIES: dict[str, Callable[[GarblingProxy], None]] = {
    odd.__name__: odd for odd in (talkative, nested, endless, silent, renamed, out_of_order)
}


@dataclass
class OddModels:
    """Models behind proxies: `registry` is models.yaml with them, and the profile `strangers`."""

    registry: Mapping[str, Any]
    proxies: Mapping[str, GarblingProxy]

    def mend(self) -> None:
        """Writer and judge answer as they should from now on."""
        for role in ("writer", "judge"):
            self.proxies[role].heal()


@contextmanager
def odd_models(oddities: Mapping[str, str]) -> Iterator[OddModels]:
    """A writer, a judge and the candidates, answering; `oddities` are those of writer and judge."""
    behind = {"writer": "offline-writer", "judge": "offline-judge", **CANDIDATES}
    with serving(ProxyServer()) as server:
        proxies = {role: server.proxy() for role in behind}
        for role, proxy in proxies.items():
            if odd := ODDITIES.get(oddities.get(role, role)):
                odd(proxy)
        yield OddModels(registry(proxies, behind), proxies)


def registry(proxies: Mapping[str, GarblingProxy], behind: Mapping[str, str]) -> dict[str, Any]:
    """models.yaml with a model behind each proxy; one that is down costs no waits."""
    return {
        "profiles": {
            "strangers": {"writer": "writer", "judge": "judge", "evaluate": list(CANDIDATES)}
        },
        "models": {
            role: {
                "provider": "openai",
                "base_url": proxies[role].base_url,
                "identity": role,
                "model": model,
                "attempts": 3,
                "retry_wait": {"first": 0.05, "most": 0.2},
                "timeouts": {"whole": 100},
                "give_up_seconds": 120,
            }
            for role, model in behind.items()
        },
    }
