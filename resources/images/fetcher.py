"""Getting images' bytes from their URLs: from a mirror folder, a mirror server, or the web.

What belongs here: the mirrors, how often an image is tried, and how what is fetched reaches who
wants it. What does not: one request (`request.py`), whose turn it is (`host_queue.py`),
whom to connect to (`ssrf_guard.py`), and whether the bytes are an image
(`methods/ingest/image_check.py`).
"""

import atexit
from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import anyio
import httpcore
from anyio.from_thread import start_blocking_portal

from methods.errors import UserError
from methods.ingest.image_check import MAX_BYTES, ImageRejected
from resources.host_pauses import HostPauses
from resources.images.buffer import Handover, NoRoom
from resources.images.host_queue import Job, Schedule
from resources.images.request import (
    Failed,
    ImageRequests,
    Redirected,
    Refused,
    as_httpcore,
    oversized,
    parsed,
)
from resources.images.ssrf_guard import GuardedBackend

CONCURRENCY = 8
"""Requests at once, to all hosts together."""
TRIES = 3
REFUSED_TRIES = 6
"""Tries of an image to which the answer is that there were too many requests (status 429)."""
MAX_REDIRECTS = 3
MAX_WAITING = 32
MAX_WAITING_BYTES = 100_000_000
"""Of the images that are being fetched, wait and are in use, together."""
FIRST_ROOM = MAX_WAITING_BYTES // CONCURRENCY
"""Bytes set aside for an image before its length is known."""

Fetched = bytes | ImageRejected
_Results = Generator[tuple[str, Fetched], None, None]
_Handover = Handover[tuple[str, Fetched]]


class ImageSourceError(UserError):
    """Images cannot be fetched as configured; the message says what to do."""


