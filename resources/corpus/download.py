"""Resumable download of a large file: after an interruption only the rest is fetched.

Next to the file `name`, there is `name.json` with the HTTP validators of its version (ETag and date).
An unfinished download is in `name.part` and `name.part.json`. `name.lock` is a lock.
"""

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import httpx2
from filelock import FileLock

from methods.ids import canonical_json
from methods.json_text import from_json
from methods.web_address import without_query
from resources.corpus.settings import CorpusError
from resources.files.atomic import write_atomically
from resources.web.host_pauses import retry_after
from resources.web.request_log import hide_queries
from resources.web.ssrf_guard import PrivateAddress, guard

TRIES = 6
"""A download fails after this many requests in a row without new bytes, or this many
changes of the file on the server."""
MAX_WAIT = 60.0
"""Seconds: the longest wait before a request, even if the server asks for more."""
CHUNK = 1 << 20
REPORT_EVERY = 30.0
"""Seconds: the longest time between two reports of progress while bytes arrive."""
LEAST_SPEED = 1_000
"""Bytes a second: a download fails if fewer arrive on average in `SPEED_WINDOW`. A slower request that
breaks off counts as one without new bytes."""
SPEED_WINDOW = 600.0
"""Seconds over which the speed of a response is measured."""
RESERVE = 500_000_000
"""Bytes of the disk that a download leaves free."""

_TRANSIENT = (408, 425, 429, 500, 502, 503, 504)
_NOT_OPEN = (401, 403)

OnProgress = Callable[[int, int | None], None]


class DownloadError(CorpusError):
    """A file cannot be downloaded; the message is one sentence that says what to do."""


def download(
    url: str,
    target: Path,
    *,
    on_progress: OnProgress | None = None,
    warn: Callable[[str], None] | None = None,
    backoff: float = 0.5,
    timeout: float = 60.0,
) -> Path:
    """Download the current version of a file.

    A complete file is kept if the server says that it has not changed. An interrupted download is
    resumed if the server supports ranges. The file appears in one step when it is complete. If several
    processes want the file, one of them downloads it.

    Args:
        url: An http(s) address. Its query is sent, but neither stored nor shown.
        target: The file to write.
        on_progress: Called about every MiB, and at least every `REPORT_EVERY` seconds while bytes
            arrive, with the number of bytes so far and in all, if known.
        warn: Called with a sentence if the server does not say where the file ends.
        backoff: The wait after the first failed request in seconds; doubled after each, up to a minute.
        timeout: The most seconds without a byte from the server.

    Returns:
        `target`.

    Raises:
        DownloadError: The download failed, was slower than `LEAST_SPEED`, or would leave less than
            `RESERVE` free on the disk; a complete earlier file stays.
    """
    hide_queries()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with (
            FileLock(f"{target}.lock"),
            httpx2.Client(
                headers={"User-Agent": "vlm-loom/0.1", "Accept-Encoding": "identity"},
                timeout=timeout,
                follow_redirects=True,
            ) as client,
        ):
            guard(client, url)
            _Download(url, target, client, on_progress, warn).finish(backoff)
    except OSError as error:
        raise DownloadError(
            f"{target} cannot be written ({error.strerror}): make room there, or allow it."
        ) from error
    return target


@dataclass(frozen=True)
class _Content:
    """The validators of a file's version: enough to recognize it and to resume its download."""

    url: str
    etag: str | None
    last_modified: str | None
    total: int | None

    @classmethod
    def read(cls, path: Path, url: str) -> "_Content | None":
        """Read validators from a file; None if they do not belong to a download from this address."""
        try:
            content = cls(**from_json(path.read_bytes()))
        except (OSError, ValueError, TypeError):
            return None
        return content if content.url == url else None

    def write(self, path: Path) -> None:
        write_atomically(path, canonical_json(asdict(self)).encode())

    @property
    def if_range(self) -> str | None:
        """The value of If-Range that resumes only this version; None without a usable validator."""
        # A weak ETag may be the same for different bytes.
        strong = self.etag if self.etag and not self.etag.startswith("W/") else None
        return strong or self.last_modified

    @property
    def unless_this(self) -> dict[str, str]:
        """Headers that request the file only if it is no longer this version."""
        headers = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in headers.items() if value}


