"""Fetching images by their URLs: from a mirror folder, a mirror server, or the web.

What belongs here: the mirrors, the number of attempts, and passing what was fetched to the caller
through a bounded buffer. What does not: one request (`request.py`), the order of requests
(`host_queue.py`), the pace of each host (`host_pace.py`), which addresses may be connected to
(`resources/ssrf_guard.py`), and whether the bytes are an image (`methods/ingest/image_check.py`).
"""

import atexit
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar
from urllib.parse import quote, unquote, urlsplit

import anyio
import httpcore
from anyio.from_thread import start_blocking_portal

from methods.errors import UserError
from methods.ingest.image_check import MAX_BYTES, ImageRejected
from methods.web_address import Credentials, credentials, without_secrets
from resources.host_pauses import HostPauses
from resources.images.host_pace import HostPace, Pace, Turn
from resources.images.host_queue import HostQueues, Job
from resources.images.request import (
    Failed,
    ImageRequests,
    Redirected,
    Refused,
    as_httpcore,
    oversized,
    parsed,
)
from resources.ssrf_guard import GuardedBackend

Item = TypeVar("Item")


@dataclass(slots=True, eq=False)
class Slot:
    """Room for one item of up to `n_bytes`."""

    n_bytes: int


class BufferFull(Exception):
    """An item is larger than its slot, and the buffer has no more room for now."""

    def __init__(self, n_bytes: int) -> None:
        super().__init__(n_bytes)
        self.n_bytes = n_bytes


