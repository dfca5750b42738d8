"""Bringing a home's stores and files to what machines share, and back: nothing is lost or doubled."""

import itertools
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from methods.errors import UserError
from resources.files import home
from resources.files.object_storage import shared_files
from resources.images.index import FetchedImage, ImageIndex
from resources.images.store import open_images
from resources.migrations import StoreError
from resources.review.store import ReviewStore
from resources.stores import copies
from resources.stores.address import shown_database
from resources.stores_of_home import SQLITE, bring_home_up_to_date
from resources.upkeep.moving import move
from tests.doubles.one_colour import one_colour
from tests.resources.folder_content import everything
from tests.resources.review.review_queue import queue, verdict

pytestmark = pytest.mark.slow

N_ITEMS, N_ADDRESSES = 30, 2_500


def fetched(number: int) -> FetchedImage:
    return FetchedImage(f"https://example.org/{number}.png", f"{number:064x}", {"width": number})


@pytest.fixture
def built(loom_home: Path) -> Path:
    """A home with a queue, decisions, addresses of images, pictures and pages."""
    store = ReviewStore(home.review_path())
    store.update_queue(queue(N_ITEMS))
    for _ in range(5):
        lock = store.lock_item("ana", "annotator")
        store.decide(lock.token, verdict(lock, "ana"))
    store.close()
    index = ImageIndex(home.image_index_path())
    index.record([fetched(n) for n in range(N_ADDRESSES)])
    index.close()
    images = open_images()
    for colour in ("red", "green", "blue"):
        images.put(one_colour(colour))
    for name in ("releases/r-1/card.json", "reports/index.html", "reports/items/r-1/release.js"):
        path = loom_home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"bytes of {name}")
    return loom_home


@pytest.fixture
def shared(postgres, s3, monkeypatch, built) -> str:
    """The address of an empty database; it and a bucket are set."""
    address = postgres.database()
    for name, value in s3.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LOOM_STORES", address)
    monkeypatch.setenv("LOOM_FILES", f"s3://{s3.bucket()}/wit")
    return address


def rows(folder: Path) -> dict[str, list[str]]:
    """The rows of the stores of a home, each as the statement that adds it."""
    found = {}
    for name in ("review.sqlite", "image_index.sqlite"):
        with closing(sqlite3.connect(folder / name)) as connection:
            found[name] = sorted(connection.iterdump())
    return found


def test_all_is_there_and_comes_back_the_same(built, shared, tmp_path, monkeypatch):
    said: list[str] = []
    move(back=False, say=said.append)
    assert any("image_index.sqlite to postgresql://" in line for line in said)
    assert any("images: 3, 3 of them sent" in line for line in said)
    # The home keeps what it has, and a second time brings nothing.
    again: list[str] = []
    move(back=False, say=again.append)
    assert sum("was brought there before" in line for line in again) == 2
    assert any("images: 3, 0 of them sent" in line for line in again)
    other = tmp_path / "other"
    monkeypatch.setenv("LOOM_WORKSPACE", str(other))
    other.mkdir()
    move(back=True, say=again.append)
    before, after = rows(built), rows(other)
    assert after == before
    for part in ("images", "releases", "reports"):
        assert everything(other / part) == everything(built / part) != {}
    # The numbers of decisions go on.
    store = ReviewStore(home.review_path())
    lock = store.lock_item("bo", "annotator")
    assert store.decide(lock.token, verdict(lock, "bo")) == 6
    store.close()


def test_a_workspace_with_stores_uses_no_others_before_or_after_a_move(built, shared, monkeypatch):
    with pytest.raises(StoreError, match="has stores of its own .*vlm-loom workspace move"):
        bring_home_up_to_date()
    move(back=False, say=print)
    bring_home_up_to_date()
    monkeypatch.delenv("LOOM_STORES")
    with pytest.raises(StoreError, match="LOOM_STORES is not set") as refused:
        bring_home_up_to_date()
    noted = built / "stores-database.txt"
    assert str(noted) in str(refused.value)
    noted.unlink()
    bring_home_up_to_date()
    monkeypatch.delenv("LOOM_FILES")
    with pytest.raises(UserError, match="set LOOM_STORES, LOOM_WAREHOUSE or LOOM_FILES"):
        move(back=False, say=print)


