"""The image index: what was fetched is known for good, whoever fetched it and whatever happens next."""

from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.exc import IntegrityError

from resources.images.index import FetchedImage, ImageIndex, ImageIndexEntry
from resources.images.store import FileState

pytestmark = [pytest.mark.usefixtures("stores_on"), pytest.mark.slow]

IMAGE, OTHER = "a" * 64, "b" * 64
FACTS = {"mime_type": "image/png", "width": 3, "height": 2, "blur": 0.5, "title": "où 字"}


@pytest.fixture
def index(tmp_path):
    with closing(ImageIndex(tmp_path / "not" / "there" / "index.sqlite")) as index:
        yield index


def url(number: int) -> str:
    return f"https://upload.wikimedia.org/wikipedia/commons/{number}/O'wl_%C3%A9.png"


def rows(numbers) -> list[FetchedImage]:
    return [FetchedImage(url(number), f"{number:064x}", {"n": number}) for number in numbers]


def test_what_was_recorded_is_known_with_when_and_where_it_was_fetched(index):
    mirror, digest = "http://mirror.example.org/1.png", "ab" * 20
    fetched = [FetchedImage(url(1), IMAGE, FACTS, mirror, digest), FetchedImage(url(2), OTHER, {})]
    index.record(fetched)

    known = index.entries([url(1), url(2), url(3)])
    at = known[url(2)].fetched_at
    assert known == {
        url(1): ImageIndexEntry(IMAGE, FACTS, at, mirror, digest),
        url(2): ImageIndexEntry(OTHER, {}, at, None, None),
    }
    age = datetime.now(UTC) - datetime.fromisoformat(at)
    assert timedelta(0) <= age < timedelta(minutes=1)
    with closing(ImageIndex(index.path)) as again:
        assert again.entries([url(1), url(2)]) == known


def test_any_number_of_addresses_is_known_and_the_states_in_which_files_were_found_whole(index):
    index.record(rows(range(1203)))
    found = index.entries(url(number) for number in range(1500))
    known = {address: entry.facts["n"] for address, entry in found.items()}
    assert known == {url(number): number for number in range(1203)}

    states = {f"{number:064x}": FileState(number, 10**18 + number, 7) for number in range(1203)}
    index.record_verified(states)
    index.record_verified({IMAGE: FileState(1, 2, 3)})
    index.record_verified({IMAGE: FileState(1, 2, 4)})
    assert index.verified([*states, IMAGE, OTHER]) == {**states, IMAGE: FileState(1, 2, 4)}


def test_what_an_address_gave_last_stands(index):
    index.record([])
    assert index.entries([url(1)]) == index.entries([]) == {}
    index.record([FetchedImage(url(1), IMAGE, FACTS)])
    index.record([FetchedImage(url(1), IMAGE, FACTS), FetchedImage(url(2), IMAGE, {})])
    assert index.entries([url(1)])[url(1)][:2] == (IMAGE, FACTS)

    index.record([FetchedImage(url(1), IMAGE, {"old": 1}), FetchedImage(url(1), OTHER, {"new": 1})])
    assert index.entries([url(1)])[url(1)][:2] == (OTHER, {"new": 1})


def test_a_row_that_lacks_something_is_refused_with_all_of_its_batch(index):
    index.record(rows([5]))
    for bad in ((url(1), IMAGE, {"x": float("nan")}), (url(1), None, {}), (None, IMAGE, {})):
        with pytest.raises((ValueError, IntegrityError)):
            index.record([*rows([2, 3]), FetchedImage(*bad)])
    assert set(index.entries(map(url, range(6)))) == {url(5)}
