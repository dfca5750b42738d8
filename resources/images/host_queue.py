"""Whose turn it is: which address is asked next, so that no host is asked more than it bears.

What belongs here: the lines of addresses that wait, one a host; how many requests a host gets at
once; the pauses it is left in when it refuses; when it is given up. What does not: the requests
(`request.py`), and what an image's own failures mean (`fetcher.py`).

The rule for a host that refuses (status 429 or 503): nobody asks it before its Retry-After is over,
nor before a wait that doubles with each refusal in a row, up to a minute. A refused image goes to
the end of the line, so that others show whether it is the host that refuses or the image. If a
pause would end more than ten minutes after the host began to do nothing but refuse, the host is
given up, and all that still waits for it ends as `rate_limited` at once.
"""

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio

from methods.ingest.image_check import ImageRejected
from resources.host_pauses import HostPauses, host_name
from resources.wikipedia import policy as wikimedia_policy
from resources.wikipedia.policy import is_wikimedia

HOST_CONNECTIONS = 3
MAX_BACKOFF = 60.0
"""Seconds: the longest pause that a host did not ask for itself."""
PATIENCE = 600.0
"""Seconds a host may go on refusing."""


@dataclass(slots=True)
class Job:
    """An image to fetch: `url` is its name, `address` where it is asked for now."""

    url: str
    address: str
    redirects: int = 0
    failures: int = 0
    refusals: int = 0
    n_bytes: int = 0  # how much room it is known to need
    begun: float = 0.0
    pauses: int = 0  # that its host had had when it was begun


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


class Schedule:
    """Jobs in line by host; used within one event loop.

    Who gets a job from `next` begins its request (`begin`), says what became of it (`answered` or
    `refused`), and hands the job back (`again`) or off (`done`). `backoff` is the first wait, in
    seconds, for a host that refuses without saying for how long. `pauses` has the pauses of hosts,
    also those that others were asked for.
    """

    def __init__(self, jobs: Sequence[Job], backoff: float, pauses: HostPauses) -> None:
        self._backoff = backoff
        self._pauses = pauses
        self._hosts: dict[str, _Host] = {}
        self._lines: deque[_Host] = deque()  # the hosts that something waits for
        self._unfinished = len(jobs)
        self._changed = anyio.Event()
        for job in jobs:
            self._put(job, last=True)

    async def next(self) -> Job | None:
        """The next job whose host may be asked, or which is given up; None when all are done."""
        while self._unfinished:
            now = time.monotonic()
            job = self._take(now)
            if job:
                return job
            with anyio.move_on_after(self._first_ready_at() - now):
                await self._changed.wait()
        return None

    def begin(self, job: Job) -> bool:
        """Whether the job's host may be asked: some time may have gone by since it was its turn."""
        host = self._host(job)
        job.begun, job.pauses = time.monotonic(), host.pauses
        return self._ready_at(host) <= job.begun

    def given_up(self, job: Job) -> ImageRejected | None:
        """Why the job's host is not asked any more, if it is not."""
        detail = self._host(job).given_up
        return ImageRejected("rate_limited", detail) if detail else None

    def answered(self, job: Job, n_bytes: int) -> None:
        """The host gave an answer that was no refusal, of that many bytes."""
        host = self._host(job)
        # What was begun after the last pause, or together with what led to it, shows that the host
        # serves; an answer to something older says nothing of today.
        if job.pauses >= host.pauses - 1:
            host.refusals = host.pauses - job.pauses
            host.refusing_since = time.monotonic()
        if is_wikimedia(host.name):
            seconds = n_bytes / wikimedia_policy.BYTES_PER_SECOND
            host.paced_until = max(host.paced_until, job.begun) + seconds

    def refused(self, job: Job, asked_to_wait: float | None) -> None:
        """The host wants nothing for now: pause it, or give it up."""
        host, now = self._host(job), time.monotonic()
        pause = asked_to_wait or 0.0
        if host.refusals == 0:
            host.refusing_since = now
        if job.pauses == host.pauses:
            # Several requests that are under way and refused together are one refusal.
            pause = max(pause, min(self._backoff * 2**host.refusals, MAX_BACKOFF))
            host.pauses += 1
            host.refusals += 1
        self._pauses.pause(host.name, pause)
        self._give_up_if_paused_for_too_long(host)

    def again(self, job: Job, address: str, *, last: bool = False) -> None:
        """Back in line, perhaps another host's: at its front, or as the last one."""
        self._leave(job)
        job.address = address
        self._put(job, last=last)

    def done(self, job: Job) -> None:
        """Nothing more is asked for the job."""
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
            allowed = wikimedia_policy.CONNECTIONS if is_wikimedia(name) else HOST_CONNECTIONS
            self._hosts[name] = _Host(name, allowed)
        return self._hosts[name]

    def _put(self, job: Job, *, last: bool) -> None:
        host = self._host(job)
        if not host.waiting:
            self._lines.append(host)
        (host.waiting.append if last else host.waiting.appendleft)(job)

    def _take(self, now: float) -> Job | None:
        for _ in range(len(self._lines)):
            host = self._lines.popleft()
            self._give_up_if_paused_for_too_long(host)
            free = host.active < host.connections and self._ready_at(host) <= now
            job = host.waiting.popleft() if free or host.given_up else None
            if host.waiting:
                self._lines.append(host)
            if job:
                host.active += 1
                return job
        return None

    def _first_ready_at(self) -> float:
        free = (host for host in self._lines if host.active < host.connections)
        return min(map(self._ready_at, free), default=float("inf"))

    def _leave(self, job: Job) -> None:
        self._host(job).active -= 1
        self._changed.set()
        self._changed = anyio.Event()