class _TransientDownloadError(Exception):
    """A failure that a retry may resolve; `wait` are the seconds of Retry-After, if any."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class _Download:
    """The download of one file; its creator holds the lock."""

    def __init__(
        self,
        url: str,
        target: Path,
        client: httpx2.Client,
        on_progress: OnProgress | None,
        warn: Callable[[str], None] | None,
    ) -> None:
        self._url = url
        self._shown = without_query(url)
        self._target = target
        self._target_facts = target.with_name(f"{target.name}.json")
        self._part = target.with_name(f"{target.name}.part")
        self._part_facts = target.with_name(f"{target.name}.part.json")
        self._client = client
        self._on_progress = on_progress
        self._warn = warn
        self._begun = _Content.read(self._part_facts, self._shown)
        if self._begun is None:
            self._part.unlink(missing_ok=True)
        self._furthest = self._n_bytes
        self._changes = 0

    @property
    def _n_bytes(self) -> int:
        """Number of bytes downloaded so far."""
        return self._part.stat().st_size if self._part.exists() else 0

    def finish(self, backoff: float) -> None:
        """Send requests until the file is complete. Raises DownloadError."""
        failures = 0
        while True:
            started_at = time.monotonic()
            try:
                return self._request()
            except _TransientDownloadError as failure:
                # Only bytes beyond the furthest point count as progress: a server that starts over
                # each time and breaks off would be retried for ever, as one that sends few bytes.
                least = LEAST_SPEED * max(time.monotonic() - started_at, 1.0)
                failures = 1 if self._n_bytes - self._furthest >= least else failures + 1
                self._furthest = max(self._furthest, self._n_bytes)
                if failures == TRIES or self._changes == TRIES:
                    todo = "check the address and the network, or try again later"
                    raise self._error(str(failure), todo, passing=True) from None
                wait = backoff * 2 ** (failures - 1) if failure.wait is None else failure.wait
                time.sleep(min(wait, MAX_WAIT))

    def _request(self) -> None:
        begun, part, n_bytes = self._begun, self._here(), self._n_bytes
        whole = begun is not None and self._part.exists() and n_bytes == begun.total
        if begun and whole:
            # The process died after the last byte: the file is complete if the
            # server's version is unchanged.
            headers = begun.unless_this
        elif begun and n_bytes and begun.if_range:
            headers = {"Range": f"bytes={n_bytes}-", "If-Range": begun.if_range}
        else:
            headers = part.unless_this if part else {}
        unchanged = False
        try:
            with self._client.stream("GET", self._url, headers=headers) as response:
                unchanged = response.status_code == 304 and "Range" not in headers
                if not unchanged:
                    self._receive(response)
        except (httpx2.InvalidURL, UnicodeError):
            # The library's message quotes parts of the address, such as a password.
            reason = "the address, or one that it redirects to, is not valid"
            raise self._error(reason, "check the address") from None
        except (httpx2.UnsupportedProtocol, httpx2.TooManyRedirects) as error:
            raise self._error(str(error), "check the address") from None
        except PrivateAddress as private:
            raise DownloadError(
                f"{self._shown} leads to {private.host}, which is on a private or local network: "
                "give the address that it leads to, if you trust it."
            ) from None
        except httpx2.TransportError as error:
            raise _TransientDownloadError(repr(error)) from None
        if unchanged and not whole:
            self._discard()
        else:
            self._appear()

    def _here(self) -> _Content | None:
        """Read the validators of the target; None unless it is a complete earlier download."""
        content = _Content.read(self._target_facts, self._shown)
        if content and self._target.exists() and self._target.stat().st_size == content.total:
            return content
        return None

    def _receive(self, response: httpx2.Response) -> None:
        """Write or append the response. Raises _TransientDownloadError and DownloadError."""
        status, headers = response.status_code, response.headers
        if status in _TRANSIENT:
            raise _TransientDownloadError(
                f"status {status}", retry_after(headers.get("retry-after"))
            )
        if status == 416 or (status == 206 and not self._goes_on(headers)):
            self._discard()
            raise _TransientDownloadError("the file changed during the download")
        if status in _NOT_OPEN:
            todo = "use an address that is open to everybody or newly signed, or a copy of the file"
            raise self._error(f"status {status}", todo)
        if status not in (200, 206):
            raise self._error(f"status {status}", "check the address")
        if headers.get("content-type", "").startswith("text/html"):
            todo = "check the address, or log in to the network"
            raise self._error("the server sent a web page instead", todo)
        if status == 200:
            self._begin(headers)
        self._write(response)

    def _goes_on(self, headers: httpx2.Headers) -> bool:
        """Tell whether the response is the requested range: some servers send other ranges."""
        begun = self._begun
        first, _, total = headers.get("content-range", "").partition("/")
        return (
            begun is not None
            and first.startswith(f"bytes {self._n_bytes}-")
            and total in ("*", str(begun.total))
            and headers.get("etag", begun.etag) == begun.etag
        )

    def _begin(self, headers: httpx2.Headers) -> None:
        length = headers.get("content-length", "")
        # A file that may be cut short gets no validators: it is not resumed, and not kept as unchanged.
        has_end = _has_end(headers)
        content = _Content(
            self._shown,
            headers.get("etag") if has_end else None,
            headers.get("last-modified") if has_end else None,
            int(length) if length.isdecimal() else None,
        )
        if content == self._begun:
            self._part.unlink(missing_ok=True)
        else:
            self._discard()
            content.write(self._part_facts)
        self._begun = content

    def _discard(self) -> None:
        """Delete the partial file, because the server has another version now."""
        if self._n_bytes:
            self._changes += 1
        self._furthest = 0
        self._begun = None
        # Deleted in this order, so that the validators never describe another version.
        self._part.unlink(missing_ok=True)
        self._part_facts.unlink(missing_ok=True)

    def _write(self, response: httpx2.Response) -> None:
        total = self._begun.total if self._begun else None
        n_bytes = reported = measured = self._n_bytes
        reported_at = measured_at = time.monotonic()
        self._require_room(n_bytes, total)
        try:
            with self._part.open("ab", buffering=CHUNK) as file:
                # Raw bytes, without decoding a Content-Encoding: a .gz file stays compressed.
                for chunk in response.iter_raw():
                    file.write(chunk)
                    n_bytes += len(chunk)
                    time_now = time.monotonic()
                    if n_bytes - reported >= CHUNK or time_now - reported_at >= REPORT_EVERY:
                        reported, reported_at = n_bytes, time_now
                        self._require_room(n_bytes, total)
                        if self._on_progress:
                            self._on_progress(n_bytes, total)
                    if time_now - measured_at >= SPEED_WINDOW:
                        self._require_speed((n_bytes - measured) / (time_now - measured_at))
                        measured, measured_at = n_bytes, time_now
        except OSError as error:
            # An error of writing has no name: without it, users would not find the file to delete.
            error.filename = str(self._part)
            raise
        if self._on_progress:
            self._on_progress(n_bytes, total)
        if total not in (None, n_bytes):
            raise _TransientDownloadError(f"only {n_bytes} of {total} bytes arrived")
        if total is None and not _has_end(response.headers):
            self._accept_end(n_bytes)

    def _accept_end(self, n_bytes: int) -> None:
        """Accept the closed connection as the end of the file, except in the middle of a line."""
        if self._target.suffix == ".tsv" and not _ends_in_line_feed(self._part):
            raise _TransientDownloadError(
                f"the connection was closed after {n_bytes:,} bytes in a line without a line feed, and "
                "the server sends no Content-Length"
            )
        if self._warn:
            self._warn(
                f"{self._shown} was sent without a Content-Length: its {n_bytes:,} bytes may not be "
                "the whole file. Compare them with the original; the next ingest downloads it again."
            )

    def _require_room(self, n_bytes: int, total: int | None) -> None:
        """Raise DownloadError if the rest of the file, if known, does not leave `RESERVE` free."""
        free = shutil.disk_usage(self._part.parent).free
        if free - max((total or 0) - n_bytes, 0) < RESERVE:
            size = f"{n_bytes:,} of {total:,}" if total else f"{n_bytes:,}"
            raise self._error(
                f"{self._part} has {size} bytes, and its disk {free:,} free, of which a download "
                f"leaves {RESERVE:,}",
                "make room there, or check the address and delete that file",
            )

    def _require_speed(self, speed: float) -> None:
        if speed < LEAST_SPEED:
            raise self._error(
                f"{speed:,.1f} bytes a second arrived in the last {SPEED_WINDOW / 60:.0f} minutes, "
                f"fewer than {LEAST_SPEED:,}",
                "check the address and the network, or try again later: the bytes so far are kept",
                passing=True,
            )

    def _appear(self) -> None:
        assert self._begun is not None
        with self._part.open("rb") as file:
            os.fsync(file.fileno())
        content = replace(self._begun, total=self._n_bytes)
        self._target_facts.unlink(missing_ok=True)
        self._part.replace(self._target)
        content.write(self._target_facts)
        self._part_facts.unlink(missing_ok=True)

    def _error(self, reason: str, what_to_do: str, *, passing: bool = False) -> DownloadError:
        message = f"{self._shown} cannot be downloaded ({reason}): {what_to_do}."
        return DownloadError(message, passing=passing)


def _has_end(headers: httpx2.Headers) -> bool:
    """Tell whether a response says where its body ends, so that a broken connection is noticed."""
    return "content-length" in headers or "chunked" in headers.get("transfer-encoding", "").lower()


def _ends_in_line_feed(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(file.tell() - 1, 0))
        return file.read(1) == b"\n"
