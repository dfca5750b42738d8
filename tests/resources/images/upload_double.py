"""upload.wikimedia.org on a loopback port: serves pictures, and fails in the ways a real host does.

    with serving(UploadDouble()) as uploads:
        url = uploads.serve("owl.png", busy(), busy(retry_after="1"), ok())

A path that nothing was said about answers with 404; the last answer of a path is given for good.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.server import ThreadingHTTPServer

from PIL import Image

from tests.doubles.serving import QuietHandler
from tests.methods.ingest.pictures_drawn import encoded


def picture(number: int = 0) -> bytes:
    """The bytes of a PNG; another number makes another picture."""
    image = Image.linear_gradient("L").convert("RGB")
    image.paste("white", (32, 32, 96, 96))
    image.putpixel((0, 0), (number >> 16 & 255, number >> 8 & 255, number & 255))
    return encoded(image)


PICTURE = picture()


@dataclass(frozen=True)
class Asked:
    """A request that came in, and for what of which host."""

    host: str
    path: str
    agent: str
    authorization: str | None


class Exchange(QuietHandler):
    """One connection, which stays open from request to request."""

    server: "UploadDouble"

    def setup(self) -> None:
        self.server.count_connection(1)
        super().setup()

    def finish(self) -> None:
        with suppress(OSError):
            super().finish()
        self.server.count_connection(-1)

    def do_GET(self) -> None:
        host = self.headers["Host"].rpartition(":")[0]
        path = self.path.partition("?")[0]
        agent, authorization = self.headers["User-Agent"], self.headers["Authorization"]
        asked = Asked(host, path, agent, authorization)
        answer = self.server.begin(asked)
        try:
            answer(self)
        except OSError:
            self.close_connection = True
        finally:
            self.server.end(asked)


Answer = Callable[[Exchange], None]


def ok(body: bytes = PICTURE, *, after: float = 0.0, mime: str = "image/png") -> Answer:
    """A picture, after so many seconds."""

    def answer(exchange: Exchange) -> None:
        exchange.server.closing.wait(after)
        exchange.send(body, Content_Type=mime)

    return answer


def in_chunks(body: bytes = PICTURE) -> Answer:
    """A picture whose length nobody says beforehand."""

    def answer(exchange: Exchange) -> None:
        exchange.begin(Transfer_Encoding="chunked")
        exchange.write(f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n")

    return answer


def status(code: int, **headers: str) -> Answer:
    """Nothing but a status, and headers by their name with underscores."""
    return lambda exchange: exchange.send(b"", code, **headers)


def busy(retry_after: str | None = None) -> Answer:
    """Too many requests; `retry_after` is the header's value, if it has one."""
    return status(429, **({} if retry_after is None else {"Retry_After": retry_after}))


def redirect(to: str) -> Answer:
    return status(302, Location=to)


def html(mime: str = "text/html") -> Answer:
    """A web page where a picture was asked for, as a captive portal sends it."""
    return ok(b"<!doctype html><html>Please log in</html>", mime=mime)


def cut_short(body: bytes = PICTURE) -> Answer:
    """Announces the whole picture, sends half of it and hangs up."""

    def answer(exchange: Exchange) -> None:
        exchange.begin(Content_Length=str(len(body)))
        exchange.write(body[: len(body) // 2])
        exchange.close_connection = True

    return answer


def trickle(body: bytes = PICTURE) -> Answer:
    """A byte now and then, so that no single read is ever late."""

    def answer(exchange: Exchange) -> None:
        exchange.begin(Content_Length=str(len(body)))
        for byte in body:
            exchange.write(bytes([byte]))
            time.sleep(0.02)

    return answer


def endless(exchange: Exchange) -> None:
    """Chunks for as long as somebody reads; `hung_up` is set once nobody does."""
    exchange.begin(Transfer_Encoding="chunked")
    try:
        while True:
            exchange.write(b"2710\r\n" + bytes(10_000) + b"\r\n")
    except OSError:
        exchange.server.hung_up.set()
        raise


def silence(exchange: Exchange) -> None:
    """No answer at all: the connection is closed."""
    exchange.close_connection = True


class UploadDouble(ThreadingHTTPServer):
    """The server: `log` has every request, `most` the most at once by host, and in all by "".

    `connections` are those open now.
    """

    request_queue_size = 64  # the default's five keep others waiting for a second

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Exchange)
        self.base = f"http://127.0.0.1:{self.server_port}"
        self.log: list[Asked] = []
        self.most: Counter[str] = Counter()
        self.connections = 0
        self.hung_up, self.closing = threading.Event(), threading.Event()
        self._now: Counter[str] = Counter()
        self._answers: dict[str, list[Answer]] = {}
        self._lock = threading.Lock()

    def serve(self, name: str, *answers: Answer, host: str = "127.0.0.1") -> str:
        """The URL of a path that answers so, in this order; `localhost` is another host."""
        self._answers["/" + name] = list(answers)
        return f"http://{host}:{self.server_port}/{name}"

    @property
    def asked(self) -> Counter[str]:
        return Counter(asked.path.lstrip("/") for asked in self.log)

    @property
    def agents(self) -> set[str]:
        return {asked.agent for asked in self.log}

    def server_close(self) -> None:
        """Close, and keep nobody's answer back any longer."""
        self.closing.set()
        super().server_close()

    def count_connection(self, change: int) -> None:
        """A connection was opened (1) or closed (-1)."""
        with self._lock:
            self.connections += change

    def begin(self, asked: Asked) -> Answer:
        """Record a request; what it is to be answered with."""
        with self._lock:
            self.log.append(asked)
            for host in (asked.host, ""):
                self._now[host] += 1
                self.most[host] = max(self.most[host], self._now[host])
            answers = self._answers.get(asked.path) or [status(404)]
            return answers.pop(0) if len(answers) > 1 else answers[0]

    def end(self, asked: Asked) -> None:
        with self._lock:
            for host in (asked.host, ""):
                self._now[host] -= 1
