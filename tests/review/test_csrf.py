"""What other sites cannot do in the name of who is signed in: through Starlette's own stack."""

import pytest

from tests.review.guarded_app import RIGHT, browsers, signs_in, three_accounts, token_of


@pytest.fixture
def accounts(tmp_path):
    return three_accounts(tmp_path / "review.sqlite")


@pytest.fixture
def browser(accounts):
    return browsers(accounts)


@pytest.fixture
def ann(browser):
    ann = browser()
    signs_in(ann)
    return ann


def test_with_its_token_a_script_and_a_form_are_heard(ann):
    token = token_of(ann, "/")
    by_script = ann.post("/decide", json={"verdict": "accept"}, headers={"X-CSRF-Token": token})
    by_form = ann.post("/note", data={"note": "Où? 字", "csrf_token": token})

    assert by_script.json() == {"got": {"verdict": "accept"}}
    assert by_form.text == "Où? 字"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_without_it_nothing_is(ann, method):
    assert ann.request(method, "/decide", json={}).status_code == 403
    assert ann.post("/note", data={"note": "n"}).status_code == 403
    assert ann.post("/note", data={"note": "n", "csrf_token": ""}).status_code == 403
    assert ann.post("/note", files={"csrf_token": "x"}).status_code == 403
    assert ann.post("/note", headers={"X-CSRF-Token": "é".encode()}).status_code == 403


def test_another_sessions_token_is_not_taken_nor_the_one_of_before_signing_in(browser):
    ann, eve = browser(), browser()
    before = token_of(ann)
    signs_in(ann)
    signs_in(eve, "eve")
    for token in (before, token_of(eve, "/"), token_of(browser())):
        response = ann.post("/decide", json={}, headers={"X-CSRF-Token": token})

        assert response.status_code == 403
        said = "This request did not come from a page of this site"
        assert response.json()["error"].startswith(said)


def test_signing_in_needs_one_too(browser):
    data = {"name": "ann", "password": RIGHT}
    other = token_of(browser())

    assert browser().post("/login", data=data).status_code == 403
    assert browser().post("/login", data=data | {"csrf_token": other}).status_code == 403


def test_a_form_has_an_end(ann):
    data = {"note": "x" * 70_000, "csrf_token": token_of(ann, "/")}
    long = {"text": "x" * 70_000}

    assert ann.post("/note", data=data).status_code == 413
    by_script = ann.post("/decide", json=long, headers={"X-CSRF-Token": data["csrf_token"]})
    assert by_script.json() == {"got": long}
