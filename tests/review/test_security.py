"""What a browser can and cannot do, signed in or not: through Starlette's own stack."""

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from review.security import local_path, refuse
from tests.review.guarded_app import (
    RIGHT,
    WRONG,
    browsers,
    session_of,
    signs_in,
    three_accounts,
    token_of,
)

POLICY = (
    "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)


@pytest.fixture
def accounts(tmp_path):
    return three_accounts(tmp_path / "review.sqlite")


@pytest.fixture
def browser(accounts):
    return browsers(accounts)


class TestSigningIn:
    def test_wrong_unknown_and_disabled_look_alike(self, browser, accounts):
        accounts.disable("eve")
        answers = [
            signs_in(browser(), "ann", WRONG),
            signs_in(browser(), "eve", RIGHT),
            signs_in(browser(), "nobody", RIGHT),
        ]

        assert len({(each.status_code, each.text) for each in answers}) == 1
        assert len({tuple(each.headers.keys()) for each in answers}) == 1
        assert not any("set-cookie" in each.headers for each in answers)

    def test_nobody_goes_on_with_a_token_that_was_there_before(self, browser, accounts):
        ann = browser()
        for planted in ("planted", accounts.begin_session("eve")):
            ann.cookies.set("review_session", planted, domain="testserver.local", path="/")
            page = "/" if planted != "planted" else "/login"
            data = {"name": "ann", "password": RIGHT, "csrf_token": token_of(ann, page)}

            assert ann.post("/login", data=data).status_code == 303
            assert session_of(ann) not in (None, planted)
            assert accounts.session(planted) is None
            assert accounts.session(session_of(ann)).name == "ann"
            ann.cookies.clear()


class TestCookies:
    def test_scripts_do_not_see_it_and_other_sites_do_not_send_it(self, browser):
        [cookie] = [
            each
            for each in signs_in(browser()).headers.get_list("set-cookie")
            if each.startswith("review_session=")
        ]
        parts = [part.strip().lower() for part in cookie.split(";")]

        assert {"httponly", "samesite=lax", "path=/", "max-age=1209600"} <= set(parts)  # 14 days
        assert "secure" not in parts and not any(part.startswith("domain") for part in parts)

    def test_under_https_it_is_for_https_and_this_host_alone(self, browser):
        ann = browser("https://testserver")
        cookies = signs_in(ann).headers.get_list("set-cookie")

        assert all(
            each.startswith("__Host-") and "; Secure" in each and "Path=/" in each
            for each in cookies
        )
        assert ann.get("/").status_code == 200

    def test_the_cookie_of_before_signing_in_is_dropped(self, browser):
        ann = browser()
        ann.get("/login")
        assert ann.cookies.get("review_visitor")
        signs_in(ann)

        assert dict(ann.cookies) == {"review_session": session_of(ann)}

    def test_signing_out_ends_the_session_and_drops_the_cookie(self, browser, accounts):
        ann = browser()
        signs_in(ann)
        token = session_of(ann)
        response = ann.post("/logout", data={"csrf_token": token_of(ann, "/")})

        assert response.headers["location"] == "/login"
        assert session_of(ann) is None
        assert accounts.session(token) is None
        ann.cookies.set("review_session", token)
        assert ann.get("/").status_code == 303

    @pytest.mark.parametrize("cookie", ["", "x", '"', "review", "é", "a" * 5000, "\\303"])
    def test_a_cookie_that_is_none_of_ours_is_nobody(self, browser, cookie):
        header = {"cookie": f"review_session={cookie}".encode()}

        assert browser().get("/", headers=header).status_code == 303


class TestGuard:
    @pytest.mark.parametrize(
        "name, statuses", [("ann", [200, 403, 403]), ("eve", [200, 200, 403]), ("ada", [200] * 3)]
    )
    def test_a_role_reaches_its_pages_and_those_below(self, browser, name, statuses):
        person = browser()
        signs_in(person, name)

        assert [person.get(page).status_code for page in ("/", "/experts", "/admins")] == statuses

    def test_a_role_too_low_is_told_so_in_a_sentence(self, browser):
        ann = browser()
        signs_in(ann)

        assert "<p>This page is for experts.</p>" in ann.get("/experts").text
        as_json = ann.get("/experts", headers={"accept": "application/json"})
        assert as_json.json() == {"error": "This page is for experts."}

    def test_who_is_not_signed_in_is_sent_to_sign_in_and_back(self, browser):
        ann = browser()
        sent = ann.get("/items/a%3F%20b?kind=dialogue&page=2").headers["location"]

        assert sent == "/login?next=%2Fitems%2Fa%253F%2520b%3Fkind%3Ddialogue%26page%3D2"
        back = signs_in(ann, next="/items/a%3F%20b?kind=dialogue&page=2").headers["location"]
        assert back == "/items/a%3F%20b?kind=dialogue&page=2"
        assert ann.get(back).status_code == 200

    def test_a_script_that_is_not_signed_in_is_told_so(self, browser):
        nobody = browser()
        token = {"X-CSRF-Token": token_of(nobody)}
        posted = nobody.post("/decide", json={}, headers=token)
        read = nobody.get("/", headers={"accept": "application/json"})

        assert (posted.status_code, posted.json()) == (401, {"error": "You are not signed in."})
        assert read.status_code == 401


@pytest.mark.parametrize(
    "path", ["/", "/items/a?b=/c//d&e=http://f", "/a%20b", "/%2F%2Fevil", "/字"]
)
def test_after_signing_in_one_goes_on_to_a_page_of_this_site(path):
    assert local_path(path) == path


@pytest.mark.parametrize(
    "elsewhere",
    [None, "", "items", "//evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example"]
    + ["/a\\b", "http://evil.example", "http:evil.example", "HTTPS://evil.example/", "//["]
    + ["javascript:alert(1)", " //evil.example", "/\t/evil.example", "/\n/evil.example"]
    + ["/\r\nSet-Cookie: a=b"],
)
def test_and_never_to_another_site(elsewhere):
    assert local_path(elsewhere) == "/"


class TestHeaders:
    @pytest.mark.parametrize(
        ("method", "page"),
        [("GET", page) for page in ("/", "/login", "/experts", "/nowhere", "/image", "/broken")]
        # Refused before the app sees it.
        + [("POST", "/decide")],
    )
    def test_every_answer_binds_the_browser(self, browser, method, page):
        headers = browser(raise_server_exceptions=False).request(method, page).headers

        assert headers["content-security-policy"] == POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"

    def test_an_image_may_say_that_it_is_kept(self, browser):
        ann = browser()
        signs_in(ann)

        assert ann.get("/image").headers["cache-control"] == "private, immutable"

    def test_a_fault_tells_nothing_of_the_machine(self, browser):
        response = browser(raise_server_exceptions=False).get("/broken")

        assert response.status_code == 500
        assert "<p>The server failed" in response.text
        assert "secret" not in response.text
        with pytest.raises(RuntimeError, match="secret"):  # but the server's log has it
            browser().get("/broken")

    def test_a_sentence_is_escaped(self):
        page = refuse(Request({"type": "http", "headers": []}), HTTPException(400, "<b>&"))

        assert b"<p>&lt;b&gt;&amp;</p>" in page.body
