"""Ledgers with known rows, and ways to damage their files."""

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from methods.prompts.messages import Message
from resources.llm.ledger import Call, Charge, Ledger
from resources.llm.model_spec import ModelSpec
from resources.llm.request import ChatRequest, request_key
from tests.resources.llm.entries import charges_of

PAGE = 4096
LEAF = 13
"""The first byte of a page with rows of a table (sqlite.org/fileformat.html)."""


def call(number: int, response: str = "") -> Call:
    """An answered call; `number` makes it another one."""
    request = ChatRequest(
        model="careful",
        messages=(Message.from_text("user", f"Question {number}?"),),
        prompt_version="test/question@12345678",
        params={"temperature": 0.0},
    ).canonical(ModelSpec(name="careful", provider="openai", model="gpt"))
    return Call(
        key=request_key(request),
        provider="openai",
        endpoint="https://api.openai.com/v1",
        model="gpt",
        prompt_version="test/question@12345678",
        stage="dialogue.answers",
        run="run-1",
        via="live",
        outcome="answered",
        finish_reason="stop",
        prompt_tokens=1000 + number,
        completion_tokens=10,
        cost_usd=0.25 * (number % 5),
        seconds=1.5,
        attempts=2,
        created_at="2026-01-01T00:00:00.000+00:00",
        response=response,
        reasoning=None if number % 2 else "Thought of 字.",
        request=request,
    )


def charge(number: int, response: str) -> Charge:
    """What the request of `call(number)` cost without an answer."""
    of_call = call(number, response)._replace(outcome="refused")
    fields = {name: getattr(of_call, name) for name in Charge._fields if name != "detail"}
    return Charge(**fields, detail="Withheld.")


def mark(number: int) -> bytes:
    """Stands many times in the answer of call `number`, and nowhere else."""
    return f"<answer {number}>".encode()


def entry(number: int) -> Call | Charge:
    """A call whose answer has a length of its own, up to some pages; each seventh is a charge."""
    lengths = (3, 40, 90, 200, 700, 1200)
    text = mark(number).decode() * lengths[number % len(lengths)]
    return (
        charge(number, response=text[:10_000]) if number % 7 == 0 else call(number, response=text)
    )


def fill(path: Path, n_entries: int = 120) -> list[Call | Charge]:
    """A ledger with calls and charges, closed; what is in it."""
    ledger = Ledger(path)
    entries = [entry(number) for number in range(n_entries)]
    ledger.add(entries)
    ledger.close()
    return entries


def contents(path: Path) -> list[Call | Charge]:
    """Every call and charge of a ledger."""
    ledger = Ledger(path)
    try:
        return [*ledger, *charges_of(ledger)]
    finally:
        ledger.close()


def pages_of(path: Path, name: str) -> list[int]:
    """The first page of a table or an index."""
    with closing(sqlite3.connect(path)) as connection:
        return [
            page
            for (page,) in connection.execute(
                "SELECT rootpage FROM sqlite_master WHERE name = ?", [name]
            )
        ]


def n_pages(path: Path) -> int:
    return path.stat().st_size // PAGE


def page_of(path: Path, number: int) -> bytes:
    return path.read_bytes()[(number - 1) * PAGE : number * PAGE]


def overwrite(path: Path, number: int, content: bytes) -> None:
    """Put other bytes at the beginning of a page."""
    with path.open("r+b") as file:
        file.seek((number - 1) * PAGE)
        file.write(content)


def noise(seed: int, n_bytes: int = PAGE) -> bytes:
    return random.Random(seed).randbytes(n_bytes)


def _overwrite_first_of(name: str, content: Callable[[int], bytes]) -> Callable[[Path], None]:
    def harm(path: Path) -> None:
        for page in pages_of(path, name):
            overwrite(path, page, content(page))

    return harm


def _middle(content: Callable[[int], bytes]) -> Callable[[Path], None]:
    def harm(path: Path) -> None:
        pages = range(n_pages(path) // 2, n_pages(path) + 1)
        page = next(page for page in pages if page_of(path, page)[0] == LEAF)
        overwrite(path, page, content(page))

    return harm


def _cut(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(n_pages(path) * 2 // 3 * PAGE)


HARMS: dict[str, Callable[[Path], None]] = {
    "a page of calls is overwritten": _middle(noise),
    "a page of calls is zeroed": _middle(lambda _page: bytes(PAGE)),
    "the top page of calls is overwritten": _overwrite_first_of("calls", noise),
    "the top page of the index on keys is overwritten": _overwrite_first_of(
        "sqlite_autoindex_calls_1", noise
    ),
    "the header is overwritten": lambda path: overwrite(path, 1, noise(1, 100)),
    "the header is zeroed": lambda path: overwrite(path, 1, bytes(100)),
    "the file is cut off": _cut,
}