class ImageFetcher:
    """Fetches images, several at a time.

    `mirror` is a folder or an http(s) base URL in which an image has the name that ends its URL's
    path; None fetches from the URL itself. `contact` is a mail address or a web page of who fetches,
    without which Wikimedia is not asked. `timeout` is what one request may take from first to last
    byte, `backoff` the wait after the first failed one (doubled after each), both in seconds.
    `allow_private` lets images be fetched from this machine and its own network. `pauses` has the
    hosts that are paused, which others that ask the same hosts may share.
    Raises ImageSourceError if the mirror is neither a folder that exists nor an http(s) address, or
    the contact cannot be sent.
    """

    def __init__(
        self,
        mirror: str | Path | None = None,
        *,
        contact: str | None = None,
        allow_private: bool = False,
        max_bytes: int = MAX_BYTES,
        timeout: float = 30.0,
        backoff: float = 0.5,
        pauses: HostPauses | None = None,
    ) -> None:
        self._base_url: str | None = None
        self._folder: Path | None = None
        self._trusted: tuple[str, int] | None = None
        if mirror is not None and str(mirror).lower().startswith(("http://", "https://")):
            self._base_url = str(mirror).rstrip("/")
            self._trusted = _origin(self._base_url)
        elif mirror is not None:
            self._folder = Path(mirror)
            if not self._folder.is_dir():
                raise _no_mirror(mirror)
        self._contact = (contact or "").strip()
        if not self._contact.isprintable():
            raise ImageSourceError(
                f"The contact {contact!r} cannot be sent: "
                "set wikipedia.contact in corpus.yaml to one line of text."
            )
        self._allow_private = allow_private
        self._max_bytes = max_bytes
        self._timeout = timeout
        self._backoff = backoff
        self._pauses = HostPauses() if pauses is None else pauses

    @property
    def reads_a_folder(self) -> bool:
        """Whether images come from a mirror folder, so that fetching one costs nothing."""
        return self._folder is not None

    def fetch_each(
        self, urls: Iterable[str], on_progress: Callable[[int, int], None] | None = None
    ) -> _Results:
        """Each distinct URL with its bytes, or why there are none, as soon as they are there.

        The order is that of arrival. Never raises for a single URL; the reasons are missing,
        oversized_bytes, http_error, rate_limited, timeout, unreachable, private_address,
        no_contact. `on_progress(done, total)` is called before each, in the calling thread. The
        fetching goes on in a thread of its own until 32 images, or 100 MB of them, are on the way
        to or with the caller, and waits for the caller then. Closing the iterator ends the thread
        and its connections.
        """
        distinct = list(dict.fromkeys(urls))
        fetched = self._each_from_web(distinct)
        if self._folder is not None:
            fetched = self._each_from_folder(self._folder, distinct)
        with closing(fetched):
            for done, result in enumerate(fetched, 1):
                if on_progress:
                    on_progress(done, len(distinct))
                yield result

    def _each_from_folder(self, folder: Path, urls: list[str]) -> _Results:
        for url in urls:
            try:
                yield url, self._from_folder(folder, url)
            except ImageRejected as rejected:
                yield url, rejected

    def _from_folder(self, folder: Path, url: str) -> bytes:
        path = folder / _file_name(url)
        try:
            n_bytes = path.stat().st_size
            if n_bytes > self._max_bytes:
                raise oversized(n_bytes, self._max_bytes)
            return path.read_bytes()
        except OSError as error:
            detail = f"The mirror has no readable file {path.name[:80]!r} ({error.strerror})."
            raise ImageRejected("missing", detail) from None

    def _each_from_web(self, urls: list[str]) -> _Results:
        jobs = []
        for url in urls:
            try:
                jobs.append(Job(url, self._address(url)))
            except ImageRejected as rejected:
                yield url, rejected
        with ExitStack() as stack:
            portal = stack.enter_context(start_blocking_portal(name="image-fetcher"))
            handover = portal.call(_new_handover)
            running = portal.start_task_soon(self._fetch, jobs, handover)
            stack.callback(running.cancel)
            # An iterator that nobody closes is closed by Python's end, too late to wait for threads.
            atexit.register(stack.close)
            stack.callback(atexit.unregister, stack.close)
            while (result := portal.call(handover.take)) is not None:
                yield result
            running.result()

    def _address(self, url: str) -> str:
        return url if self._base_url is None else self._base_url + "/" + quote(_file_name(url))

    async def _fetch(self, jobs: list[Job], handover: _Handover) -> None:
        schedule = Schedule(jobs, self._backoff, self._pauses)
        pool = httpcore.AsyncConnectionPool(
            max_connections=CONCURRENCY,
            network_backend=GuardedBackend(self._trusted, allow_private=self._allow_private),
        )
        requests = ImageRequests(
            pool, contact=self._contact, max_bytes=self._max_bytes, timeout=self._timeout
        )
        try:
            async with pool, anyio.create_task_group() as group:
                for _ in range(CONCURRENCY):
                    group.start_soon(self._work, schedule, requests, handover)
        finally:
            handover.close()

    async def _work(self, schedule: Schedule, requests: ImageRequests, handover: _Handover) -> None:
        while job := await schedule.next():
            # Room is not kept by who has nothing to do: somebody's image may need all there is.
            place = await handover.reserve(job.n_bytes or min(self._max_bytes, FIRST_ROOM))
            fetched: Fetched | None = schedule.given_up(job)
            if fetched is None:
                fetched = await self._try(job, schedule, requests, partial(handover.resize, place))
            if fetched is None:
                handover.give_back(place)
                continue
            schedule.done(job)
            handover.resize(place, len(fetched) if isinstance(fetched, bytes) else 0)
            handover.put(place, (job.url, fetched))

    async def _try(
        self,
        job: Job,
        schedule: Schedule,
        requests: ImageRequests,
        on_length: Callable[[int], None],
    ) -> Fetched | None:
        """One request for an image: how it ends, or None where the image is in line again."""
        if not schedule.begin(job):
            schedule.again(job, job.address)
            return None
        try:
            outcome = await requests.ask(job.address, on_length)
        except NoRoom as no_room:
            # Holding on to the connection until there is room would let the server's patience run out.
            job.n_bytes = no_room.n_bytes
            schedule.again(job, job.address)
            return None
        match outcome:
            case Redirected():
                schedule.answered(job, 0)
                job.redirects += 1
                if job.redirects > MAX_REDIRECTS:
                    detail = f"The server redirected over {MAX_REDIRECTS} times."
                    return ImageRejected("http_error", detail)
                schedule.again(job, outcome.address)
            case Refused():
                schedule.refused(job, outcome.wait)
                job.refusals += 1
                if outcome.status == 429 and job.refusals >= REFUSED_TRIES:
                    detail = f"The server answered {REFUSED_TRIES} times with status 429."
                    return ImageRejected("rate_limited", detail)
                if outcome.status != 429 and job.refusals >= TRIES:
                    detail = f"The server answered with status {outcome.status}."
                    return ImageRejected("http_error", detail)
                schedule.again(job, job.address, last=True)
            case Failed():
                job.failures += 1
                if job.failures >= TRIES:
                    return outcome.rejected
                await anyio.sleep(self._backoff * 2 ** (job.failures - 1))
                schedule.again(job, job.address)
            case _:
                schedule.answered(job, len(outcome) if isinstance(outcome, bytes) else 0)
                return outcome
        return None


def _new_handover() -> _Handover:
    return Handover(MAX_WAITING, MAX_WAITING_BYTES)


def _no_mirror(mirror: str | Path) -> ImageSourceError:
    return ImageSourceError(
        f"The image mirror {mirror} is neither a folder nor an http(s) address: "
        "make the folder, or configure another mirror or none."
    )


def _origin(base_url: str) -> tuple[str, int]:
    """Host and port of a mirror server, as connections are asked for."""
    try:
        origin = as_httpcore(parsed(base_url)).origin
    except ImageRejected:
        raise _no_mirror(base_url) from None
    return origin.host.decode(), origin.port


def _file_name(url: str) -> str:
    """The name that ends the URL's path, percent-decoded; it names a file in the mirror only."""
    try:
        name = unquote(urlsplit(url).path.rpartition("/")[2], errors="strict")
    except ValueError:
        name = ""
    if name in ("", ".", "..") or any(c in "/\\\0" for c in name):
        raise ImageRejected("missing", "The address ends in no file name.")
    return name
