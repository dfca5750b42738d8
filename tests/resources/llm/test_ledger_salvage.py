"""A new ledger of a damaged one: every row of an undamaged page, none that was not there."""

import multiprocessing
import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from resources.llm.ledger import Call, Charge, Ledger
from resources.llm.ledger.batch_state import BatchState, Item
from resources.llm.ledger.check import check_all, require_sound
from resources.llm.ledger.file import LedgerFile
from resources.llm.ledger.ledger import Renewal
from resources.llm.ledger.salvage import Salvaged, salvage
from resources.migrations import StoreError
from tests.resources.llm.damaged_ledgers import (
    HARMS,
    PAGE,
    call,
    contents,
    entry,
    fill,
    mark,
    n_pages,
    noise,
    overwrite,
    page_of,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def number_of(each: Call | Charge) -> int:
    return each.prompt_tokens - 1000


def numbers(entries: list[Call | Charge]) -> set[int]:
    return {number_of(each) for each in entries}


def assert_nothing_made_up(found: list[Call | Charge]) -> None:
    assert all(each == entry(number_of(each)) for each in found)
    assert len(numbers(found)) == len(found)


# --- What is recovered ---------------------------------------------------------------------------


@pytest.mark.parametrize("harm", [bytes, noise], ids=["zeroed", "overwritten"])
def test_a_damaged_page_costs_the_rows_on_it_and_no_others_whichever_page_it_is(
    harm: Callable[[int], bytes], tmp_path: Path, drawn: Callable[[range, int], list[int]]
) -> None:
    sound = tmp_path / "sound.sqlite"
    entries = fill(sound, 60)
    for page in drawn(range(1, n_pages(sound) + 1), 12):
        path = tmp_path / f"{page}" / "ledger.sqlite"
        path.parent.mkdir()
        shutil.copyfile(sound, path)
        overwrite(path, page, bytes(PAGE) if harm is bytes else noise(page))
        on_page = {n for n in numbers(entries) if mark(n) in page_of(sound, page)}

        salvage(path)

        found = contents(path)
        assert_nothing_made_up(found)
        lost = numbers(entries) - numbers(found)
        # Of a page without an answer's text one request may end on it.
        assert lost <= on_page or (not on_page and len(lost) <= 1), page
        assert check_all(path).wrong == []


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", range(8))
def test_many_damaged_pages_cost_their_rows_and_none_is_made_up(seed: int, path: Path) -> None:
    entries = fill(path)
    pages = [1 + (seed * 37 + step * 11) % n_pages(path) for step in range(12)]
    kept = [page_of(path, page) for page in range(1, n_pages(path) + 1) if page not in pages]
    for page in pages:
        overwrite(path, page, noise(page + seed, PAGE if page % 2 else 600))

    salvage(path)

    found = contents(path)
    assert_nothing_made_up(found)
    touched = {n for n in numbers(entries) if sum(each.count(mark(n)) for each in kept) == 0}
    assert numbers(found).isdisjoint(touched)
    assert len(found) > len(entries) // 2


@pytest.mark.parametrize("harm", HARMS)
def test_every_kind_of_damage_leaves_a_ledger_that_is_sound(harm: str, path: Path) -> None:
    entries = fill(path)
    HARMS[harm](path)
    assert check_all(path).wrong
    damaged = path.read_bytes()

    done = salvage(path)

    found = contents(path)
    assert_nothing_made_up(found)
    require_sound(path)
    assert done.rows["calls"] + done.rows["charges"] == len(found)
    assert done.aside.name.startswith("ledger.sqlite.damaged-")
    assert done.aside.read_bytes() == damaged
    if "header" in harm or "index" in harm or "top page" in harm:
        assert numbers(found) == numbers(entries)


def test_what_a_log_holds_beside_the_file_is_salvaged_too(path: Path) -> None:
    entries = fill(path, 40)
    writer = Ledger(path)
    later = [entry(number) for number in range(40, 50)]
    writer.add(later)
    # A copy at this moment is what a killed process leaves.
    killed = path.parent / "killed" / "ledger.sqlite"
    killed.parent.mkdir()
    for end in ("", "-wal"):
        shutil.copyfile(f"{path}{end}", f"{killed}{end}")
    assert Path(f"{killed}-wal").stat().st_size
    overwrite(killed, 1, noise(1, 100))

    done = salvage(killed)

    assert numbers(contents(killed)) == numbers([*entries, *later])
    assert Path(f"{done.aside}-wal").exists()


def test_batches_and_renewals_are_salvaged_too(path: Path) -> None:
    fill(path)
    ledger = Ledger(path)
    state, renewal = BatchState(ledger), Renewal("careful", None, None)
    item = Item("k1", "b1", 1, "waiting", None, None, "stage", "run", "prompt@1", {"a": 1})
    state.hand_over("b1", "careful", [item])
    state.wait("run", ["b1"])
    ledger.renew(renewal)
    batches = state.batches()
    ledger.close()
    overwrite(path, 1, noise(1, 100))

    salvage(path)

    ledger = Ledger(path)
    state = BatchState(ledger)
    assert state.batches() == batches and state.waiting("b1") == {"k1": item}
    assert ledger.renewals() == [renewal]
    ledger.close()


def test_what_was_deleted_does_not_come_back(path: Path) -> None:
    fill(path, 3)
    ledger = Ledger(path)
    state = BatchState(ledger)
    items = [
        Item(f"k{n}", "b1", 1, "waiting", None, None, "s", "r", "p@1", {"a": "x" * n})
        for n in range(300)
    ]
    state.hand_over("b1", "careful", items)
    state.take_in("b1", [call(n)._replace(key=f"k{n}") for n in range(300)])
    ledger.close()
    overwrite(path, n_pages(path), noise(5))

    done = salvage(path)

    assert done.rows["batch_items"] == 0


def test_an_earlier_version_is_salvaged_into_this_one(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(path, 20)
    (schema,) = LedgerFile.SCHEMA
    later = tmp_path / "later" / "schema.sql"
    step = later.with_name("migrations") / f"{LedgerFile.newest_version() + 1:04}_notes.sql"
    step.parent.mkdir(parents=True)
    step.write_text("CREATE TABLE notes (note TEXT NOT NULL);")
    later.write_text(f"{schema.read_text()}\n{step.read_text()}")
    monkeypatch.setattr(LedgerFile, "SCHEMA", (later,))
    overwrite(path, n_pages(path) // 2, noise(9))

    done = salvage(path)

    assert done.rows["notes"] == 0 < done.rows["calls"]
    assert_nothing_made_up(contents(path))


# --- What is refused, and what a kill leaves -----------------------------------------------------


def test_where_nothing_can_be_read_the_file_stays_and_one_sentence_says_what_to_do(
    path: Path,
) -> None:
    path.write_bytes(noise(7, 20 * PAGE))
    damaged = path.read_bytes()

    with pytest.raises(
        StoreError, match=rf"^Nothing can be read of {path}: restore a backup .*\.$"
    ):
        salvage(path)

    assert path.read_bytes() == damaged
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_ledger_of_a_later_version_is_not_salvaged(path: Path) -> None:
    fill(path, 3)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 999")

    with pytest.raises(StoreError, match="has version 999"):
        salvage(path)

    assert path.exists()


def _killed_at(path: Path, step: int) -> None:
    """Salvage, and kill this process at the step-th change of a file's name or place."""
    left = step

    def count(event: str, _arguments: object) -> None:
        nonlocal left
        if event in ("os.rename", "os.link", "os.remove", "sqlite3.connect"):
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    salvage(path)


@pytest.mark.sample(5)
@pytest.mark.parametrize("step", range(4, 17))
def test_killed_at_any_step_the_rows_are_in_place_or_the_next_time_finishes(
    step: int, tmp_path: Path
) -> None:
    path = tmp_path / "ledger.sqlite"
    fill(path, 20)
    writer = Ledger(path)
    writer.add([entry(number) for number in range(20, 25)])
    killed = tmp_path / "killed" / "ledger.sqlite"
    killed.parent.mkdir()
    for end in ("", "-wal"):
        shutil.copyfile(f"{path}{end}", f"{killed}{end}")
    writer.close()
    overwrite(killed, 1, noise(1, 100))
    damaged = killed.read_bytes()

    process = multiprocessing.get_context("spawn").Process(target=_killed_at, args=(killed, step))
    process.start()
    process.join()

    if process.exitcode == 0:
        assert check_all(killed).wrong == []
    else:
        assert killed.exists()
    if killed.read_bytes() == damaged:
        done: Salvaged = salvage(killed)
        assert done.aside.read_bytes() == damaged
    assert numbers(contents(killed)) == set(range(25))
    assert len(list(killed.parent.glob("*.damaged-*[0-9]"))) == 1
