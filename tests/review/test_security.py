"""What a browser can and cannot do with the app, signed in or not."""

from unittest.mock import Mock

import pytest
from starlette.routing import Route
from starlette.testclient import TestClient

from resources.review.store import ReviewStore
from review.app import create_app
from review.security import local_path
from tests.resources.review.account_clock import RIGHT, WRONG
from tests.review.pages import PEOPLE, csrf_token_in, sign_in_address

HERE = "http://127.0.0.1:8090"
FOR_ALL = {"/login", "/link/{token}", "/logout", "/language/{language}"}
POLICY = (
    "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)


@pytest.fixture
def accounts(site):
    """One of each role, all with the password RIGHT."""
    for name in PEOPLE:
        site.accounts.set_password(name, RIGHT)
    return site.accounts


@pytest.fixture
def app(site, accounts):
    return create_app(site.store, accounts, site.images)


@pytest.fixture
def visit(app):
    """Makes browsers, each with cookies of its own."""

    def make(base_url=HERE, **options):
        return TestClient(app, base_url, follow_redirects=False, **options)

    return make


@pytest.fixture
def ann(visit):
    ann = visit()
    signs_in(ann)
    return ann


@pytest.fixture
def routes(app):
    """(method, path) of every route, but for the static files."""
    return [
        (method, route.path.replace("{", "").replace("}", ""))
        for route in app.routes
        if isinstance(route, Route) and route.path not in FOR_ALL
        for method in route.methods - {"HEAD"}
    ]


def token_of(browser, page="/login"):
    return csrf_token_in(browser.get(page).text)


def signs_in(browser, name="anna", password=RIGHT):
    data = {"name": name, "password": password, "csrf_token": token_of(browser)}
    return browser.post("/login", data=data)


def session_of(browser):
    return browser.cookies.get("review_session")


class TestSigningIn:
    def test_wrong_unknown_and_disabled_look_alike(self, visit, accounts):
        accounts.disable("eva")
        browser, answers = visit(), []
        for name, password in (("anna", WRONG), ("eva", RIGHT), ("nobody", RIGHT)):
            answer = signs_in(browser, name, password)
            text = answer.text.replace(f'value="{name}"', "")
            answers.append((answer.status_code, tuple(answer.headers.keys()), text))

        assert answers[0][0] == 401 and len({(code, text) for code, _, text in answers}) == 1
        assert len({names for _, names, _ in answers}) == 1
        assert "set-cookie" not in answers[0][1]

    def test_nobody_goes_on_with_a_token_that_was_there_before(self, visit, accounts):
        ann = visit()
        for planted, page in (("planted", "/login"), (accounts.begin_session("eva"), "/")):
            ann.cookies.set("review_session", planted, domain="127.0.0.1", path="/")
            data = {"name": "anna", "password": RIGHT, "csrf_token": token_of(ann, page)}

            assert ann.post("/login", data=data).status_code == 303
            assert session_of(ann) not in (None, planted)
            assert accounts.session(planted) is None
            assert accounts.session(session_of(ann)).name == "anna"
            ann.cookies.clear()

    def test_who_signs_in_comes_to_the_page_they_asked_for(self, visit):
        browser = visit()
        form = browser.get("/login", params={"next": "//evil.example"})
        assert sign_in_address(form.text) == "/login?next=/"
        asked = browser.get("/items/a%3F%20b?kind=dialogue&page=2").headers["location"]
        assert asked == "/login?next=%2Fitems%2Fa%253F%2520b%3Fkind%3Ddialogue%26page%3D2"
        action = sign_in_address(browser.get(asked).text)

        # A password that is wrong once does not lose the way.
        for password in (WRONG, RIGHT):
            data = {"name": "ada", "password": password, "csrf_token": token_of(browser)}
            answer = browser.post(action, data=data)
            action = sign_in_address(answer.text) or action

        assert answer.status_code == 303
        assert answer.headers["location"] == "/items/a%3F%20b?kind=dialogue&page=2"

    def test_a_sign_in_link_has_the_address_that_is_set(self, visit, monkeypatch):
        monkeypatch.setenv("LOOM_REVIEW", "https://review.example.org, http://review:8090")
        ada = visit()
        signs_in(ada, "ada")
        form = {"action": "link", "name": "anna", "csrf_token": token_of(ada, "/accounts")}
        page = ada.post("/accounts", data=form, headers={"Host": "review:8090"})
        assert "https://review.example.org/link/" in page.text


def test_after_signing_in_one_goes_on_to_a_page_of_this_site_and_never_to_another():
    for path in ("/", "/items/a?b=/c//d&e=http://f", "/a%20b", "/%2F%2Fevil", "/字"):
        assert local_path(path) == path
    for elsewhere in (
        *(None, "", "items", "//evil.example", "/\\evil.example", "\\\\evil.example", "/a\\b"),
        *("http://evil.example", "http:evil.example", "HTTPS://evil.example/", "//["),
        *("javascript:alert(1)", " //evil.example", "/\t/evil.example", "/\n/evil.example"),
        "/\r\nSet-Cookie: a=b",
    ):
        assert local_path(elsewhere) == "/", elsewhere


class TestCookies:
    def test_scripts_do_not_see_it_and_other_sites_do_not_send_it(self, visit):
        cookies = signs_in(visit()).headers.get_list("set-cookie")
        [cookie] = [each for each in cookies if each.startswith("review_session=")]
        parts = [part.strip().lower() for part in cookie.split(";")]

        assert {"httponly", "samesite=lax", "path=/", "max-age=1209600"} <= set(parts)  # 14 days
        assert "secure" not in parts and not any(part.startswith("domain") for part in parts)

    def test_under_https_it_is_for_https_and_this_host_alone(self, visit):
        ann = visit(HERE.replace("http", "https"))
        for cookie in signs_in(ann).headers.get_list("set-cookie"):
            assert cookie.startswith("__Host-") and "; Secure" in cookie and "Path=/" in cookie
        assert ann.get("/").status_code == 200

    def test_cookies_of_others_are_nobody_and_not_unquoted_which_takes_seconds(
        self, ann, visit, monkeypatch
    ):
        monkeypatch.setattr("http.cookies._unquote", Mock(side_effect=AssertionError))
        cookies = f'other="\\"\\""; review_session={session_of(ann)}; language=zh'
        ann.cookies.clear()
        assert ann.get("/", headers={"cookie": cookies}).status_code == 200
        # One that is not ours is nobody.
        for cookie in ("", "x", '"', "é", "a" * 5000, "\\303"):
            header = {"cookie": f"review_session={cookie}".encode()}
            assert visit().get("/", headers=header).status_code == 303

    def test_signing_out_ends_the_session_and_drops_the_cookie(self, ann, accounts):
        token = session_of(ann)
        assert dict(ann.cookies) == {"review_session": token}, "that of a visitor is dropped"
        response = ann.post("/logout", data={"csrf_token": token_of(ann, "/")})

        assert response.headers["location"] == "/login"
        assert session_of(ann) is None
        assert accounts.session(token) is None
        ann.cookies.set("review_session", token)
        assert ann.get("/").status_code == 303


class TestGuard:
    def test_who_is_not_signed_in_sees_the_pages_for_signing_in_alone(self, visit, routes):
        browser = visit()
        token, as_json = {"X-CSRF-Token": token_of(browser)}, {"accept": "application/json"}
        assert len(routes) > 8
        for method, path in routes:
            if method == "POST":
                answer = browser.post(path, json={}, headers=token)
                assert answer.status_code == 401, path
                assert answer.json() == {"error": "You are not signed in."}, path
            else:
                location = browser.get(path).headers["location"]
                assert location.startswith("/login?next=%2F"), path
                assert browser.get(path, headers=as_json).status_code == 401, path

    def test_a_role_too_low_is_told_so_and_other_sites_are_refused_before_any(self, visit):
        said = "This page is for administrators."
        for name, code in (("anna", 403), ("eva", 403), ("ada", 200)):
            person = visit()
            signs_in(person, name)
            page = person.get("/accounts")
            as_json = person.get("/accounts", headers={"accept": "application/json"})
            assert person.get("/").status_code == 200
            assert page.status_code == as_json.status_code == code
            assert (said in page.text) is (code == 403)
            assert code == 200 or as_json.json() == {"error": said}
        answer = person.get("/accounts", headers={"Origin": "http://127.0.0.1:8091"})
        assert (answer.status_code, answer.headers.get("set-cookie")) == (403, None)


class TestTokens:
    """What other sites cannot do in the name of who is signed in."""

    def test_what_changes_something_needs_one(self, ann, routes):
        posts = [path for method, path in routes if method == "POST"]
        assert len(posts) > 5
        for path in [*posts, "/logout"]:
            assert ann.post(path).status_code == 403, path
            assert ann.put(path, json={}).status_code == 403, path
        for sent in (
            {"data": {"name": "anna"}},
            {"data": {"csrf_token": ""}},
            {"files": {"csrf_token": "x"}},
            {"headers": {"X-CSRF-Token": "é".encode()}},
        ):
            assert ann.post("/logout", **sent).status_code == 403, sent

    def test_another_sessions_is_not_taken_nor_the_one_of_before_signing_in(self, visit):
        ann, eve = visit(), visit()
        before, other = token_of(ann), token_of(visit())
        data = {"name": "anna", "password": RIGHT}
        for refused in (data, data | {"csrf_token": other}):
            assert ann.post("/login", data=refused).status_code == 403
        signs_in(ann)
        signs_in(eve, "eva")
        for token in (before, token_of(eve, "/"), other):
            response = ann.post("/next", json={}, headers={"X-CSRF-Token": token})
            assert response.status_code == 403
            said = "This request did not come from a page of this site"
            assert response.json()["error"].startswith(said)

    def test_a_form_has_an_end_and_what_a_script_sends_has_not(self, ann, visit):
        token = token_of(ann, "/")
        form = {"text": "x" * 70_000, "csrf_token": token}
        assert ann.post("/items/none/comments", data=form).status_code == 413
        draft = {"draft": {"note": form["text"]}}
        by_script = ann.post("/items/none/draft", json=draft, headers={"X-CSRF-Token": token})
        assert by_script.status_code == 409
        # A visitor's form with a file is not written to disk.
        visitor = visit()
        token = {"X-CSRF-Token": token_of(visitor)}
        response = visitor.post("/login", files={"name": b"x" * 100_000}, headers=token)
        assert (response.status_code, "too long" in response.text) == (413, True)


class TestHeaders:
    @pytest.mark.parametrize(
        ("method", "page"),
        [("GET", "/"), ("GET", "/login"), ("GET", "/nowhere"), ("POST", "/next")],
    )
    def test_every_answer_binds_the_browser(self, visit, method, page):
        headers = visit().request(method, page).headers

        assert headers["content-security-policy"] == POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"

    def test_a_fault_tells_nothing_of_the_machine(self, visit, monkeypatch):
        ann = visit(raise_server_exceptions=False)
        signs_in(ann)

        def broken(*_, **__):
            raise RuntimeError("secret of the machine")

        monkeypatch.setattr(ReviewStore, "page", broken)
        response = ann.get("/")

        assert response.status_code == 500
        assert "The server failed" in response.text and "secret" not in response.text
        assert response.headers["content-security-policy"] == POLICY
        heard = visit(cookies=ann.cookies)
        with pytest.raises(RuntimeError, match="secret"):  # but the server's log has it
            heard.get("/")
