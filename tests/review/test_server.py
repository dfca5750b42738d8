"""The real server: requests sent in part only, many at once, and signing in by a proxy's header."""

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress

import httpx2
import pytest

from methods.errors import UserError
from resources.review.sign_in_limits import ATTEMPTS_PER_ADDRESS
from review import server
from review.proxy import sign_in_header
from review.security import MOST_WAITING
from review.server import FORWARDED_ALLOW_IPS, proxy_options
from tests.review.pages import Site, csrf_token_in, picture, serving, signed_in


@pytest.fixture
def served(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setattr(server, "WHOLE_WITHIN", 0.5)
    with serving(site) as served:
        yield served


@contextmanager
def connected(site: Site) -> Iterator[socket.socket]:
    host, _, port = site.address.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        yield connection


@pytest.mark.parametrize(
    "half",
    [
        b"GET /login HTTP/1.1\r\nHost: x\r\nX-Slow: ",
        b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\n\r\nname=",
    ],
    ids=["headers", "body"],
)
def test_a_request_that_is_never_whole_ends_and_others_are_answered(served, half):
    with connected(served) as slow:
        slow.sendall(half)
        assert httpx2.get(f"{served.address}/login").status_code == 200
        received = b""
        while part := slow.recv(4096):
            received += part
    assert not received.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("path", "body", "kind"),
    [
        ("/accounts", b"action=add&name=mallory&role=admin", "application/x-www-form-urlencoded"),
        ("/items/item/decide", b'{"verdict": "accept", "round": 2}', "application/json"),
    ],
)
def test_who_is_disabled_while_their_request_is_sent_acts_no_more(
    served, monkeypatch, path, body, kind
):
    monkeypatch.setattr(server, "WHOLE_WITHIN", 30.0)
    ada = signed_in(served, "ada")
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {served.address.removeprefix('http://')}\r\n"
        f"Cookie: review_session={ada.cookies['review_session']}\r\n"
        f"X-CSRF-Token: {ada.headers['x-csrf-token']}\r\nConnection: close\r\n"
        f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with connected(served) as slow:
        slow.sendall(head.encode() + body[:-1])
        # The server has read the headers when it has answered a later request.
        assert httpx2.get(f"{served.address}/login").status_code == 200
        time.sleep(0.3)
        served.accounts.add("olga", "admin")
        served.accounts.disable("ada")
        slow.sendall(body[-1:])
        received = b"".join(iter(lambda: slow.recv(4096), b""))
    assert received.startswith(b"HTTP/1.1 401"), received[:200]
    assert served.accounts.get("mallory") is None


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
def test_a_request_with_too_large_headers_is_refused_before_it_fills_the_memory(site, begin, part):
    n_sent = 0
    with serving(site):
        with connected(site) as flood:
            flood.sendall(begin)
            # The server closes the connection, or this test ends.
            with suppress(ConnectionError):
                while n_sent < 50_000_000:
                    flood.sendall(part)
                    n_sent += len(part)
        assert httpx2.get(f"{site.address}/login").status_code == 200
    assert n_sent < 20_000_000, "the sockets hold some megabytes"


def test_of_requests_that_do_not_wait_for_the_response_two_are_answered(served):
    host = served.address.removeprefix("http://")
    with connected(served) as hasty:
        hasty.sendall(f"GET /login HTTP/1.1\r\nHost: {host}\r\n\r\n".encode() * 1_000)
        received = b""
        with suppress(ConnectionError):
            while part := hasty.recv(65_536):
                received += part
    assert (received.count(b"HTTP/1.1 200"), received.count(b"connection: close")) == (2, 1)
    assert received.endswith(b"</html>")


def test_a_connection_is_used_again_after_more_than_the_time_of_one_request(served):
    with httpx2.Client() as client:
        for _ in range(3):
            assert client.get(f"{served.address}/login").status_code == 200
            time.sleep(0.3)


def test_of_many_sign_ins_at_once_two_are_checked_some_wait_and_others_are_refused(
    site, monkeypatch
):
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
        form = {"name": "anna", "password": "x"}
        form["csrf_token"] = csrf_token_in(client.get("/login").text)
        answers = [pool.submit(client.post, "/login", data=form) for _ in range(n_sign_ins)]
        refused = [each.result() for _, each in zip(range(5), as_completed(answers), strict=False)]
        assert client.get("/login").status_code == 200, "others are answered meanwhile"
        end.set()
        codes = [each.result().status_code for each in answers]

    assert all("try again in a few seconds" in each.text for each in refused)
    assert (codes.count(503), codes.count(401)) == (5, 2 + MOST_WAITING)
    assert max(most) == 2


