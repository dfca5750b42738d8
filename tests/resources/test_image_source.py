"""Fetching images, against a real server on the loopback address that fails on demand."""

import email.utils
import io
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from PIL import Image

from methods.image_check import ImageRejected, check
from resources import image_source
from resources.image_source import ImageFetcher

WEB = "https://upload.example.org/wit/"
buffer = io.BytesIO()
Image.linear_gradient("L").convert("RGB").save(buffer, "PNG")
PICTURE = buffer.getvalue()


class Handler(BaseHTTPRequestHandler):
    """Answers by the name asked for, up to its first dash or dot: `busy-date.png` by `busy`."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        name = self.path.rpartition("/")[2]
        server = self.server
        with server.lock:
            server.asked[name] += 1
            server.agents.add(self.headers["User-Agent"])
            server.now += 1
            server.most = max(server.most, server.now)
        try:
            getattr(self, name.partition(".")[0].partition("-")[0], self.missing)(name)
        finally:
            with server.lock:
                server.now -= 1

    def answer(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for header, value in headers.items():
            self.send_header(header.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def good(self, name: str) -> None:
        self.answer(PICTURE)

    def missing(self, name: str) -> None:
        self.answer(b"no such image", 404)

    def gone(self, name: str) -> None:
        self.answer(b"", 410)

    def forbidden(self, name: str) -> None:
        self.answer(b"", 403)

    def failing(self, name: str) -> None:
        self.answer(b"", 503)

    def html(self, name: str) -> None:
        self.answer(b"<html>Please log in</html>", Content_Type="image/png")

    def half(self, name: str) -> None:
        self.answer(PICTURE[: len(PICTURE) // 2])

    def steady(self, name: str) -> None:
        time.sleep(0.05)
        self.answer(PICTURE)

    def busy(self, name: str) -> None:
        """Too many requests once, then the picture; the name says how it asks to wait."""
        asked_to_wait = {
            "busy-seconds.png": "0",
            "busy-long.png": "86400",
            "busy-date.png": email.utils.formatdate(time.time() - 60, usegmt=True),
            "busy-nonsense.png": "soon",
        }[name]
        if self.server.asked[name] == 1:
            self.answer(b"", 429, Retry_After=asked_to_wait)
        else:
            self.answer(PICTURE)

    def broken(self, name: str) -> None:
        """Announces more than it sends and hangs up; whole the second time if the name asks."""
        if name == "broken-once.png" and self.server.asked[name] > 1:
            self.answer(PICTURE)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(PICTURE)))
        self.end_headers()
        self.wfile.write(PICTURE[:50])
        self.close_connection = True

    def big(self, name: str) -> None:
        """A megabyte, announced or in chunks that go on for as long as somebody reads."""
        if name == "big-announced.png":
            self.answer(bytes(1_000_000))
            return
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            while True:
                self.wfile.write(b"2710\r\n" + bytes(10_000) + b"\r\n")
        except OSError:
            self.server.hung_up.set()
            self.close_connection = True

    def slow(self, name: str) -> None:
        """A byte now and then, so that no single read is ever late; quick the second time."""
        if name == "slow-once.png" and self.server.asked[name] > 1:
            self.answer(PICTURE)
            return
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Length", str(len(PICTURE)))
        self.end_headers()
        try:
            for _ in range(100):
                self.wfile.write(b"x")
                time.sleep(0.02)
        except OSError:
            pass

    def moved(self, name: str) -> None:
        target = {
            "moved-once.png": "good.png",
            "moved-round.png": "/moved-round.png",
            "moved-file.png": "file:///etc/passwd",
            "moved-inside.png": f"http://localhost:{self.server.server_port}/good.png",
        }[name]
        self.answer(b"", 302, Location=target)

    def log_message(self, *parts: object) -> None:
        """Quiet."""


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.lock, server.asked, server.agents = threading.Lock(), Counter(), set()
    server.now = server.most = 0
    server.hung_up = threading.Event()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def base(server: ThreadingHTTPServer) -> str:
    return f"http://127.0.0.1:{server.server_port}"


def fetch(mirror: str | Path | None, url: str, **options) -> bytes | ImageRejected:
    fetcher = ImageFetcher(mirror, **{"timeout": 5.0, "backoff": 0.01, **options})
    [(asked, result)] = fetcher.fetch_all([url]).items()
    assert asked == url
    return result


def reason(result: bytes | ImageRejected) -> str:
    assert isinstance(result, ImageRejected)
    assert result.detail.endswith(".")
    return result.reason


def test_a_mirror_server_is_asked_for_the_name_alone(base, server):
    assert fetch(base + "/", WEB + "a/b/good.png?width=100#top") == PICTURE
    assert server.asked == {"good.png": 1}
    assert server.agents == {"vlm-loom/0.1"}


def test_the_operator_gives_the_user_agent(base, server):
    fetch(base, WEB + "good.png", user_agent="someone (mail@example.org)")
    assert server.agents == {"someone (mail@example.org)"}


def test_each_url_is_fetched_once_and_progress_is_told(base, server):
    urls = [WEB + name for name in ("good.png", "missing.png", "good.png", "good-2.png")]
    told: list[tuple[int, int]] = []
    results = ImageFetcher(base).fetch_all(urls, lambda done, total: told.append((done, total)))
    assert list(results) == [urls[0], urls[1], urls[3]]
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert server.asked["good.png"] == 1
    assert ImageFetcher(base).fetch_all([]) == {}


def test_eight_at_a_time_and_no_more(base, server):
    urls = [f"{WEB}steady-{number}.png" for number in range(40)]
    results = ImageFetcher(base).fetch_all(urls)
    assert set(results.values()) == {PICTURE}
    assert 2 <= server.most <= 8


@pytest.mark.parametrize(
    ("name", "expected", "asked"),
    [
        ("missing.png", "missing", 1),
        ("gone.png", "missing", 1),
        ("forbidden.png", "http_error", 1),
        ("failing.png", "http_error", 3),
        ("broken.png", "unreachable", 3),
        ("moved-round.png", "http_error", 4),
        ("moved-file.png", "unreachable", 1),
    ],
)
def test_each_failure_has_its_reason_and_its_number_of_tries(base, server, name, expected, asked):
    assert reason(fetch(base, WEB + name)) == expected
    assert server.asked[name] == asked


def test_the_status_is_told(base):
    assert "403" in fetch(base, WEB + "forbidden.png").detail


@pytest.mark.parametrize("name", ["busy-seconds.png", "busy-date.png", "busy-nonsense.png"])
def test_too_many_requests_is_tried_again(base, server, name):
    assert fetch(base, WEB + name) == PICTURE
    assert server.asked[name] == 2


def test_the_server_says_when_to_come_back_within_reason(base, monkeypatch):
    """Asked to wait a day, it waits its own longest wait: 30 s, here a tenth of one."""
    assert image_source.MAX_WAIT == 30.0
    monkeypatch.setattr(image_source, "MAX_WAIT", 0.1)
    start = time.monotonic()
    assert fetch(base, WEB + "busy-long.png") == PICTURE
    assert 0.1 <= time.monotonic() - start < 2


def test_a_broken_connection_is_tried_again(base, server):
    assert fetch(base, WEB + "broken-once.png") == PICTURE
    assert server.asked["broken-once.png"] == 2


def test_a_redirect_is_followed(base, server):
    assert fetch(base, WEB + "moved-once.png") == PICTURE


def test_a_slow_answer_has_one_deadline_for_all_of_it(base, server):
    start = time.monotonic()
    assert reason(fetch(base, WEB + "slow.png", timeout=0.15)) == "timeout"
    assert server.asked["slow.png"] == 3
    assert time.monotonic() - start < 3
    assert fetch(base, WEB + "slow-once.png", timeout=0.3) == PICTURE


def test_a_file_over_the_limit_is_not_read_to_its_end(base, server):
    assert reason(fetch(base, WEB + "big-announced.png", max_bytes=999)) == "oversized_bytes"
    assert reason(fetch(base, WEB + "big-endless.png", max_bytes=99_999)) == "oversized_bytes"
    assert server.hung_up.wait(5)


@pytest.mark.parametrize(
    ("name", "declared", "expected"),
    [
        ("html.png", "image/png", "not_an_image"),
        ("half.png", "image/png", "truncated"),
        ("good.png", "image/jpeg", "mislabelled"),
    ],
)
def test_bytes_that_came_whole_may_still_be_no_good(base, name, declared, expected):
    """The fetch gives what the server sent; the check says what is wrong with it."""
    data = fetch(base, WEB + name)
    with pytest.raises(ImageRejected) as caught:
        check(data, declared)
    assert caught.value.reason == expected


def test_nobody_at_home():
    """A port that nothing listens on; a dead host is not tried again."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    start = time.monotonic()
    assert reason(fetch(f"http://127.0.0.1:{port}", WEB + "a.png", backoff=5)) == "unreachable"
    assert time.monotonic() - start < 4


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "10.1.2.3", "2130706433"]
)
def test_the_open_web_does_not_reach_inside(server, host):
    """Nor does any other way to write the loopback address: what it resolves to is looked at."""
    result = fetch(None, f"http://{host}:{server.server_port}/good.png")
    assert reason(result) == "private_address"
    assert not server.asked


