"""Ledgers with known rows, and ways to damage their files."""

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from resources.llm.ledger import Call, Charge, Ledger
from tests.resources.llm.entries import call

PAGE = 4096
LEAF = 13
"""The first byte of a page with rows of a table (sqlite.org/fileformat.html)."""


def entry(number: int) -> Call | Charge:
    """A call whose answer has a length of its own, up to some pages; each seventh is a charge."""
    lengths = (3, 40, 90, 200, 700, 1200)
    text = f"<answer {number}>" * lengths[number % len(lengths)]
    answered = call(number, response=text, reasoning=None if number % 2 else "Thought of 字.")
    if number % 7:
        return answered
    return answered._replace(outcome="refused", response=text[:10_000]).as_charge("Withheld.")


def fill(path: Path, n_entries: int = 120) -> None:
    """A ledger with calls and charges, closed."""
    with closing(Ledger(path)) as ledger:
        ledger.add([entry(number) for number in range(n_entries)])


def n_pages(path: Path) -> int:
    return path.stat().st_size // PAGE


def overwrite(path: Path, number: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek((number - 1) * PAGE)
        file.write(content)


def noise(seed: int) -> bytes:
    return random.Random(seed).randbytes(PAGE)


def _overwrite_first_of(name: str) -> Callable[[Path], None]:
    def harm(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection:
            query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
            (page,) = connection.execute(query, [name]).fetchone()
        overwrite(path, page, noise(page))

    return harm


def _overwrite_middle(path: Path) -> None:
    pages = range(n_pages(path) // 2, n_pages(path) + 1)
    bytes_now = path.read_bytes()
    page = next(page for page in pages if bytes_now[(page - 1) * PAGE] == LEAF)
    overwrite(path, page, noise(page))


def _cut(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(n_pages(path) * 2 // 3 * PAGE)


HARMS: dict[str, Callable[[Path], None]] = {
    "a page of calls is overwritten": _overwrite_middle,
    "the top page of calls is overwritten": _overwrite_first_of("calls"),
    "the top page of the index is overwritten": _overwrite_first_of("sqlite_autoindex_calls_1"),
    "the header is zeroed": lambda path: overwrite(path, 1, bytes(100)),
    "the file is cut off": _cut,
}
