"""Two servers of the review app on one database, each with stores of its own, as on two machines."""

from pathlib import Path

import pytest

from resources.images.store import ImageStore
from resources.review.accounts import Accounts
from resources.review.store import ReviewStore
from tests.resources.review.account_clock import CHEAP
from tests.review.http_people import browser, decide, opened, signed_in
from tests.review.pages import Site, dialogue, make_site

pytestmark = pytest.mark.slow


@pytest.fixture
def sites(tmp_path: Path) -> list[Site]:
    home = tmp_path / "home"
    first = make_site(home, "default: {annotators: 2}\n")
    path = first.store.path
    second = Site(ReviewStore(path), Accounts(path, hasher=CHEAP), ImageStore(home / "images"))
    return [first, second]


def test_what_one_was_told_the_other_knows(sites):
    one = dialogue(sites[0])
    sites[0].store.update_queue([one])
    url = f"/items/{one['item_id']}"
    here, there = signed_in(sites[0], "anna"), browser(sites[1])
    there.cookies, there.headers = here.cookies, here.headers

    data = opened(here, one["item_id"])
    assert opened(there, one["item_id"])["token"] == data["token"]
    draft = {"token": data["token"], "draft": {"note": "half done"}, "based_on": None}
    version = here.post(f"{url}/draft", json=draft).json()["version"]
    assert "half done" in there.get(url).text
    decided = decide(there, data, "accept", note="the ground is red", based_on=version).json()
    assert "the ground is red" not in signed_in(sites[0], "ben").get(url).text, "it is blind"
    back = here.post(f"{url}/take-back", data={"event_id": decided["event_id"]})
    assert back.status_code == 303 and "the ground is red" in there.get(url).text
    assert there.post("/logout").status_code == 303
    assert {each.get("/").status_code for each in (here, there)} == {303}
    ben = signed_in(sites[0], "ben")
    sites[1].accounts.disable("ben")
    assert ben.get("/").status_code == 303