def test_a_mirror_is_trusted_but_not_where_it_points(base, server):
    assert reason(fetch(base, WEB + "moved-inside.png")) == "private_address"
    assert server.asked == {"moved-inside.png": 1}


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True),
        ("2606:4700::1111", True),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("fe80::1%1", False),
        ("fd00::1", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::a00:1", False),
        ("2002:a00:1::", False),
    ],
)
def test_which_addresses_are_public(address, public):
    assert image_source._is_public(address) is public


def test_without_a_mirror_the_url_itself_is_fetched(base, server, monkeypatch):
    """The test's server stands in for the open web: its address is taken for a public one."""
    monkeypatch.setattr(image_source, "_is_public", lambda address: address == "127.0.0.1")
    assert fetch(None, f"http://localhost:{server.server_port}/a/good.png") == PICTURE
    assert fetch(None, base + "/moved-inside.png") == PICTURE


@pytest.mark.parametrize(
    "url", ["ftp://example.org/a.png", "nothing", "http://", "http://[x/a.png", "http://a:99999/b"]
)
def test_what_is_no_web_address_is_unreachable(url):
    assert reason(fetch(None, url)) == "unreachable"


def test_a_host_that_no_resolver_knows_is_unreachable():
    assert reason(fetch(None, "http://no-such-host.invalid/a.png")) == "unreachable"
    assert reason(fetch(None, f"http://{'a' * 70}.invalid/a.png")) == "unreachable"


