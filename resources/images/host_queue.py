"""Queues of image requests, one a host, with limits on each host.

What belongs here: which request is next, how many requests a host gets at once, how long a host that
refuses is paused, and when it is given up. What does not: the requests (`request.py`), and failures of
single images (`fetcher.py`).

A host that refuses (status 429 or 503) is paused: for its Retry-After, and for at least a backoff that
doubles with each refusal in a row, up to a minute. A refused image goes to the end of its host's queue,
so that the next ones show whether the host refuses all requests or this image. If a pause would end
more than ten minutes after the host began to refuse every request, the host is given up, and all that
waits in its queue ends as `rate_limited`.
"""

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio

from methods.ingest.image_check import ImageRejected
from resources.host_pauses import HostPauses, host_name
from resources.wikipedia import api_client
from resources.wikipedia.api_client import is_wikimedia

HOST_CONNECTIONS = 3
MAX_BACKOFF = 60.0
"""Seconds: the longest pause that a host did not ask for itself."""
PATIENCE = 600.0
"""Seconds for which a host may refuse every request."""


@dataclass(slots=True)
class Job:
    """An image to fetch: `url` identifies it, `address` is where it is requested now."""

    url: str
    address: str
    redirects: int = 0
    failures: int = 0
    refusals: int = 0
    n_bytes: int = 0  # of the image, once known
    begun: float = 0.0
    pauses: int = 0  # of its host before it was begun


@dataclass(slots=True)
class _Host:
    name: str
    connections: int
    waiting: deque[Job] = field(default_factory=deque)
    active: int = 0
    pauses: int = 0
    refusals: int = 0  # in a row
    refusing_since: float = 0.0
    paced_until: float = 0.0
    given_up: str | None = None


class HostQueues:
    """Jobs in queues by host; used within one event loop.

    A worker takes a job by `next`, begins its request (`begin`), reports the answer (`answered` or
    `refused`), and returns the job to its queue (`again`) or finishes it (`done`). `backoff` is the
    first pause, in seconds, of a host that refuses without Retry-After. `pauses` are the pauses of
    hosts, shared with other clients of the same hosts.
    """

    def __init__(self, jobs: Sequence[Job], backoff: float, pauses: HostPauses) -> None:
        self._backoff = backoff
        self._pauses = pauses
        self._hosts: dict[str, _Host] = {}
        self._waiting_hosts: deque[_Host] = deque()  # hosts with jobs in their queue
        self._unfinished = len(jobs)
        self._changed = anyio.Event()
        for job in jobs:
            self._put(job, last=True)

    async def next(self) -> Job | None:
        """The next job whose host may be asked or is given up; None when all are done."""
        while self._unfinished:
            now = time.monotonic()
            job = self._take(now)
            if job:
                return job
            with anyio.move_on_after(self._first_ready_at() - now):
                await self._changed.wait()
        return None

    def begin(self, job: Job) -> bool:
        """Begin a job; False if its host was paused since the job was taken."""
        host = self._host(job)
        job.begun, job.pauses = time.monotonic(), host.pauses
        return self._ready_at(host) <= job.begun

    def given_up(self, job: Job) -> ImageRejected | None:
        """Why the job's host was given up; None if it was not."""
        detail = self._host(job).given_up
        return ImageRejected("rate_limited", detail) if detail else None

    def answered(self, job: Job, n_bytes: int) -> None:
        """Report an answer of `n_bytes` that was no refusal."""
        host = self._host(job)
        # The answer counts if its request was begun after the last pause, or together with the request
        # that caused it; an older one does not show that the host serves again.
        if job.pauses >= host.pauses - 1:
            host.refusals = host.pauses - job.pauses
            host.refusing_since = time.monotonic()
        if is_wikimedia(host.name):
            seconds = n_bytes / api_client.BYTES_PER_SECOND
            host.paced_until = max(host.paced_until, job.begun) + seconds

    def refused(self, job: Job, asked_to_wait: float | None) -> None:
        """Report a refusal: the host is paused, or given up."""
        host, now = self._host(job), time.monotonic()
        pause = asked_to_wait or 0.0
        if host.refusals == 0:
            host.refusing_since = now
        if job.pauses == host.pauses:
            # Several requests in flight that are refused together count as one refusal.
            pause = max(pause, min(self._backoff * 2**host.refusals, MAX_BACKOFF))
            host.pauses += 1
            host.refusals += 1
        self._pauses.pause(host.name, pause)
        self._give_up_if_paused_for_too_long(host)

    def again(self, job: Job, address: str, *, last: bool = False) -> None:
        """Return a job to a queue, perhaps another host's: to its front, or to its end."""
        self._leave(job)
        job.address = address
        self._put(job, last=last)

    def done(self, job: Job) -> None:
        """Finish a job."""
        self._leave(job)
        self._unfinished -= 1

    def _give_up_if_paused_for_too_long(self, host: _Host) -> None:
        now, until = time.monotonic(), self._pauses.until(host.name)
        since = host.refusing_since if host.refusals else now
        if not host.given_up and until - since > PATIENCE:
            host.given_up = (
                f"The host {host.name} goes on refusing, and may be asked again only in "
                f"{until - now:.0f} seconds: run this again after that."
            )

    def _ready_at(self, host: _Host) -> float:
        return max(self._pauses.until(host.name), host.paced_until)

    def _host(self, job: Job) -> _Host:
        name = host_name(job.address)
        if name not in self._hosts:
            allowed = api_client.CONNECTIONS if is_wikimedia(name) else HOST_CONNECTIONS
            self._hosts[name] = _Host(name, allowed)
        return self._hosts[name]

    def _put(self, job: Job, *, last: bool) -> None:
        host = self._host(job)
        if not host.waiting:
            self._waiting_hosts.append(host)
        (host.waiting.append if last else host.waiting.appendleft)(job)

    def _take(self, now: float) -> Job | None:
        for _ in range(len(self._waiting_hosts)):
            host = self._waiting_hosts.popleft()
            self._give_up_if_paused_for_too_long(host)
            free = host.active < host.connections and self._ready_at(host) <= now
            job = host.waiting.popleft() if free or host.given_up else None
            if host.waiting:
                self._waiting_hosts.append(host)
            if job:
                host.active += 1
                return job
        return None

    def _first_ready_at(self) -> float:
        free = (host for host in self._waiting_hosts if host.active < host.connections)
        return min(map(self._ready_at, free), default=float("inf"))

    def _leave(self, job: Job) -> None:
        self._host(job).active -= 1
        self._changed.set()
        self._changed = anyio.Event()
