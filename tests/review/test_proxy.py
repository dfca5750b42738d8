"""Signing in by the header of a proxy, over the real server."""

from collections.abc import Iterator

import httpx2
import pytest

from methods.errors import UserError
from resources.review.sign_in_limits import ATTEMPTS_PER_ADDRESS
from review.proxy import sign_in_header
from review.server import FORWARDED_ALLOW_IPS, proxy_options
from tests.review.html import csrf_token_in
from tests.review.pages import Site, serving

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
        assert "Zoë@b.org" in client.get("/", headers=as_named("zoë@B.org")).text
        assert client.cookies["review_session"] == session, "one session serves all requests"
        # The protection against other sites holds as for everybody.
        assert client.post("/next", headers=as_named("zoë@B.org")).status_code == 403

        # Somebody else at the same browser: the earlier session is over.
        assert ">anna<" in client.get("/", headers=as_named("anna")).text
        assert trusted.accounts.session(session) is None


def test_a_name_without_an_account_is_refused_in_a_sentence(trusted):
    trusted.accounts.disable("anna")
    for name in ("nobody", "anna", "<b>"):
        answer = httpx2.get(f"{trusted.address}/", headers=as_named(name))
        assert answer.status_code == 403
        assert "ask an administrator to add it" in answer.text and "<b>" not in answer.text
        assert "review_session" not in answer.cookies


@pytest.mark.parametrize("name", ["\uff41da", "ad\u00aa", "\U0001d4b6da"])
def test_a_name_that_differs_by_more_than_case_is_another_one(trusted, name):
    with httpx2.Client(base_url=trusted.address) as client:
        assert ">ada<" in client.get("/", headers=as_named("ADA")).text
        answer = client.get("/", headers=as_named(name))
        assert answer.status_code == 403
        assert "ask an administrator to add it" in answer.text


@pytest.mark.parametrize(
    "proxy",
    [None, sign_in_header(HEADER, ["10.0.0.0/8"]), sign_in_header("X-Other", ["127.0.0.1"])],
)
def test_nobody_else_is_believed(site, proxy):
    with serving(site, proxy) as served:
        for more in ({}, {"X-Forwarded-For": "10.0.0.1"}):
            answer = httpx2.get(f"{served.address}/", headers={**as_named("ada"), **more})
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
