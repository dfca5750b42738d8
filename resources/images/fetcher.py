"""Fetching images by their URLs: from a mirror folder, a mirror server, or the web.

Other modules have the buffer (`bounded_buffer.py`), one request (`request.py`), the order of requests
(`host_queue.py`), the pace of each host (`host_pace.py`), and the addresses that are allowed
(`resources/web/ssrf_guard.py`).
"""

import atexit
import copy
from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import httpcore2
from anyio.from_thread import start_blocking_portal

from methods.errors import UserError
from methods.ingest.image_check import MAX_BYTES, ImageRejected
from methods.ingest.mirror_names import SHARED_NAME, file_name, path_in_mirror
from methods.web_address import Credentials, credentials, without_query, without_secrets
from resources.files.bounded import BoundedReadError, read_inside
from resources.images.bounded_buffer import BoundedBuffer, BufferFull
from resources.images.host_pace import HostPace, RequestPacer, RequestSlot
from resources.images.host_queue import HostQueues, Job
from resources.images.request import (
    HostRefusal,
    ImageRequests,
    Redirect,
    RequestFailure,
    as_httpcore,
    parse_address,
    rejection,
)
from resources.web.host_pauses import HostPauses
from resources.web.ssrf_guard import GuardedBackend

CONCURRENCY = 8
"""The most concurrent requests to all hosts together."""
TRIES = 3
REFUSED_TRIES = 6
"""Attempts at an image whose host answers that there are too many requests (status 429)."""
MAX_REDIRECTS = 3
REPORT_SECONDS = 5.0
"""Seconds, in addition to the timeout, after which a request without a reported outcome frees its slot
at the host: its worker has probably died."""
MAX_WAITING = 32
MAX_WAITING_BYTES = 100_000_000
"""The most bytes of all images that are being fetched, waiting or in use."""
FIRST_ROOM = MAX_WAITING_BYTES // CONCURRENCY
"""Bytes reserved for an image before its length is known."""

Fetched = bytes | ImageRejected
_Results = Generator[tuple[str, Fetched], None, None]
_Buffer = BoundedBuffer[tuple[str, Fetched]]


class ImageSourceError(UserError):
    """Images cannot be fetched as configured; the message says what to do."""


