"""Requests that are sent in part only, and many at once, to the real server."""

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest

from review import server
from review.security import MOST_WAITING
from tests.review.html import csrf_token_in
from tests.review.http_people import signed_in
from tests.review.pages import Site, make_site, serving


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setattr(server, "WHOLE_WITHIN", 0.5)
    with serving(make_site(tmp_path / "home")) as served:
        yield served


@pytest.mark.parametrize(
    "half",
    [
        b"GET /login HTTP/1.1\r\nHost: x\r\nX-Slow: ",
        b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\n\r\nname=",
    ],
    ids=["headers", "body"],
)
def test_a_request_that_is_never_whole_ends_and_others_are_answered(site, half):
    host, _, port = site.address.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as slow:
        slow.sendall(half)
        assert httpx2.get(f"{site.address}/login").status_code == 200
        received = b""
        while part := slow.recv(4096):
            received += part
    assert not received.startswith(b"HTTP/1.1 200")


def test_who_is_disabled_while_their_request_is_sent_acts_no_more(site, monkeypatch):
    monkeypatch.setattr(server, "WHOLE_WITHIN", 30.0)
    ada = signed_in(site, "ada")
    body = b"action=add&name=mallory&role=admin"
    head = (
        f"POST /accounts HTTP/1.1\r\nHost: {site.address.removeprefix('http://')}\r\n"
        f"Cookie: review_session={ada.cookies['review_session']}\r\n"
        f"X-CSRF-Token: {ada.headers['x-csrf-token']}\r\nConnection: close\r\n"
        f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    host, _, port = site.address.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as slow:
        slow.sendall(head.encode() + body[:-1])
        # The server has read the headers when it has answered a later request.
        assert httpx2.get(f"{site.address}/login").status_code == 200
        time.sleep(0.3)
        site.accounts.add("olga", "admin")
        site.accounts.disable("ada")
        slow.sendall(body[-1:])
        received = b"".join(iter(lambda: slow.recv(4096), b""))
    assert received.startswith(b"HTTP/1.1 401"), received[:200]
    assert site.accounts.get("mallory") is None


CHUNKED = b"POST /login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("begin", "part"),
    [
        (b"GET /", b"a" * 60_000),
        (b"GET /login HTTP/1.1\r\nHost: x\r\n", b"X-A: " + b"a" * 60_000 + b"\r\n"),
        (b"GET /login HTTP/1.1\r\nHost: x\r\nX-A: ", b"a" * 60_000),
        (CHUNKED + b"0\r\n", b"X-A: " + b"a" * 60_000 + b"\r\n"),
    ],
    ids=["address", "headers", "header", "trailers"],
)
def test_a_request_with_too_large_headers_is_refused_before_it_fills_the_memory(
    tmp_path, begin, part
):
    n_sent = 0
    with serving(make_site(tmp_path / "home")) as site:
        host, _, port = site.address.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=30) as flood:
            flood.sendall(begin)
            # The server closes the connection, or this test ends.
            with suppress(ConnectionError):
                while n_sent < 50_000_000:
                    flood.sendall(part)
                    n_sent += len(part)
        assert httpx2.get(f"{site.address}/login").status_code == 200
    assert n_sent < 20_000_000, "the sockets hold some megabytes"


def test_of_requests_that_do_not_wait_for_the_response_one_is_answered(site):
    host, _, port = site.address.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as hasty:
        hasty.sendall(f"GET /login HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode() * 1_000)
        received = b""
        with suppress(ConnectionError):
            while part := hasty.recv(65_536):
                received += part
    assert (received.count(b"HTTP/1.1 "), received.count(b"connection: close")) == (1, 1)
    assert received.startswith(b"HTTP/1.1 200") and b"</html>" in received


def test_a_connection_is_used_again_after_more_than_the_time_of_one_request(site):
    with httpx2.Client() as client:
        for _ in range(3):
            assert client.get(f"{site.address}/login").status_code == 200
            time.sleep(0.3)


def test_of_many_sign_ins_at_once_two_are_checked_some_wait_and_others_are_refused(
    tmp_path, monkeypatch
):
    site = make_site(tmp_path / "home")
    running, most, end = set(), [], threading.Event()

    def slow_check(*_: str) -> None:
        running.add(threading.get_ident())
        most.append(len(running))
        assert end.wait(60)
        running.remove(threading.get_ident())

    monkeypatch.setattr(site.accounts, "check", slow_check)
    n_sign_ins = 2 + MOST_WAITING + 5
    with (
        serving(site) as served,
        httpx2.Client(base_url=served.address, timeout=60) as client,
        ThreadPoolExecutor(n_sign_ins) as pool,
    ):
        form = {
            "name": "anna",
            "password": "x",
            "csrf_token": csrf_token_in(client.get("/login").text),
        }
        answers = [pool.submit(client.post, "/login", data=form) for _ in range(n_sign_ins)]
        refused = [each.result() for _, each in zip(range(5), as_completed(answers), strict=False)]
        assert client.get("/login").status_code == 200, "others are answered meanwhile"
        end.set()
        codes = [each.result().status_code for each in answers]

    assert all("try again in a few seconds" in each.text for each in refused)
    assert (codes.count(503), codes.count(401)) == (5, 2 + MOST_WAITING)
    assert max(most) == 2
