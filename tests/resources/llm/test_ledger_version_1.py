"""A ledger file of version 1: what it holds was paid for, and is taken along whole."""

import multiprocessing
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import pytest

from methods.ids import canonical_json
from resources.llm.ledger import Call, Ledger
from tests.resources.llm.entries import charges_of
from tests.resources.llm.test_ledger import call, in_order, start
from tests.resources.llm.test_ledger_tables import charge, query

LATER = ("run", "via", "endpoint", "outcome", "reasoning", "answered_as", "claimed_tokens")
"""Columns that later versions have added."""
VERSION_1 = """
CREATE TABLE calls (
    key TEXT PRIMARY KEY, provider TEXT NOT NULL, model TEXT NOT NULL, prompt_version TEXT NOT NULL,
    stage TEXT NOT NULL, request BLOB NOT NULL, response TEXT NOT NULL, finish_reason TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, cost_usd REAL NOT NULL,
    seconds REAL NOT NULL, attempts INTEGER NOT NULL, created_at TEXT NOT NULL
) WITHOUT ROWID
"""


def older(number: int, **changes: object) -> Call:
    """A call as version 1 had it, without the run and who answered; there were no batches."""
    return call(number, run="", via="live", endpoint=None, reasoning=None, **changes)


def version_1(path: Path, calls: list[Call]) -> Path:
    """A ledger as version 1 left it."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(VERSION_1)
        names = [name for name in Call._fields if name not in LATER]
        connection.executemany(
            f"INSERT INTO calls ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
            [
                [
                    zlib.compress(canonical_json(each.request).encode())
                    if name == "request"
                    else getattr(each, name)
                    for name in names
                ]
                for each in calls
            ],
        )
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def test_what_version_1_kept_is_there_whole_and_found(path):
    calls = [older(number) for number in range(700)]
    version_1(path, calls)

    ledger = Ledger(path)

    assert list(ledger) == in_order(calls)
    assert ledger.find([calls[3].key]) == {calls[3].key: calls[3].as_outcome(cached=True)}
    assert query(path, "PRAGMA user_version") == [(7,)]
    assert query(path, "SELECT count(*), sum(cost_usd) FROM paid_calls") == [
        (700, pytest.approx(700 * 0.0025))
    ]
    assert query(path, "SELECT name FROM sqlite_master WHERE name = 'calls_1'") == []


def test_what_was_taken_along_stands_in_the_order_it_was_made(path):
    days = {number: f"2026-01-{30 - number}T00:00:00.000+00:00" for number in range(20)}
    version_1(path, [older(number, created_at=day) for number, day in days.items()])

    Ledger(path)

    in_time = query(path, "SELECT prompt_tokens - 1000 FROM calls ORDER BY seq")
    assert [number for (number,) in in_time] == list(range(19, -1, -1))


def test_it_is_taken_along_once_and_goes_on_as_any_other(path):
    version_1(path, [older(0), older(1)])

    Ledger(path).add([call(0, response="another answer", cost_usd=0.5), call(2), charge(3)])

    assert list(Ledger(path)) == in_order([older(0), older(1), call(2)])
    # The second answer to what version 1 had was paid for, and is a charge.
    assert [each.key for each in charges_of(Ledger(path))] == [call(0).key, charge(3).key]


def test_an_empty_ledger_of_version_1_is_an_empty_ledger(path):
    version_1(path, [])

    assert list(Ledger(path)) == []


ARRIVALS = 4
"""Old ledgers that two processes come to at once."""


def _arrive(folder: Path, number: int, barrier) -> None:
    for arrival in range(ARRIVALS):
        barrier.wait()
        ledger = Ledger(folder / f"{arrival}.sqlite")
        ledger.add([call(1000 + number)])
        assert len(ledger) >= 501


def test_two_processes_that_open_it_at_once_take_it_along_once(tmp_path):
    calls = [older(number) for number in range(500)]
    for arrival in range(ARRIVALS):
        version_1(tmp_path / f"{arrival}.sqlite", calls)
    spawn = multiprocessing.get_context("spawn")
    barrier = spawn.Barrier(2)
    processes = [
        spawn.Process(target=_arrive, args=(tmp_path, number, barrier)) for number in (1, 2)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)

    assert [process.exitcode for process in processes] == [0, 0]
    for arrival in range(ARRIVALS):
        # What either added as soon as it was open still knows its run.
        kept = list(Ledger(tmp_path / f"{arrival}.sqlite"))
        assert kept == in_order([*calls, call(1001), call(1002)])


OPENS_AND_DIES = """
    import os, signal, sqlite3, sys
    from resources.llm.ledger import Ledger

    def connect(*arguments, opened=sqlite3.connect, **options):
        connection = opened(*arguments, **options)
        connection.set_trace_callback(die)
        return connection

    def die(statement):
        if sys.argv[2] in statement:
            os.kill(os.getpid(), signal.SIGKILL)

    sqlite3.connect = connect
    Ledger(sys.argv[1])
"""


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE calls RENAME",
        "TABLE IF NOT EXISTS charges",
        "INSERT INTO calls",
        "DROP TABLE calls_1",
        "PRAGMA user_version = 2",
        "COMMIT",
    ],
)
def test_killed_amid_taking_it_along_nothing_is_lost_and_the_next_does_it(path, statement):
    # More than SQLite's two megabytes of cache, so that a part of it is on the disk by then.
    calls = [
        older(number)._replace(response=f"{number} " + "long " * 4000) for number in range(200)
    ]
    version_1(path, calls)

    with start(OPENS_AND_DIES, path, statement) as opener:
        assert opener.wait(60) == -9, "it was to die at that statement"

    assert query(path, "PRAGMA user_version") == [(0,)]
    assert query(path, "SELECT count(*) FROM calls") == [(200,)]
    assert list(Ledger(path)) == in_order(calls)
