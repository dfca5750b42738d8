"""Which requests a web server of the project answers: its own names, its own pages, and programs."""

import pytest

from resources.web.request_guard import refusal

EACH_REQUEST = pytest.mark.parametrize(
    ("method", "kind"), [("POST", "http"), ("GET", "http"), ("GET", "websocket")]
)
OWN = "https://loom.example.org, http://webserver:3000"


def refused(method: str = "GET", kind: str = "http", **headers: str) -> str | None:
    sent = {"host": "127.0.0.1:3000"} | {key.replace("_", "-"): headers[key] for key in headers}
    pairs = [(key.encode(), value.encode()) for key, value in sent.items()]
    return refusal({"type": kind, "method": method, "headers": pairs}, "LOOM_UI")


@pytest.fixture(autouse=True)
def addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOM_UI", OWN)


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "localhost:3000", "127.0.0.1:3000", "[::1]:3000", "10.4.0.7"),
        *("[fd00::7]:80", "loom.example.org", "LOOM.example.org:443", "webserver:3000", ""),
    ],
)
def test_own_names_ip_addresses_and_probes_without_a_name_are_answered(host):
    assert refused(host=host) is None
    assert refused("POST", host=host) is None


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:3000", "127.0.0.1.evil.example"),
        *("loom.example.org.evil.example", "evil@127.0.0.1", "127.0.0.1:3000@evil.example"),
        *("2130706433", "[::1", "127.0.0.1:x", "webserver.", "a b"),
    ],
)
def test_names_that_a_site_can_lead_to_this_machine_are_refused(host):
    assert refused(host=host) is not None
    assert refused(kind="websocket", host=host) is not None


@pytest.mark.parametrize("name", ["host", "origin", "sec-fetch-site"])
def test_a_header_that_says_where_a_request_comes_from_is_there_once(name):
    good = {"host": "localhost", "origin": "http://localhost", "sec-fetch-site": "same-origin"}
    pairs = [(key.encode(), value.encode()) for key, value in good.items()]
    asked = {"type": "http", "method": "POST"}
    assert refusal({**asked, "headers": pairs}, "LOOM_UI") is None
    twice = [*pairs, (name.encode(), b"http://evil.example")]
    assert refusal({**asked, "headers": twice}, "LOOM_UI") is not None


def test_the_refusal_of_a_name_says_what_to_set(monkeypatch):
    said = "This server does not answer as 'lab7:3000'. If this is one of its names, set LOOM_UI="
    assert refused(host="lab7:3000") == (
        f"{said}https://loom.example.org,http://webserver:3000,http://lab7:3000 and start the server "
        "again."
    )
    monkeypatch.delenv("LOOM_UI")
    assert refused(host="lab7:3000") == f"{said}http://lab7:3000 and start the server again."


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://127.0.0.1:3000"},
        {"origin": "http://LOCALHOST:3000", "host": "localhost:3000"},
        {"origin": "https://loom.example.org", "sec_fetch_site": "same-origin"},
        {"sec_fetch_site": "same-origin", "sec_fetch_mode": "cors"},
        {"sec_fetch_site": "none", "sec_fetch_mode": "navigate"},
        {},
    ],
)
@EACH_REQUEST
def test_own_pages_and_programs_are_answered(method, kind, headers):
    assert refused(method, kind, **headers) is None


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "http://127.0.0.1:8000"},
        {"origin": "http://localhost:3000"},
        {"origin": "http://127.0.0.1:3000.evil.example"},
        {"origin": "null"},
        {"origin": ""},
        {"sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors", "sec_fetch_dest": "image"},
        {"sec_fetch_site": "same-site", "sec_fetch_mode": "cors", "sec_fetch_dest": "empty"},
        {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "iframe"},
        {"sec_fetch_site": "unheard-of"},
    ],
)
@EACH_REQUEST
def test_pages_of_other_origins_are_refused(method, kind, headers):
    assert refused(method, kind, **headers) is not None


def test_a_link_on_another_site_opens_a_page_and_sends_no_form():
    link = {"sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}
    headers = {"sec_fetch_site": "cross-site", **link}
    assert refused("GET", **headers) is None
    assert refused("POST", **headers) is not None
    assert refused("GET", "websocket", **headers) is not None