def test_a_mirror_folder_gives_the_file_of_that_name(tmp_path):
    (tmp_path / "Owl (bird) é.png").write_bytes(PICTURE)
    told: list[tuple[int, int]] = []
    urls = [WEB + "x/Owl_none.png", WEB + "x/Owl%20%28bird%29%20%C3%A9.png"]
    fetcher = ImageFetcher(str(tmp_path))
    results = fetcher.fetch_all(urls, lambda done, total: told.append((done, total)))
    assert reason(results[urls[0]]) == "missing"
    assert results[urls[1]] == PICTURE
    assert told == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    "name",
    [
        "..%2Fsecret.png",
        "..",
        "%2e%2e",
        "",
        "a%00b.png",
        "..%5Csecret.png",
        "sub",
        "a" * 300,
        "%ff",
    ],
)
def test_no_name_leads_out_of_the_mirror_folder(tmp_path, name):
    (tmp_path / "mirror" / "sub").mkdir(parents=True)
    (tmp_path / "secret.png").write_bytes(PICTURE)
    assert reason(fetch(tmp_path / "mirror", WEB + name)) == "missing"


def test_a_file_over_the_limit_in_the_mirror_is_not_read(tmp_path):
    (tmp_path / "a.png").write_bytes(PICTURE)
    assert reason(fetch(tmp_path, WEB + "a.png", max_bytes=10)) == "oversized_bytes"


def test_a_mirror_that_is_not_there_is_said_at_once(tmp_path):
    with pytest.raises(ValueError, match="make the folder"):
        ImageFetcher(tmp_path / "absent")