class BoundedBuffer(Generic[Item]):
    """At most `max_items` items of together `max_bytes`, in production, waiting and in use.

    A producer reserves a slot before it begins, and resizes it once it knows its item's size. An item
    larger than `max_bytes` is let in when the buffer is empty. Every method runs in the event loop; a
    thread calls `take` through a portal.
    """

    def __init__(self, max_items: int, max_bytes: int) -> None:
        self._max_items = max_items
        self._max_bytes = max_bytes
        self._slots: set[Slot] = set()
        self._n_bytes = 0
        self._waiting: deque[tuple[Slot, Item]] = deque()
        self._in_use: Slot | None = None
        self._closed = False
        self._changed = anyio.Event()
        self._order = anyio.Lock()

    async def reserve(self, n_bytes: int) -> Slot:
        """A slot for an item of up to `n_bytes`, once there is room: first come, first served."""
        async with self._order:
            while len(self._slots) >= self._max_items or (
                self._slots and self._n_bytes + n_bytes > self._max_bytes
            ):
                await self._changed.wait()
            slot = Slot(n_bytes)
            self._slots.add(slot)
            self._n_bytes += n_bytes
            return slot

    def resize(self, slot: Slot, n_bytes: int) -> None:
        """Give a slot the size of its item. Raises BufferFull if there is no room for it now."""
        more = n_bytes - slot.n_bytes
        if more > 0 and len(self._slots) > 1 and self._n_bytes + more > self._max_bytes:
            raise BufferFull(n_bytes)
        self._n_bytes += more
        slot.n_bytes = n_bytes
        self._notify()

    def release(self, slot: Slot) -> None:
        """Release a slot, because it has no item or its item was used."""
        self._slots.remove(slot)
        self._n_bytes -= slot.n_bytes
        self._notify()

    def put(self, slot: Slot, item: Item) -> None:
        """Put a finished item into its slot."""
        self._waiting.append((slot, item))
        self._notify()

    def close(self) -> None:
        """Declare that no more items will be put."""
        self._closed = True
        self._notify()

    async def take(self) -> Item | None:
        """The next finished item, or None after the last; the slot of the previous one is released."""
        if self._in_use:
            self.release(self._in_use)
            self._in_use = None
        while not self._waiting:
            if self._closed:
                return None
            await self._changed.wait()
        self._in_use, item = self._waiting.popleft()
        return item

    def _notify(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


CONCURRENCY = 8
"""Requests at once, to all hosts together."""
TRIES = 3
REFUSED_TRIES = 6
"""Attempts at an image whose host answers that there are too many requests (status 429)."""
MAX_REDIRECTS = 3
REPORT_SECONDS = 5.0
"""Within which a worker that lives reports a request's outcome to who keeps the pace of hosts."""
MAX_WAITING = 32
MAX_WAITING_BYTES = 100_000_000
"""Of the images being fetched, waiting and in use, together."""
FIRST_ROOM = MAX_WAITING_BYTES // CONCURRENCY
"""Bytes reserved for an image before its length is known."""

Fetched = bytes | ImageRejected
_Results = Generator[tuple[str, Fetched], None, None]
_Buffer = BoundedBuffer[tuple[str, Fetched]]


class ImageSourceError(UserError):
    """Images cannot be fetched as configured; the message says what to do."""


class ImageFetcher:
    """Fetches images, several at a time.

    `mirror` is a folder or an http(s) base URL in which an image has the name that ends its URL's
    path; None fetches from the URL itself. A user, a password and a query in the base URL are sent
    with each request to the mirror. `contact` is a mail address or a web page of the person
    who runs this; without it nothing is requested from Wikimedia. `timeout` is the limit of one
    request, `backoff` the wait after the first failed one (doubled after each), both in seconds.
    `allow_private` lets images be fetched from this machine and its own network. `pauses` are the
    pauses of hosts, shared with other clients of the same hosts. `pace`, if it is given, is the pace of
    hosts, shared with other fetchers; it has `backoff` and `pauses` of its own.
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
        pace: Pace | None = None,
    ) -> None:
        self._base_url: str | None = None
        self._folder: Path | None = None
        self._trusted: tuple[str, int] | None = None
        self._credentials: Credentials | None = None
        self._query = ""
        if mirror is not None and str(mirror).lower().startswith(("http://", "https://")):
            self._base_url, _, query = str(mirror).partition("?")
            self._query = f"?{query}" if query else ""
            self._credentials = credentials(self._base_url)
            self._base_url = without_secrets(self._base_url).rstrip("/")
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
        self._pace = pace

    @property
    def reads_a_folder(self) -> bool:
        """Whether images come from a mirror folder, so that fetching one costs nothing."""
        return self._folder is not None

    def settings(self) -> dict[str, Any]:
        """What makes the same fetcher on another machine, JSON values, without `pauses` and `pace`.

        Raises ImageSourceError for a mirror whose address has a secret.
        """
        if self._credentials is not None or self._query:
            raise ImageSourceError(
                "The image mirror's address has a password or a query, which Ray's dashboard would "
                "show: set runner of ingest.images to local."
            )
        return {
            "mirror": str(self._folder) if self._folder else self._base_url,
            "contact": self._contact,
            "allow_private": self._allow_private,
            "max_bytes": self._max_bytes,
            "timeout": self._timeout,
            "backoff": self._backoff,
        }

    def source(self, url: str) -> str:
        """Where the image of this URL is taken from, without secrets: the mirror's file or address.

        A file is named with its folder alone, so that a corpus that has moved is the same corpus.
        """
        try:
            if self._folder is not None:
                return f"{self._folder.name}/{_file_name(url)}"
            return without_secrets(self._address(url))
        except ImageRejected:
            return without_secrets(url)

    def fetch_each(
        self, urls: Iterable[str], on_progress: Callable[[int, int], None] | None = None
    ) -> _Results:
        """Each distinct URL with its bytes, or why there are none, in the order of arrival.

        A single URL raises no error; the reasons are missing,
        oversized_bytes, http_error, rate_limited, timeout, unreachable, private_address,
        no_contact. `on_progress(done, total)` is called before each, in the calling thread. A
        thread fetches ahead, up to 32 images or 100 MB that the caller has not used. Closing the
        iterator ends the thread and its connections.
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
            buffer = portal.call(_new_buffer)
            running = portal.start_task_soon(self._fetch, jobs, buffer)
            stack.callback(running.cancel)
            # At interpreter exit an iterator that is still open is closed too late to wait for threads.
            atexit.register(stack.close)
            stack.callback(atexit.unregister, stack.close)
            while (result := portal.call(buffer.take)) is not None:
                yield result
            running.result()

    def _address(self, url: str) -> str:
        if self._base_url is None:
            return url
        return f"{self._base_url}/{quote(_file_name(url))}{self._query}"

    async def _fetch(self, jobs: list[Job], buffer: _Buffer) -> None:
        pace = self._pace or HostPace(self._backoff, self._pauses)
        queues = HostQueues(jobs, pace, self._timeout + REPORT_SECONDS)
        pool = httpcore.AsyncConnectionPool(
            max_connections=CONCURRENCY,
            network_backend=GuardedBackend(self._trusted, allow_private=self._allow_private),
        )
        requests = ImageRequests(
            pool,
            contact=self._contact,
            max_bytes=self._max_bytes,
            timeout=self._timeout,
            mirror=self._trusted,
            credentials=self._credentials,
        )
        try:
            async with pool, anyio.create_task_group() as group:
                for _ in range(CONCURRENCY):
                    group.start_soon(self._work, queues, requests, buffer)
        finally:
            buffer.close()

    async def _work(self, queues: HostQueues, requests: ImageRequests, buffer: _Buffer) -> None:
        while job := await queues.next():
            # A worker without a job reserves no slot, since another image may need all of the buffer.
            slot = await buffer.reserve(job.n_bytes or min(self._max_bytes, FIRST_ROOM))
            begun = await queues.begin(job)
            fetched = (
                begun
                if not isinstance(begun, Turn)
                else await self._try(job, begun, queues, requests, partial(buffer.resize, slot))
            )
            if fetched is None:
                buffer.release(slot)
                continue
            queues.done(job)
            buffer.resize(slot, len(fetched) if isinstance(fetched, bytes) else 0)
            buffer.put(slot, (job.url, fetched))

    async def _try(
        self,
        job: Job,
        turn: Turn,
        queues: HostQueues,
        requests: ImageRequests,
        on_length: Callable[[int], None],
    ) -> Fetched | None:
        """Request an image once: its bytes, why there are none, or None if it is in its queue again."""
        try:
            outcome = await requests.ask(job.address, on_length)
        except BufferFull as full:
            # Keeping the connection open until there is room could exceed the server's timeout.
            job.n_bytes = full.n_bytes
            await queues.ended(turn)
            queues.again(job, job.address)
            return None
        match outcome:
            case Redirected():
                await queues.answered(turn, 0)
                job.redirects += 1
                if job.redirects > MAX_REDIRECTS:
                    detail = f"The server redirected over {MAX_REDIRECTS} times."
                    return ImageRejected("http_error", detail)
                queues.again(job, outcome.address)
            case Refused():
                await queues.refused(turn, outcome.wait)
                job.refusals += 1
                if outcome.status == 429 and job.refusals >= REFUSED_TRIES:
                    detail = f"The server answered {REFUSED_TRIES} times with status 429."
                    return ImageRejected("rate_limited", detail)
                if outcome.status != 429 and job.refusals >= TRIES:
                    detail = f"The server answered with status {outcome.status}."
                    return ImageRejected("http_error", detail)
                queues.again(job, job.address, last=True)
            case Failed():
                await queues.ended(turn)
                job.failures += 1
                if job.failures >= TRIES:
                    return outcome.rejected
                await anyio.sleep(self._backoff * 2 ** (job.failures - 1))
                queues.again(job, job.address)
            case _:
                await queues.answered(turn, len(outcome) if isinstance(outcome, bytes) else 0)
                return outcome
        return None


def _new_buffer() -> _Buffer:
    return BoundedBuffer(MAX_WAITING, MAX_WAITING_BYTES)


def _no_mirror(mirror: str | Path) -> ImageSourceError:
    return ImageSourceError(
        f"The image mirror {without_secrets(str(mirror))} is neither a folder nor an http(s) address: "
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
