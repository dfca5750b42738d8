"""Queues of image requests, one for each host.

A refused image goes to the end of its host's queue, so that the next images show whether
the host refuses all requests or only this one. If the host is given up, all images in its
queue fail as `rate_limited`.
"""

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio

from methods.ingest.image_check import ImageRejected
from resources.images.host_pace import (
    HostGivenUp,
    PaceDelay,
    RequestPacer,
    RequestSlot,
    connections,
)
from resources.web.host_pauses import host_name


@dataclass(slots=True)
class Job:
    """An image to fetch: `url` identifies it, `address` is where it is requested now."""

    url: str
    address: str
    redirects: int = 0
    failures: int = 0
    refusals: int = 0
    n_bytes: int = 0  # size of the image, once known


@dataclass(slots=True)
class _HostQueue:
    name: str
    connections: int
    waiting: deque[Job] = field(default_factory=deque)
    active: int = 0
    ready_at: float = 0.0  # the earliest time of the next request


class HostQueues:
    """Queues of jobs by host, used within one event loop.

    A worker takes a job by `next` and begins its request (`begin`). It reports the outcome to `pace`,
    and returns the job to its queue (`again`) or finishes it (`done`). A slot expires after `lasts`
    seconds without a report.
    """

    def __init__(self, jobs: Sequence[Job], pace: RequestPacer, lasts: float) -> None:
        self.pace = pace
        self._lasts = lasts
        self._hosts: dict[str, _HostQueue] = {}
        self._waiting_hosts: deque[_HostQueue] = deque()  # hosts with jobs in their queue
        self._unfinished = len(jobs)
        self._changed = anyio.Event()
        for job in jobs:
            self._put(job, last=True)

    async def next(self) -> Job | None:
        """Wait for the next job whose host is probably free; None when all jobs are done."""
        while self._unfinished:
            current_time = time.monotonic()
            job = self._take(current_time)
            if job:
                return job
            with anyio.move_on_after(self._first_ready_at() - current_time):
                await self._changed.wait()
        return None

    async def begin(self, job: Job) -> RequestSlot | ImageRejected | None:
        """Begin a job. Returns its slot, a rejection, or None if the job is queued again."""
        host = self._host(job)
        match await self.pace.begin(host.name, self._lasts):
            case HostGivenUp(detail):
                return ImageRejected("rate_limited", detail)
            case PaceDelay(seconds):
                self.again(job, job.address)
                host.ready_at = time.monotonic() + seconds
                return None
            case turn:
                return turn

    def again(self, job: Job, address: str, *, last: bool = False) -> None:
        """Return a job to a queue, possibly of another host.

        Args:
            job: The job.
            address: The address to request.
            last: Whether it goes to the end of the queue instead of the front.
        """
        self._leave(job)
        job.address = address
        self._put(job, last=last)

    def done(self, job: Job) -> None:
        """Finish a job."""
        self._leave(job)
        self._unfinished -= 1

    def _host(self, job: Job) -> _HostQueue:
        name = host_name(job.address)
        if name not in self._hosts:
            self._hosts[name] = _HostQueue(name, connections(name))
        return self._hosts[name]

    def _put(self, job: Job, *, last: bool) -> None:
        host = self._host(job)
        if not host.waiting:
            self._waiting_hosts.append(host)
        (host.waiting.append if last else host.waiting.appendleft)(job)

    def _take(self, current_time: float) -> Job | None:
        for _ in range(len(self._waiting_hosts)):
            host = self._waiting_hosts.popleft()
            free = host.active < host.connections and host.ready_at <= current_time
            job = host.waiting.popleft() if free else None
            if host.waiting:
                self._waiting_hosts.append(host)
            if job:
                host.active += 1
                return job
        return None

    def _first_ready_at(self) -> float:
        free = (host for host in self._waiting_hosts if host.active < host.connections)
        return min((host.ready_at for host in free), default=float("inf"))

    def _leave(self, job: Job) -> None:
        host = self._host(job)
        host.active -= 1
        # The pace is asked again at once: its slot is free, or the host may be given up now.
        host.ready_at = 0.0
        self._changed.set()
        self._changed = anyio.Event()
