"""A gold item cannot be told from other items in the app."""

import re

import pytest

from resources.review.gold import gold_id_of
from review.pages.frame import texts
from tests.review.pages import decide, dialogue, make_site, opened, signed_in

pytestmark = pytest.mark.slow

SAYS = texts("en")


@pytest.fixture
def site(tmp_path):
    """Two items that ben and eva decided, a gold copy of each, and four open items."""
    site = make_site(tmp_path, "gold: 0.5")
    items = [dialogue(site, name) for name in ("one", "two", "three", "four", "five", "six")]
    site.store.update_queue(items)
    ben, eva = signed_in(site, "ben"), signed_in(site, "eva")
    for _ in range(2):
        item_id = ben.post("/next").headers["location"].removeprefix("/items/")
        for client in (ben, eva):
            assert decide(client, opened(client, item_id), "accept").status_code == 200
    assert site.store.make_gold(2, "ada") == 2
    return site


def general(html: str) -> str:
    """A page without the words, ids, times and tokens of its item, and without the last decision."""
    html = re.sub(r"<form [^>]*take-back.*?</form>\s*", "", html, flags=re.DOTALL)
    words = (
        "one|two|three|four|five|six",
        '"token": "[^"]*"',
        r"[0-9a-f]{8,}",
        r"\d\d:\d\d[\d:.]*",
        'value="[^"]*"',
    )
    return re.sub("|".join(words), "…", html)


def test_pages_of_gold_items_are_those_of_other_items(site):
    anna = signed_in(site, "anna")
    gold = {row["item_id"] for row in site.store.gold()}
    originals = [row["of_item"] for row in site.store.gold()]
    pages: dict[bool, set[str]] = {True: set(), False: set()}
    decided: list[str] = []
    while (address := anna.post("/next").headers["location"]) != "/?notice=queue.nothing_left":
        item_id = address.removeprefix("/items/")
        pages[item_id in gold].add(general(anna.get(address).text))
        decided.append(item_id)
        assert decide(anna, opened(anna, item_id), "accept").status_code == 200
    assert pages[True] and len(decided) > 4
    assert len(pages[True] | pages[False]) == 1

    # An expert decides on the items that are not gold.
    eva = signed_in(site, "eva")
    for item_id in decided:
        if item_id not in gold:
            assert decide(eva, opened(eva, item_id), "accept").is_success
    first_page = anna.get("/").text
    listed = re.findall("/history/([0-9a-f]+)", first_page)
    assert listed == decided[::-1] and "<progress" not in first_page
    histories = set()
    for item_id in decided:
        assert anna.get(f"/items/{item_id}").headers["location"] == f"/history/{item_id}"
        histories.add(general(anna.get(f"/history/{item_id}").text))
    assert len(histories) == 1
    for item_id in originals:
        for address in (f"/history/{item_id}", anna.get(f"/items/{item_id}").headers["location"]):
            answer = anna.get(address)
            assert answer.status_code == 403 and SAYS["item.of_others"] in answer.text
    # Words of an original are not searched.
    searched = anna.get("/?text=one&status=approved&reviewer=eva").text
    assert re.findall("/history/([0-9a-f]+)", searched) == listed
    assert [eva.get("/").text.count(f"/items/{item_id}") for item_id in originals] == [1, 1]


def test_no_list_shows_before_the_first_gold_item_what_is_none(tmp_path):
    site = make_site(tmp_path, "gold: 0.1")
    one = dialogue(site)
    site.store.update_queue([one])
    anna = signed_in(site, "anna")
    assert f"/items/{one['item_id']}" not in anna.get("/").text
    # Nobody learns by a comment which ids there are.
    for item_id in (one["item_id"], "none"):
        answer = anna.post(f"/items/{item_id}/comments", data={"text": "So."})
        assert answer.status_code == anna.get(f"/history/{item_id}").status_code == 403
    assert site.store.comments() == []


def test_a_gold_item_has_an_id_like_its_original():
    for suffix in ("", "-task"):
        gold_id = gold_id_of({"item_id": "0" * 20 + suffix, "content_hash": "h"})
        assert re.fullmatch(f"[0-9a-f]{{20}}{suffix}", gold_id)


@pytest.mark.parametrize("verdict", ["accept", "reject"])
def test_no_item_is_opened_by_its_address_but_those_in_work(site, verdict):
    """An own rejected item could be worked on again, and a gold item could not."""
    anna = signed_in(site, "anna")
    for _ in range(4):
        item_id = anna.post("/next").headers["location"].removeprefix("/items/")
        data = opened(anna, item_id)
        anna.post(data["urls"]["unlock"], json={"token": data["token"]})
        unlocked = anna.get(anna.get(f"/items/{item_id}").headers["location"])
        assert unlocked.status_code == 403
        assert anna.post("/next").headers["location"] == f"/items/{item_id}"
        decide(anna, opened(anna, item_id), verdict, reason="incomplete")
        assert anna.get(f"/items/{item_id}").headers["location"] == f"/history/{item_id}"