class ImageFetcher:
    """Fetches images concurrently.

    Args:
        mirror: A folder or an http(s) base URL; None fetches from the image's URL. In a folder an image
            is found by the host and path of its URL, or by the last part of the path; on a server by
            the last part. Credentials and a query in the base URL are sent with each request.
        shared_names: Last parts that several URLs have in common; these images are only found by host
            and path.
        contact: A mail address or web page of the operator. Without it nothing is requested from
            Wikimedia.
        timeout: The limit of a request in seconds.
        backoff: The wait after the first failed request in seconds; it doubles with each further one.
        allow_private: Whether images may be fetched from this machine and private networks.
        pauses: The pauses of hosts, shared with other clients.
        pace: The pace of hosts, shared with other fetchers; it has its own `backoff` and `pauses`.

    Raises:
        ImageSourceError: The mirror is neither an existing folder nor an http(s) address, or the
            contact cannot be sent.
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
        pace: RequestPacer | None = None,
        shared_names: Iterable[str] = (),
    ) -> None:
        self._shared_names = frozenset(shared_names)
        self._base_url: str | None = None
        self._folder: Path | None = None
        self._trusted: tuple[str, int] | None = None
        self._credentials: Credentials | None = None
        self._query = ""
        if mirror is not None and str(mirror).lower().startswith(("http://", "https://")):
            self._base_url, _, query = str(mirror).partition("?")
            self._query = f"?{query}" if query else ""
            self._trusted = _origin(str(mirror))
            self._credentials = credentials(self._base_url)
            self._base_url = without_secrets(self._base_url).rstrip("/")
        elif mirror is not None:
            self._folder = Path(mirror)
            if not self._folder.is_dir():
                raise ImageSourceError(
                    f"The image mirror {without_query(str(mirror))} is neither a folder nor an "
                    "http(s) address: make the folder, or configure another mirror or none."
                )
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
    def has_mirror(self) -> bool:
        """Whether images come from a mirror, which may name them by only a part of their URL."""
        return self._folder is not None or self._base_url is not None

    def with_shared_names(self, names: Iterable[str]) -> "ImageFetcher":
        """Copy the fetcher for a corpus in which each of these file names belongs to several URLs."""
        fetcher = copy.copy(self)
        fetcher._shared_names = frozenset(names)
        return fetcher

    @property
    def reads_a_folder(self) -> bool:
        """Whether images come from a mirror folder, without network requests."""
        return self._folder is not None

    def settings(self) -> dict[str, Any]:
        """Return the arguments that create the same fetcher on another machine, as JSON values.

        Raises ImageSourceError for a mirror whose address contains a secret.
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
            "shared_names": sorted(self._shared_names),
        }

    def source(self, url: str) -> str:
        """Return the source of a URL's image: the mirror's file, or the address without secrets.

        The query of a mirror's address counts as a secret. The path of a file begins with the name of
        the mirror folder, so that it stays the same if the corpus is moved.
        """
        try:
            if self._folder is not None:
                return f"{self._folder.name}/{self._in_folder(self._folder, url)}"
            address = self._address(url)
            return without_query(address) if self._base_url else without_secrets(address)
        except ImageRejected:
            return without_secrets(url)

    def fetch_each(self, urls: Iterable[str]) -> _Results:
        """Fetch distinct URLs in the order of arrival; yields each with its bytes or a reason.

        A thread fetches ahead, up to 32 images or 100 MB. Closing the iterator ends the thread and its
        connections. A failed URL raises no error; its reason is missing, oversized_bytes, http_error,
        rate_limited, timeout, unreachable, private_address, no_contact or shared_name.

        """
        distinct = list(dict.fromkeys(urls))
        if self._folder is not None:
            return self._each_from_folder(self._folder, distinct)
        return self._each_from_web(distinct)

    def _each_from_folder(self, folder: Path, urls: list[str]) -> _Results:
        for url in urls:
            try:
                yield url, self._from_folder(folder, url)
            except ImageRejected as rejected:
                yield url, rejected

    def _from_folder(self, folder: Path, url: str) -> bytes:
        path = folder / self._in_folder(folder, url)
        try:
            return read_inside(folder, path, self._max_bytes)
        except BoundedReadError as not_read:
            if not_read.reason != "missing":
                raise rejection(not_read) from None
            detail = f"The mirror has no readable file {path.name[:80]!r} ({not_read.detail})."
            raise ImageRejected("missing", detail) from None

    def _in_folder(self, folder: Path, url: str) -> str:
        """Find the file with the image of a URL, relative to the mirror's folder."""
        path = path_in_mirror(url)
        if path and _is_file(folder / path):
            return path
        name = _named(url)
        if name in self._shared_names:
            raise _shared(name, path)
        return name

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
                yield self._explained(*result)
            running.result()

    def _explained(self, url: str, fetched: Fetched) -> tuple[str, Fetched]:
        """Return the result. If the mirror has no file at the URL's path, the reason says why its file
        name alone was not tried.
        """
        missing = isinstance(fetched, ImageRejected) and fetched.reason == "missing"
        if missing and self._base_url and (name := file_name(url)) in self._shared_names:
            return url, _shared(str(name), path_in_mirror(url))
        return url, fetched

    def _address(self, url: str) -> str:
        if self._base_url is None:
            return url
        name = _named(url)
        if name in self._shared_names:
            path = path_in_mirror(url)
            if path is None:
                raise _shared(name, path)
            name = path
        return f"{self._base_url}/{quote(name)}{self._query}"

    async def _fetch(self, jobs: list[Job], buffer: _Buffer) -> None:
        pace = self._pace or HostPace(self._backoff, self._pauses)
        queues = HostQueues(jobs, pace, self._timeout + REPORT_SECONDS)
        pool = httpcore2.AsyncConnectionPool(
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
                if not isinstance(begun, RequestSlot)
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
        turn: RequestSlot,
        queues: HostQueues,
        requests: ImageRequests,
        on_length: Callable[[int], None],
    ) -> Fetched | None:
        """Request an image. Returns its bytes, a rejection, or None if it is queued again."""
        try:
            outcome = await requests.ask(job.address, on_length)
        except BufferFull as full:
            # Keeping the connection open until there is room could exceed the server's timeout.
            job.n_bytes = full.n_bytes
            await queues.pace.ended(turn)
            queues.again(job, job.address)
            return None
        match outcome:
            case Redirect():
                await queues.pace.answered(turn, 0)
                job.redirects += 1
                if job.redirects > MAX_REDIRECTS:
                    detail = f"The server redirected over {MAX_REDIRECTS} times."
                    return ImageRejected("http_error", detail)
                queues.again(job, outcome.address)
            case HostRefusal():
                await queues.pace.refused(turn, outcome.wait)
                job.refusals += 1
                if outcome.status == 429 and job.refusals >= REFUSED_TRIES:
                    detail = f"The server answered {REFUSED_TRIES} times with status 429."
                    return ImageRejected("rate_limited", detail)
                if outcome.status != 429 and job.refusals >= TRIES:
                    detail = f"The server answered with status {outcome.status}."
                    return ImageRejected("http_error", detail)
                queues.again(job, job.address, last=True)
            case RequestFailure():
                await queues.pace.ended(turn)
                job.failures += 1
                if job.failures >= TRIES:
                    return outcome.rejected
                await anyio.sleep(self._backoff * 2 ** (job.failures - 1))
                queues.again(job, job.address)
            case _:
                await queues.pace.answered(turn, len(outcome) if isinstance(outcome, bytes) else 0)
                return outcome
        return None


def _new_buffer() -> _Buffer:
    return BoundedBuffer(MAX_WAITING, MAX_WAITING_BYTES)


def _origin(base_url: str) -> tuple[str, int]:
    """Return the host and the port of a mirror server."""
    try:
        origin = as_httpcore(parse_address(base_url)).origin
    except ImageRejected:
        raise ImageSourceError(
            f"The image mirror {without_query(base_url)} is not a valid http(s) address: correct "
            "its host or its port, a number from 1 to 65535."
        ) from None
    return origin.host.decode(), origin.port


def _named(url: str) -> str:
    """Return the file name at the end of the URL. Raises ImageRejected if the URL has no file name."""
    name = file_name(url)
    if name is None:
        raise ImageRejected("missing", "The address ends in no file name.")
    return name


def _shared(name: str, path: str | None) -> ImageRejected:
    """Make the rejection of a URL whose file name belongs to several URLs, so that the mirror's file of
    that name may be another image.
    """
    where = f" Put the file of this address at {path[:300]!r} in the mirror." if path else ""
    return ImageRejected(
        SHARED_NAME,
        f"Several addresses end in {name[:80]!r}, so a file of that name may be another's image."
        f"{where}",
    )


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        # A name may be longer than the file system allows.
        return False
