"""The lead's page over HTTP: for administrators, live, exported."""

import csv
import io
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from methods.spreadsheet_cells import unmarked_rows
from tests.review.html import has_inline_code
from tests.review.pages import Site, dialogue, make_site
from tests.review.test_app import decide, opened, signed_in


@pytest.fixture
def site(tmp_path: Path) -> Site:
    site = make_site(tmp_path / "home", "default: {annotators: 2, expert: disagreement}\n")
    site.store.update_queue([dialogue(site, f"number {number}") for number in range(3)])
    return site


def cells(html: str, selector: str) -> list[str]:
    return [" ".join(each.text().split()) for each in LexborHTMLParser(html).css(selector)]


def test_the_lead_sees_who_did_what_and_others_do_not(site: Site) -> None:
    one = site.store.items()[0]["item_id"]
    anna, ben, ada = (signed_in(site, name) for name in ("anna", "ben", "ada"))
    assert "Nobody has decided anything yet." in ada.get("/lead").text
    decide(anna, opened(anna, one), "accept", seconds=30)
    decide(ben, opened(ben, one), "reject", reason="incomplete", seconds=50)

    page = ada.get("/lead").text
    assert cells(page, ".days tbody th") == ["anna", "ben"]
    assert cells(page, ".days tbody tr:first-child td")[:5] == ["1", "0", "0", "0", "30 s"]
    assert "number 0" in page and cells(page, "#disputes .vote") == ["anna Accept", "ben Reject"]
    assert not has_inline_code(page)
    for reader in (anna, signed_in(site, "eva")):
        for path in ("/lead", "/lead.csv", "/lead.json"):
            assert reader.get(path).status_code == 403
        form = {"item_id": one, "annotator": "ben"}
        assert reader.post("/lead/release", data=form).status_code == 403


def test_a_hold_is_released(site: Site) -> None:
    anna, ada = signed_in(site, "anna"), signed_in(site, "ada")
    item_id = site.store.items()[0]["item_id"]
    data = opened(anna, item_id)
    assert cells(ada.get("/lead").text, "#holds tbody th") == ["anna"]
    form = {"item_id": item_id, "annotator": "anna"}
    assert ada.post("/lead/release", data=form).headers["location"] == "/lead?released=1#holds"
    assert "The item is free again." in ada.get("/lead?released=1").text
    assert decide(anna, data, "accept").status_code == 409
    assert ada.post("/lead/release", data=form).status_code == 404


def test_figures_are_exported(site: Site) -> None:
    site.accounts.add("zoe", "annotator")
    anna, ada = signed_in(site, "anna"), signed_in(site, "ada")
    decide(anna, opened(anna, site.store.items()[0]["item_id"]), "accept", seconds=12)

    figures = ada.get("/lead.json").json()
    assert figures["forecast"]["needed"] == {"1": 5, "2": 0}
    assert [person["reviewer"] for person in figures["people"]] == ["anna"]
    held = [hold["annotator"] for hold in figures["holds"]]
    assert held == ["anna"], "the next item, which she was given"

    read = csv.reader(io.StringIO(ada.get("/lead.csv").text.removeprefix("\ufeff")))
    header, row = unmarked_rows(list(read))
    assert dict(zip(header, row, strict=True)) | {"day": ""} == {
        **{"day": "", "reviewer": "anna", "kind": "dialogue", "round": "1"},
        **{"n_decisions": "1", "n_skipped": "0", "median_seconds": "12.0"},
    }