def test_two_images_are_made_smaller_at_a_time_and_pages_are_served_meanwhile(site, monkeypatch):
    waiting, end = [], threading.Event()

    def slow(_: str, side: int) -> bytes:
        waiting.append(side)
        assert end.wait(60)
        return b""

    monkeypatch.setattr(site.images, "thumbnail", slow)
    path = f"/images/{picture(site, 'red')}?side=640"
    with (
        serving(site) as served,
        httpx2.Client(base_url=served.address, timeout=60) as anna,
        ThreadPoolExecutor(45) as pool,
    ):
        link = f"/link/{site.accounts.link('anna')}"
        anna.post(link, data={"csrf_token": csrf_token_in(anna.get(link).text)})
        answers = [pool.submit(anna.get, path) for _ in range(45)]
        while len(waiting) < 2:
            time.sleep(0.01)
        assert anna.get("/").status_code == 200
        n_at_once = len(waiting)
        end.set()
        assert {each.result().status_code for each in answers} == {200}
    assert (n_at_once, len(waiting)) == (2, 45)


# Signing in by the header of a proxy

HEADER = "X-Forwarded-Email"
ASKS = {"accept": "text/html"}


@pytest.fixture
def trusted(site: Site) -> Iterator[Site]:
    site.accounts.add("Zoë@b.org", "annotator")
    with serving(site, sign_in_header(HEADER, ["10.0.0.0/8", "127.0.0.1"])) as served:
        yield served


def as_named(name: str) -> dict[str, str | bytes]:
    return {**ASKS, HEADER: name.encode()}


def test_a_trusted_proxy_signs_in_whom_it_names(trusted):
    with httpx2.Client(base_url=trusted.address) as client:
        page = client.get("/", headers=as_named("zoë@B.org"))
        assert page.status_code == 200 and "Zoë@b.org" in page.text
        session = client.cookies["review_session"]
        assert "Zoë@b.org" in client.get("/", headers=as_named("zoe\u0308@B.org")).text
        assert client.cookies["review_session"] == session, "one session serves all requests"
        # The protection against other sites holds as for everybody.
        assert client.post("/next", headers=as_named("zoë@B.org")).status_code == 403

        # Somebody else at the same browser: the earlier session is over.
        assert ">anna<" in client.get("/", headers=as_named("anna")).text
        assert trusted.accounts.session(session) is None


def test_a_name_without_an_account_is_refused_in_a_sentence(trusted):
    trusted.accounts.disable("anna")
    # Those that differ by more than case from "ada" are other names.
    for name in ("nobody", "anna", "<b>", "\uff41da", "ad\u00aa", "\U0001d4b6da"):
        answer = httpx2.get(f"{trusted.address}/", headers=as_named(name))
        assert answer.status_code == 403
        assert "ask an administrator to add it" in answer.text and "<b>" not in answer.text
        assert "review_session" not in answer.cookies


@pytest.mark.parametrize(
    "proxy",
    [None, sign_in_header(HEADER, ["10.0.0.0/8"]), sign_in_header("X-Other", ["127.0.0.1"])],
)
def test_nobody_else_is_believed(site, proxy):
    with serving(site, proxy):
        for more in ({}, {"X-Forwarded-For": "10.0.0.1"}):
            answer = httpx2.get(f"{site.address}/", headers={**as_named("ada"), **more})
            assert (answer.status_code, answer.headers["location"][:6]) == (303, "/login")


def test_what_the_proxy_itself_was_given_is_not_believed_beside_it(trusted):
    twice = [("accept", "text/html"), (HEADER, "ada"), (HEADER, "anna")]
    assert httpx2.get(f"{trusted.address}/", headers=twice).status_code == 303


@pytest.mark.parametrize(
    ("header", "trusted"), [(HEADER, []), (None, ["localhost"]), (HEADER, ["localhost"])]
)
def test_half_a_configuration_is_refused(header, trusted):
    with pytest.raises(UserError, match="--trusted-proxy"):
        sign_in_header(header, trusted)
    assert sign_in_header(None, []) is sign_in_header(None, ["127.0.0.1"]) is None


@pytest.mark.parametrize(
    ("proxies", "of_uvicorn", "blocked"),
    [(["10.0.0.0/8"], None, True), (["127.0.0.1"], None, False), ((), "127.0.0.1", False)],
)
def test_the_address_of_a_failed_sign_in_is_a_header_of_configured_proxies_alone(
    proxies, of_uvicorn, blocked, site, monkeypatch
):
    monkeypatch.delenv(FORWARDED_ALLOW_IPS, raising=False)
    if of_uvicorn:
        monkeypatch.setenv(FORWARDED_ALLOW_IPS, of_uvicorn)
    with (
        serving(site, None, proxy_options(proxies)) as served,
        httpx2.Client(base_url=served.address) as client,
    ):
        token = csrf_token_in(client.get("/login").text)
        for number in range(ATTEMPTS_PER_ADDRESS + 1):
            given = {"name": f"n{number}", "password": "wrong", "csrf_token": token}
            headers = {"X-Forwarded-For": f"10.0.0.{number}"}
            answer = client.post("/login", data=given, headers=headers)
    assert ("Too many failed sign-ins" in answer.text) is blocked
