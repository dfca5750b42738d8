"""The lead's page over HTTP: for administrators, live, exported."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from methods.spreadsheet_cells import unmarked_rows
from review.pages import lead
from tests.review.pages import Site, decide, dialogue, has_inline_code, make_site, opened, signed_in


def queued(home: Path, rules: str) -> Site:
    site = make_site(home, rules)
    site.store.update_queue([dialogue(site, f"number {number}") for number in range(3)])
    return site


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return queued(tmp_path / "home", "default: {annotators: 2, expert: disagreement}\n")


def cells(html: str, selector: str) -> list[str]:
    return [" ".join(each.text().split()) for each in LexborHTMLParser(html).css(selector)]


def test_the_lead_sees_who_did_what_and_others_do_not(site, monkeypatch):
    one = site.store.items()[0]["item_id"]
    anna, ben, ada = (signed_in(site, name) for name in ("anna", "ben", "ada"))
    assert "Nobody has decided anything yet." in ada.get("/lead").text
    decide(anna, opened(anna, one), "accept", seconds=30)
    decide(ben, opened(ben, one), "reject", reason="incomplete", seconds=50)

    page = ada.get("/lead").text
    assert cells(page, "#people tbody th") == ["anna", "ben"]
    assert cells(page, "#people tbody tr:first-child td")[:5] == ["1", "0", "0", "0", "30 s"]
    assert "number 0" in page and cells(page, "#disputes .vote") == ["anna Accept", "ben Reject"]
    assert not has_inline_code(page)
    figures = ada.get("/lead.json").json()
    assert [person["reviewer"] for person in figures["people"]] == ["anna", "ben"]
    read = csv.reader(io.StringIO(ada.get("/lead.csv").text.removeprefix("\ufeff")))
    header, row, _ = unmarked_rows(list(read))
    assert dict(zip(header, row, strict=True)) | {"day": ""} == {
        **{"day": "", "reviewer": "anna", "kind": "dialogue", "round": "1"},
        **{"n_decisions": "1", "n_skipped": "0", "median_seconds": "30.0"},
    }
    for reader in (anna, signed_in(site, "eva")):
        for path in ("/lead", "/lead.csv", "/lead.json"):
            assert reader.get(path).status_code == 403
        for path in ("/lead/release", "/lead/assign", "/lead/gold"):
            assert reader.post(path, data={"name": "ben", "n": "1"}).status_code == 403
    # Of nine weeks the last eight are shown.
    figures = ada.app.state.figures.current()
    weeks = [row | {"week": f"2026-0{n}-05"} for row in figures.weeks for n in range(1, 10)]
    monkeypatch.setattr(ada.app.state.figures, "current", lambda: replace(figures, weeks=weeks))
    shown = cells(ada.get("/lead").text, "[aria-labelledby=weeks-title] time")
    assert shown == [f"0{n}-05" for n in range(2, 10)]


def test_a_hold_is_released(site):
    anna, ada = signed_in(site, "anna"), signed_in(site, "ada")
    item_id = site.store.items()[0]["item_id"]
    data = opened(anna, item_id)
    assert cells(ada.get("/lead").text, "#holds tbody th") == ["anna"]
    form = {"item_id": item_id, "annotator": "anna"}
    assert ada.post("/lead/release", data=form).headers["location"] == "/lead?released=1#holds"
    assert "The item is free again." in ada.get("/lead?released=1").text
    assert decide(anna, data, "accept").status_code == 409
    assert ada.post("/lead/release", data=form).status_code == 404


def test_items_are_assigned_and_the_assignment_ends(site):
    ada = signed_in(site, "ada")
    form = {"name": "anna", "kind": "dialogue", "bucket": "", "share": "100"}
    assert ada.post("/lead/assign", data=form).headers["location"] == "/lead#assignments"
    [told] = site.store.assignments()
    assert (told.assignment.annotator, told.n_open, told.made_by) == ("anna", 3, "ada")
    site.accounts.disable("ben")
    page = ada.get("/lead").text
    assert 'value="anna"' in page and 'value="ben"' not in page
    assert cells(page, "#assignments tbody td")[:4] == ["Dialogue", "any", "100 %", "0 0 / 3"]
    assert not cells(page, "#assignments .notice li")
    for name, value in (
        *(("name", "nobody"), ("name", "ben"), ("kind", "poem")),
        *(("share", "0"), ("share", "101"), ("share", "abc")),
        *(("share", "9" * 5000), ("bucket", "17"), ("bucket", "9" * 5000)),
    ):
        assert ada.post("/lead/assign", data={**form, name: value}).status_code == 422
    other = {**form, "kind": "", "bucket": "3", "share": "50"}
    assert ada.post("/lead/assign", data=other).status_code == 303
    [said] = cells(ada.get("/lead").text, "#assignments .notice li")
    assert said.startswith("anna, any kind, Bucket 3, 50 %:") and "by an earlier assignment" in said
    for number, code in (("1", 303), ("2", 303), ("1", 404), ("9" * 5000, 404)):
        assert ada.post("/lead/assign", data={"end": number}).status_code == code
    assert site.store.assignments() == []


def test_gold_is_made_and_a_new_annotator_begins_with_it(tmp_path, monkeypatch):
    rules = "default: {expert: all}\ncalibration: {items: 1, hits: 1}\n"
    site = queued(tmp_path / "gold", rules)
    anna, ben, eva, ada = (signed_in(site, name) for name in ("anna", "ben", "eva", "ada"))
    one = anna.post("/next").headers["location"].removeprefix("/items/")
    decide(anna, opened(anna, one), "accept")
    decide(eva, opened(eva, one), "accept")
    assert "Experts have decided no further item" not in ada.get("/lead").text
    # Figures that take long are kept for a time, but not after gold was made.
    monkeypatch.setattr(lead, "QUICK_SECONDS", 0.0)
    monkeypatch.setattr(lead, "TIMES", 1e9)
    figures = ada.app.state.figures
    assert figures.current() is figures.current()
    assert ada.post("/lead/gold", data={"n": "5"}).status_code == 303
    assert ada.post("/lead/gold", data={"n": "x"}).status_code == 422

    assert "You begin with a calibration round" in ben.get("/").text
    address = ben.post("/next").headers["location"]
    assert address.removeprefix("/items/") not in {item["item_id"] for item in site.store.items()}
    page = ben.get(address)
    # To whom a comment may go is no sign of who decided.
    page_but_names, names, _ = page.text.partition("<option>anna</option>")
    assert page.status_code == 200 and names
    assert "anna" not in page_but_names and "eva" not in page_but_names
    answer = decide(ben, opened(ben, address.removeprefix("/items/")), "accept")
    assert answer.json()["next"] == f"/items/{site.store.items()[2]['item_id']}"
    assert cells(ada.get("/lead").text, "#gold tbody td")[:1] == ["1 / 1"]
