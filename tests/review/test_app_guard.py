"""No page of the app forgets to ask who it is shown to, nor whether a form came from it."""

import pytest
from starlette.routing import Route
from starlette.testclient import TestClient

from resources.images.store import ImageStore
from resources.review.store import ReviewStore
from review.app import create_app
from tests.review.guarded_app import RIGHT, WRONG, signs_in, three_accounts, token_of
from tests.review.html import sign_in_address

HERE = "http://127.0.0.1:8090"
FOR_ALL = {"/login", "/link/{token}", "/logout", "/language/{language}"}


@pytest.fixture
def app(tmp_path):
    path = tmp_path / "review.sqlite"
    return create_app(ReviewStore(path), three_accounts(path), ImageStore(tmp_path / "images"))


@pytest.fixture
def routes(app):
    """(method, path) of every route, but for the static files."""
    return [
        (method, route.path)
        for route in app.routes
        if isinstance(route, Route)
        for method in route.methods - {"HEAD"}
    ]


def ask(app, method, path, **options):
    browser = TestClient(app, HERE, follow_redirects=False)
    token = {"X-CSRF-Token": token_of(browser)}
    return browser.request(method, path.replace("{", "").replace("}", ""), headers=token, **options)


def test_who_is_not_signed_in_sees_the_pages_for_signing_in_alone(app, routes):
    guarded = [(method, path) for method, path in routes if path not in FOR_ALL]
    answers = {(method, path): ask(app, method, path) for method, path in guarded}

    assert len(answers) > 8
    assert {key for key, each in answers.items() if each.status_code not in (303, 401)} == set()
    assert all(
        each.headers["location"].startswith("/login?next=%2F")
        for each in answers.values()
        if each.status_code == 303
    )
    assert not any(
        each.status_code == 303 for (method, _), each in answers.items() if method == "POST"
    )


def test_what_changes_something_needs_the_token(app, routes):
    browser = TestClient(app, HERE, follow_redirects=False)
    signs_in(browser, "ada")
    posts = [path.replace("{", "").replace("}", "") for method, path in routes if method == "POST"]

    assert len(posts) > 5
    assert {path: browser.post(path).status_code for path in posts} == dict.fromkeys(posts, 403)


def test_who_signs_in_comes_to_the_page_they_asked_for(app):
    browser = TestClient(app, HERE, follow_redirects=False)
    asked = browser.get("/?kind=dialogue").headers["location"]
    form = browser.get(asked)
    action = sign_in_address(form.text)

    # A password that is wrong once does not lose the way.
    for password in (WRONG, RIGHT):
        answer = browser.post(
            action,
            data={"name": "ada", "password": password, "csrf_token": token_of(browser)},
        )
        action = sign_in_address(answer.text) or action

    assert (answer.status_code, answer.headers["location"]) == (303, "/?kind=dialogue")


def test_the_form_leads_to_no_other_site(app):
    form = TestClient(app, HERE).get("/login", params={"next": "//evil.example"})
    assert sign_in_address(form.text) == "/login?next=/"


def test_pages_of_other_sites_are_refused_before_an_account_is_looked_up(app):
    browser = TestClient(app, HERE, follow_redirects=False)
    signs_in(browser, "ada")
    answer = browser.get("/accounts", headers={"Origin": "http://127.0.0.1:8091"})
    assert (answer.status_code, answer.headers.get("set-cookie")) == (403, None)


def test_a_sign_in_link_has_the_address_that_is_set(app, monkeypatch):
    monkeypatch.setenv("LOOM_REVIEW", "https://review.example.org, http://review:8090")
    browser = TestClient(app, HERE, follow_redirects=False)
    signs_in(browser, "ada")
    form = {"action": "link", "name": "ann", "csrf_token": token_of(browser, "/accounts")}
    page = browser.post("/accounts", data=form, headers={"Host": "review:8090"})
    assert "https://review.example.org/link/" in page.text


@pytest.mark.parametrize("path", ["/login", "/logout"])
def test_a_visitors_form_with_a_file_is_not_written_to_disk(app, path):
    browser = TestClient(app, HERE, follow_redirects=False)
    token = {"X-CSRF-Token": token_of(browser)}
    response = browser.post(path, files={"name": b"x" * 100_000}, headers=token)
    assert (response.status_code, "too long" in response.text) == (413, True)
