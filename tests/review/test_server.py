"""Requests that are sent in part only, to the real server."""

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from review import server
from tests.review.pages import Site, make_site, serving


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setattr(server, "WHOLE_WITHIN", 0.5)
    with serving(make_site(tmp_path / "home")) as served:
        yield served


@pytest.mark.parametrize(
    "half",
    [
        b"",
        b"GET /login HT",
        b"GET /login HTTP/1.1\r\nHost: x\r\nX-Slow: ",
        b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\n\r\nname=",
    ],
    ids=["nothing", "line", "headers", "body"],
)
def test_a_request_that_is_never_whole_ends_and_others_are_answered(
    site: Site, half: bytes
) -> None:
    host, _, port = site.address.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as slow:
        slow.sendall(half)
        assert httpx2.get(f"{site.address}/login").status_code == 200
        received = b""
        while part := slow.recv(4096):
            received += part
    assert not received.startswith(b"HTTP/1.1 200")


def test_a_connection_is_used_again_after_more_than_the_time_of_one_request(site: Site) -> None:
    with httpx2.Client() as client:
        for _ in range(3):
            assert client.get(f"{site.address}/login").status_code == 200
            time.sleep(0.3)
