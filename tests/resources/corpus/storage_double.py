"""The storage that WIT's shards are downloaded from, on a loopback port, with the faults storages have.

with serving(StorageDouble()) as storage:
    shard = storage.put("shard.tsv.gz", data)
    shard.drops = [1_000_000]           # the first answer breaks off after so many bytes
    download(shard.url, target)
    assert storage.log[1].range == "bytes=1000000-"
"""

import hashlib
import time
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import ThreadingHTTPServer
from types import SimpleNamespace

from tests.doubles.serving import QuietHandler

PIECE = 1 << 16
SEEN = (
    *("range", "if_range", "if_none_match", "if_modified_since", "accept_encoding"),
    "authorization",
)
"""The headers that matter: attributes of each request in the log, next to `path`, the answer's `status`
and `n_bytes`, how many bytes of it went out."""
Served = SimpleNamespace


@dataclass
class Stored:
    """A file and how it is served; a test changes it as it goes along.

    `statuses` and `drops` are used up one a request: what it is answered with instead, and after how
    many bytes its connection is closed. `length` is what is announced, "" for chunks without any;
    `until_close` for neither, so that only the closed connection ends the body.
    `location` is where a redirect leads, by default the name without "-moved".
    `pause` is how many seconds each piece of 64 KiB takes, `stall` where an answer stops until the
    test goes on, if not 0.
    """

    url: str
    data: bytes
    etag: str | None
    last_modified: str | None = formatdate(1_600_000_000, usegmt=True)
    ranges: bool = True
    honours_if_range: bool = True
    mime: str = "application/gzip"
    encoding: str | None = None
    length: str | None = None
    until_close: bool = False
    pause: float = 0.0
    stall: int = 0
    location: str | None = None
    statuses: list[int] = field(default_factory=list)
    drops: list[int] = field(default_factory=list)

    def replace(self, data: bytes) -> None:
        self.data = data
        self.etag = etag_of(data)
        self.last_modified = formatdate(1_700_000_000, usegmt=True)


def etag_of(data: bytes) -> str:
    """A strong ETag, as such storages make them."""
    return f'"{hashlib.md5(data).hexdigest()}"'


class Exchange(QuietHandler):
    server: "StorageDouble"

    def do_GET(self) -> None:
        sent = {name: self.headers.get(name.replace("_", "-")) for name in SEEN}
        served = Served(path=self.path, status=0, n_bytes=0, **sent)
        self.server.log.append(served)
        stored = self.server.files.get(self.path)
        served.status = self._status(stored, served)
        if served.status in (200, 206) and stored:
            self._send(stored, served)
        else:
            self._refuse(served.status, stored)

    def _status(self, stored: Stored | None, served: Served) -> int:
        if stored is None:
            return 404
        if stored.statuses:
            return stored.statuses.pop(0)
        if served.if_none_match or served.if_modified_since:
            same = served.if_none_match == stored.etag
            if not served.if_none_match:
                same = served.if_modified_since == stored.last_modified
            return 304 if same else 200
        if not (served.range and stored.ranges):
            return 200
        if stored.honours_if_range and served.if_range not in (stored.etag, stored.last_modified):
            return 200
        return 206 if self._first(served) < len(stored.data) else 416

    def _first(self, served: Served) -> int:
        return int((served.range or "bytes=0-").removeprefix("bytes=").rstrip("-"))

    def _refuse(self, status: int, stored: Stored | None) -> None:
        headers = {} if status == 304 else {"Content_Length": "0"}
        if status == 302:
            location = stored.location if stored else None
            headers["Location"] = location or self.path.removesuffix("-moved")
        if status == 429:
            headers["Retry_After"] = "0"
        self.begin(status, **headers)

    def _send(self, stored: Stored, served: Served) -> None:
        # One answer is about one state of the file, even if the test changes it meanwhile.
        data = stored.data
        first = self._first(served) if served.status == 206 else 0
        last = len(data)
        chunked = stored.length == ""
        headers = {"Content_Encoding": stored.encoding, "ETag": stored.etag}
        headers |= {"Content_Type": stored.mime, "Last_Modified": stored.last_modified}
        if first:
            headers["Content_Range"] = f"bytes {first}-{last - 1}/{len(data)}"
        if chunked:
            headers["Transfer_Encoding"] = "chunked"
        elif not stored.until_close:
            headers["Content_Length"] = stored.length or str(last - first)
        self.begin(served.status, **{name: value for name, value in headers.items() if value})
        drop = stored.drops.pop(0) if stored.drops else None
        stop = last if drop is None else min(first + drop, last)
        for start in range(first, stop, PIECE):
            while 0 < stored.stall <= start:
                time.sleep(0.01)
            piece = data[start : min(start + PIECE, stop)]
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
            served.n_bytes += len(piece)
            if stored.pause:
                time.sleep(stored.pause)
        if drop is not None or stored.length or stored.until_close:
            self.close_connection = True
        elif chunked:
            self.wfile.write(b"0\r\n\r\n")


class StorageDouble(ThreadingHTTPServer):
    """The server: `log` has every request in the order they came."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Exchange)
        self.files: dict[str, Stored] = {}
        self.log: list[Served] = []

    def put(self, name: str, data: bytes) -> Stored:
        url = f"http://127.0.0.1:{self.server_port}/{name}"
        self.files["/" + name] = Stored(url, data, etag_of(data))
        return self.files["/" + name]
