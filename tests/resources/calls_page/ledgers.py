"""Ledgers for the page of model calls: rows as a gateway puts them there, and the page served."""

from contextlib import AbstractContextManager
from html import unescape
from pathlib import Path
from typing import Any

from resources.calls_page.pages import routes_of
from resources.llm.ledger import Call, Charge, Ledger
from resources.llm.request import request_key
from resources.publishing.server import files_of
from tests.doubles.http_pages import ask, serving_routes

SOME = {
    "provider": "openai",
    "endpoint": "https://api.example.org/v1",
    "model": "eyes-1",
    "prompt_version": "mmdu/answers@1",
    "stage": "dialogue.answers",
    "run": "run-one",
    "via": "live",
    "finish_reason": "stop",
    "prompt_tokens": 1200,
    "completion_tokens": 34,
    "cost_usd": 0.0125,
    "reasoning": None,
    **{"outcome": "answered", "seconds": 1.25, "attempts": 1},
}


def request_of(question: str, *parts: object, **more: object) -> dict[str, object]:
    """A canonical request: a system message and one of the user, with more parts after its text."""
    return {
        "provider": "openai",
        "model": "eyes-1",
        "messages": [
            {"role": "system", "parts": ["Answer in one sentence."]},
            {"role": "user", "parts": [question, *parts]},
        ],
        "params": {"temperature": 0.5, "max_tokens": 512},
        "prompt_version": "mmdu/answers@1",
        **more,
    }


def at(number: int) -> str:
    """A time that is later for a higher number, to the millisecond."""
    hours, minutes = divmod(number, 60)
    return f"2026-03-01T{hours:02d}:{minutes:02d}:00.000+00:00"


def call(number: int, reply: str = "A red ground.", request: Any = None, **fields: object) -> Call:
    request = request or request_of(f"What is in picture {number}?")
    row: dict[str, Any] = {**SOME, "created_at": at(number), "response": reply, **fields}
    return Call(key=request_key(request), request=request, **row)


def charge(
    number: int, detail: str, reply: str = "", request: Any = None, **fields: object
) -> Charge:
    fields = {"outcome": "refused", **fields}
    return call(number, reply, request, **fields).as_charge(detail)


def keep(home: Path, *rows: Call | Charge) -> None:
    """Put rows into the home's ledger, each in a commit of its own, and close it."""
    ledger = Ledger(home / "ledger.sqlite")
    for row in rows:
        ledger.add([row])
    ledger.close()


def serving(home: Path) -> AbstractContextManager[int]:
    """The port that a home's calls are served on, beside its reports as in the UI."""
    return serving_routes([*routes_of(home), files_of(home)])


def page(port: int, path: str) -> str:
    """The page of a path that is answered, as a person reads it: without tags and entities."""
    answer, text = ask(port, path)
    assert answer.status == 200, text
    return words(text)


def words(html: str) -> str:
    """A page's text on one line, without its style."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(html)
    main = tree.css_first("main")
    assert main is not None, html[-500:]
    return " ".join(unescape(main.text(separator=" ")).split())