def test_a_workspace_knows_its_database_from_the_first_command_and_takes_no_other(
    shared, loom_home, monkeypatch
):
    new = loom_home / "new"
    monkeypatch.setenv("LOOM_WORKSPACE", str(new))
    bring_home_up_to_date()
    assert (new / "stores-database.txt").read_text().strip() == shown_database()
    monkeypatch.setenv("LOOM_STORES", shared.replace("127.0.0.1", "localhost"))
    bring_home_up_to_date()
    monkeypatch.setenv("LOOM_STORES", shared + "_other")
    with pytest.raises(StoreError, match="are in .* and LOOM_STORES names .*_other: set it"):
        bring_home_up_to_date()


def test_a_new_workspace_with_its_own_tables_does_not_get_the_stores_of_another(
    shared, loom_home, monkeypatch
):
    def start(name: str) -> None:
        monkeypatch.setenv("LOOM_WORKSPACE", str(loom_home / name))
        bring_home_up_to_date()

    start("first")
    # The first one has no rows yet.
    with pytest.raises(StoreError, match="is used by another workspace, .* set LOOM_STORES to"):
        start("second")
    start("first")
    second = loom_home / "second"
    second.mkdir(exist_ok=True)
    (second / "stores-database.txt").write_text(f"{shown_database()}\n")
    start("second")


def test_who_is_interrupted_goes_on(built, shared, monkeypatch):
    real, calls = copies.insert_missing, itertools.count()

    def stops(*given: Any) -> Any:
        if next(calls):
            raise KeyboardInterrupt
        return real(*given)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(copies, "insert_missing", stops)
        move(back=False, say=print)
    move(back=False, say=print)
    index = ImageIndex(home.image_index_path())
    assert len(index.entries(fetched(n).url for n in range(N_ADDRESSES))) == N_ADDRESSES
    index.close()


def test_a_database_with_rows_of_its_own_is_refused(built, shared):
    index = ImageIndex(home.image_index_path())
    index.record([fetched(1)])
    index.close()
    with pytest.raises(StoreError, match=r"has rows of its own .*that nothing has used"):
        move(back=False, say=print)


def test_a_row_that_differs_is_found(built, shared, monkeypatch):
    read = copies._rows

    def changed(*given: Any) -> Iterator[list[dict[str, Any]]]:
        for rows in read(*given):
            for row in rows:
                if row.get("image_id") == f"{7:064x}":
                    row["image_id"] = "other"
            yield rows

    monkeypatch.setattr(copies, "_rows", changed)
    with pytest.raises(StoreError, match="differs from the file in row"):
        move(back=False, say=print)


def test_a_home_that_has_stores_does_not_get_others(built, shared):
    move(back=False, say=print)
    said = "exist already and are not overwritten: move them into another folder"
    with pytest.raises(StoreError, match=said):
        move(back=True, say=print)
    for name in SQLITE:
        if (built / name).exists():
            (built / name).rename(built / f"{name}.aside")
    move(back=True, say=print)
    assert not (built / "stores-database.txt").exists() and (built / "review.sqlite").exists()


def test_what_others_wrote_since_stays_and_damaged_pictures_are_counted(built, shared, tmp_path):
    next((built / "images").glob("*/*.png")).write_bytes(b"cut")
    page = "reports/diff/a/index.html"
    (built / page).parent.mkdir(parents=True)
    (built / page).write_bytes(b"compared")
    files = shared_files()
    files.put("reports/index.html", b"newer index")
    said: list[str] = []
    move(back=False, say=said.append)
    assert any("images: 3, 2 of them sent" in line and "1 damaged" in line for line in said)
    assert files.get(page) == b"compared"
    newer = tmp_path / "releases"
    names = ["r-1/card.json", "r-2/card.json"]
    for name in names:
        (newer / name).parent.mkdir(parents=True)
        (newer / name).write_text(f"newer {name}")
    files.publish("releases", newer)
    files.put(page, b"newer comparison")
    move(back=False, say=print)
    assert files.keys("releases") == [".files.json", *names]
    assert files.get("releases/r-1/card.json") == b"newer r-1/card.json"
    assert set(files.listing("releases")) == set(names)
    assert files.get("reports/index.html") == b"newer index"
    assert files.get(page) == b"newer comparison"
