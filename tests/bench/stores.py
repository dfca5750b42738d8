"""Stores as files and on Postgres: the time of a write by itself, and rows a second.

Run by `make bench NAME=stores`. Postgres is a server of its own on this machine, with its log flushed
at each commit as SQLite's is; `--database` names another. Prints a table, and as the last line all
figures as one JSON object.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from resources.images.index import Fetched, ImageIndex
from resources.llm.budget_store import ChainBudget
from resources.llm.ledger import Call, Ledger, now
from resources.review.store import ReviewStore
from resources.stores.address import VARIABLE
from resources.stores.locks import open_locks

ONE_BY_ONE, BATCH, BATCHES, WRITERS = 300, 100, 30, 8


def call(number: int) -> Call:
    """An answer of the size that a dialogue's turn has."""
    request = {
        "messages": [{"role": "user", "parts": [f"Question {number}: " + "which way? " * 300]}]
    }
    paid = ("stop", 900, 300, 0.01, 1.5, 1)
    where = ("it", "http://it/v1", "it", "bench@1", "bench", "run", "live", "answered")
    return Call(f"{number:064x}", *where, *paid, now(), "North. " * 200, None, request)


def each(n: int, do: Callable[[int], object]) -> float:
    """Median seconds of doing it, one after the other."""
    taken = []
    for number in range(n):
        began = time.perf_counter()
        do(number)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def measured(folder: Path) -> dict[str, float]:
    """Milliseconds of one write or look-up, and rows a second, of each store."""
    ledger, index = Ledger(folder / "ledger.sqlite"), ImageIndex(folder / "index.sqlite")
    figures = {"ledger: an answer, ms": 1000 * each(ONE_BY_ONE, lambda n: ledger.add([call(n)]))}
    figures["ledger: a look-up, ms"] = 1000 * each(ONE_BY_ONE, lambda n: ledger.find([call(n).key]))
    began = time.perf_counter()
    for batch in range(BATCHES):
        ledger.add([call(10**6 + batch * BATCH + n) for n in range(BATCH)])
    figures["ledger: answers a second, 100 at once"] = (
        BATCHES * BATCH / (time.perf_counter() - began)
    )

    def write(writer: int) -> None:
        for n in range(BATCHES):
            ledger.add([call(10**7 * (writer + 1) + n)])
        ledger.close()

    with ThreadPoolExecutor(WRITERS) as pool:
        began = time.perf_counter()
        list(pool.map(write, range(WRITERS)))
    figures["ledger: answers a second, 8 writers"] = (
        WRITERS * BATCHES / (time.perf_counter() - began)
    )
    began = time.perf_counter()
    n_rows = sum(1 for _ in ledger)
    figures["ledger: rows read a second"] = n_rows / (time.perf_counter() - began)
    rows = [Fetched(f"http://it/{n}", "a" * 64, {"width": n}) for n in range(BATCHES * BATCH)]
    began = time.perf_counter()
    for start in range(0, len(rows), BATCH):
        index.record(rows[start : start + BATCH])
    figures["image index: rows a second, 100 at once"] = len(rows) / (time.perf_counter() - began)
    chain = ChainBudget(folder / "limits.sqlite", ledger, "bench")
    figures["budget: a call charged and settled, ms"] = 1000 * each(
        ONE_BY_ONE, lambda _: (chain.charge(0.01, 100.0), chain.change(-0.01, 0.005))
    )
    chain.close()
    locks = open_locks(folder / "flights")
    figures["request lock: taken and released, ms"] = 1000 * each(
        ONE_BY_ONE, lambda n: (locks.take(n), locks.release(n))
    )
    locks.close()
    figures |= reviewed(folder)
    for store in (ledger, index):
        store.close()
    return figures


def reviewed(folder: Path) -> dict[str, float]:
    """Milliseconds of locking the next item, and of a decision on it."""
    from tests.resources.review.review_queue import queue, verdict

    store = ReviewStore(folder / "review.sqlite")
    store.update_queue(queue(ONE_BY_ONE))
    locked: list = []
    lock = 1000 * each(
        ONE_BY_ONE // 2, lambda n: locked.append(store.lock_item(f"p{n}", "annotator"))
    )
    decide = 1000 * each(
        len(locked), lambda n: store.decide(locked[n].token, verdict(locked[n], f"p{n}"))
    )
    store.close()
    return {"review: next item locked, ms": lock, "review: a decision, ms": decide}


@contextmanager
def postgres(given: str | None) -> Iterator[str]:
    """The address of a database: the one that is given, or a new server's."""
    if given:
        yield given
        return
    from tests.doubles.servers import postgres_binaries, running_postgres
    from tests.doubles.serving import free_ports

    binaries = postgres_binaries()
    if binaries is None:
        raise SystemExit("There is no Postgres: install Debian's package postgresql.")
    with running_postgres(binaries, *free_ports(1), flushes=True) as server:
        yield server.database()


def main() -> None:
    """Measure both, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", help="the address of an empty database to measure")
    given = parser.parse_args()
    os.environ.pop(VARIABLE, None)
    with tempfile.TemporaryDirectory() as folder:
        figures = {"sqlite": measured(Path(folder))}
    with postgres(given.database) as address, tempfile.TemporaryDirectory() as folder:
        os.environ[VARIABLE] = address
        figures["postgres"] = measured(Path(folder))
    print(f"{'':42}{'SQLite':>10}{'Postgres':>10}")
    for name, here in figures["sqlite"].items():
        print(f"{name:42}{here:>10,.2f}{figures['postgres'][name]:>10,.2f}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
