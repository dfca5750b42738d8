"""Rate limiting of image requests for each host: concurrent requests, pauses, and giving up.

All tasks of a process, or all workers of a Ray cluster, share one pace. `host_queue.py` orders the
images, `request.py` sends requests, and `fetcher.py` handles failures of single images.

A host that refuses (status 429 or 503) is paused for its Retry-After, and for at least a backoff that
doubles with each consecutive refusal, up to a minute. If a pause would end more than ten minutes after
the host began to refuse every request, the host is given up until that pause is over.
"""

import itertools
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from methods.ids import content_id
from resources.web.host_pauses import HostPauses
from resources.wikipedia import api_client
from resources.wikipedia.api_client import is_wikimedia

HOST_CONNECTIONS = 3
MAX_BACKOFF = 60.0
"""Seconds: the longest pause, unless a host asks for a longer one (Retry-After)."""
PATIENCE = 600.0
"""Seconds after which a host that refuses every request is given up."""
BUSY_SECONDS = 0.1
"""Seconds after which a worker asks again for a slot at a host that has no free slot."""
IDLE_SECONDS = 3_600.0
"""Seconds without a request after which the cluster's actor ends; longer than any worker waits."""
NAMESPACE = "vlm-loom"


class RequestSlot(NamedTuple):
    """The permission to send a request to a host now. Its outcome must be reported."""

    host: str
    number: int
    begun: float
    pauses: int
    """The number of the host's pauses before the request began."""


class PaceDelay(NamedTuple):
    """The host has no slot for this many seconds."""

    seconds: float


class HostGivenUp(NamedTuple):
    """The host gets no requests, as it refuses every request; `detail` is a sentence."""

    detail: str


@dataclass(slots=True)
class _HostState:
    name: str
    turns: dict[int, float] = field(default_factory=dict)  # when each slot expires
    pauses: int = 0
    refusals: int = 0  # refusals in a row
    refusing_since: float = 0.0
    paced_until: float = 0.0
    given_up: str | None = None


class HostPace:
    """The pace of hosts within one event loop; no method waits.

    It gives slots for requests. The outcome of each is reported to one of the last three methods.
    `backoff` is the first pause, in seconds, of a host that refuses without Retry-After. `pauses` are
    shared with other clients of the same hosts.
    """

    def __init__(self, backoff: float, pauses: HostPauses | None = None) -> None:
        self._backoff = backoff
        self._pauses = HostPauses() if pauses is None else pauses
        self._hosts: dict[str, _HostState] = {}
        self._numbers = itertools.count()

    async def begin(self, host: str, lasts: float) -> RequestSlot | PaceDelay | HostGivenUp:
        """Take a slot for a request to a host. It expires after `lasts` seconds, because its worker may
        have died.
        """
        it, current_time = self._host(host), time.monotonic()
        if detail := self._given_up(it, current_time):
            return HostGivenUp(detail)
        it.turns = {number: end for number, end in it.turns.items() if end > current_time}
        if len(it.turns) >= connections(host):
            return PaceDelay(BUSY_SECONDS)
        ready_at = max(self._pauses.until(host), it.paced_until)
        if ready_at > current_time:
            return PaceDelay(ready_at - current_time)
        turn = RequestSlot(host, next(self._numbers), current_time, it.pauses)
        it.turns[turn.number] = current_time + lasts
        return turn

    async def answered(self, turn: RequestSlot, n_bytes: int) -> None:
        """Report an answer of `n_bytes` that is not a refusal."""
        host = self._end(turn)
        # The answer counts if its request began after the last pause, or together with the request that
        # caused the pause. The answer to an older request does not show that the host answers again.
        if turn.pauses >= host.pauses - 1:
            host.refusals = host.pauses - turn.pauses
            host.refusing_since = time.monotonic()
        if is_wikimedia(host.name):
            seconds = n_bytes / api_client.BYTES_PER_SECOND
            host.paced_until = max(host.paced_until, turn.begun) + seconds

    async def refused(self, turn: RequestSlot, asked_to_wait: float | None) -> None:
        """Pause the host after a refusal.

        Args:
            turn: The slot.
            asked_to_wait: The seconds of its Retry-After.
        """
        host, current_time = self._end(turn), time.monotonic()
        pause = asked_to_wait or 0.0
        if host.refusals == 0:
            host.refusing_since = current_time
        if turn.pauses == host.pauses:
            # Concurrent requests that are refused together count as one refusal.
            pause = max(pause, min(self._backoff * 2**host.refusals, MAX_BACKOFF))
            host.pauses += 1
            host.refusals += 1
        self._pauses.pause(host.name, pause)

    async def ended(self, turn: RequestSlot) -> None:
        """Report that the request ended in another way."""
        self._end(turn)

    def _given_up(self, host: _HostState, current_time: float) -> str | None:
        until = self._pauses.until(host.name)
        if until <= current_time:
            host.given_up = None
        since = host.refusing_since if host.refusals else current_time
        if not host.given_up and until > current_time and until - since > PATIENCE:
            host.given_up = (
                f"The host {host.name} goes on refusing, and may be asked again only in "
                f"{until - current_time:.0f} seconds: run this again after that."
            )
        return host.given_up

    def _end(self, turn: RequestSlot) -> _HostState:
        host = self._host(turn.host)
        host.turns.pop(turn.number, None)
        return host

    def _host(self, name: str) -> _HostState:
        return self._hosts.setdefault(name, _HostState(name))


def connections(host: str) -> int:
    """Return the most concurrent requests to a host."""
    return api_client.CONNECTIONS if is_wikimedia(host) else HOST_CONNECTIONS


# --- On a Ray cluster ----------------------------------------------------------------------------


class ClusterPace:
    """The common pace of all workers of a Ray cluster, across jobs, kept by a named actor.

    Create it within a worker. The first one creates the actor, which outlives the jobs.
    """

    def __init__(self, backoff: float) -> None:
        import ray

        self._actor: Any = (
            ray.remote(_PaceActor)
            .options(
                # The hash of this file is part of the name, as another version may have other methods.
                name=f"pace-of-hosts-{content_id(Path(__file__).read_text())}",
                namespace=NAMESPACE,
                lifetime="detached",
                get_if_exists=True,
                num_cpus=0,
                max_restarts=-1,
                max_task_retries=-1,
            )
            .remote(backoff)
        )

    async def begin(self, host: str, lasts: float) -> RequestSlot | PaceDelay | HostGivenUp:
        begun: RequestSlot | PaceDelay | HostGivenUp = await self._actor.begin.remote(host, lasts)
        return begun

    async def answered(self, turn: RequestSlot, n_bytes: int) -> None:
        await self._actor.answered.remote(turn, n_bytes)

    async def refused(self, turn: RequestSlot, asked_to_wait: float | None) -> None:
        await self._actor.refused.remote(turn, asked_to_wait)

    async def ended(self, turn: RequestSlot) -> None:
        await self._actor.ended.remote(turn)


RequestPacer = HostPace | ClusterPace


class _PaceActor(HostPace):
    def __init__(self, backoff: float) -> None:
        super().__init__(backoff)
        self._requested_at = time.monotonic()
        threading.Thread(target=self._end_when_idle, daemon=True).start()

    async def begin(self, host: str, lasts: float) -> RequestSlot | PaceDelay | HostGivenUp:
        self._requested_at = time.monotonic()
        return await super().begin(host, lasts)

    def _end_when_idle(self) -> None:
        import ray

        while (seconds := self._requested_at + IDLE_SECONDS - time.monotonic()) > 0:
            time.sleep(seconds)
        ray.kill(ray.get_runtime_context().current_actor)
