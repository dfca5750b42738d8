"""A ledger file of version 4, which kept every text as an answer: each reply becomes what it is."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from resources.llm.ledger import Ledger
from resources.llm.ledger.calls import pack
from resources.migrations import migrations
from tests.resources.llm.entries import charges_of

STEPS = migrations(Path("resources/llm/ledger/migrations"))
MARKS = "Write <think> and </think>."
REPLIES = {
    # response, finish reason -> outcome, response, reasoning
    "a text": ("North.", "stop", "answered", "North.", None),
    "cut off": ("North, or", "length", "truncated", "North, or", None),
    "reasoning in front": ("<think>\nLook.\n</think>\n\nNorth.", "stop", "answered", "North.", "Look."),
    "reasoning without its beginning": ("Look.</think>\nNorth.", "stop", "answered", "North.", "Look."),
    "reasoning alone": ("<think>Look, or", "length", "reasoning_only", "", "Look, or"),
    "reasoning and blanks": ("<think>Look.</think> \n", "stop", "reasoning_only", "", "Look."),
    "reasoning and half": ("<think>Look.</think>Nor", "length", "truncated", "Nor", "Look."),
    "a text about marks": (MARKS, "stop", "answered", MARKS, None),
}  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of version 4 with these replies, a blank one and a charge."""
    path = tmp_path / "ledger.sqlite"
    Ledger(path).close()
    with closing(sqlite3.connect(path)) as old:
        for name in ("paid_calls",):
            old.execute(f"DROP VIEW {name}")
        for name in ("calls", "charges", "batch_items", "batch_waits", "batches"):
            old.execute(f"DROP TABLE {name}")
        for name in ("renewals", "earlier_endpoints"):
            old.execute(f"DROP TABLE {name}")
        old.execute(
            "CREATE TABLE calls (key TEXT, provider TEXT, model TEXT, prompt_version TEXT, stage TEXT, "
            "request BLOB, response TEXT, finish_reason TEXT, prompt_tokens INTEGER, "
            "completion_tokens INTEGER, cost_usd REAL, seconds REAL, attempts INTEGER, created_at TEXT)"
        )
        for step in (step for step in STEPS if step.version <= 4):
            old.executescript(step.text())
        put(old, "blank", " \n\t", "stop")
        for name, (response, finish_reason, *_) in REPLIES.items():
            put(old, name, response, finish_reason)
        put(old, "offline", "South.", "stop", provider="offline")
        old.execute(
            "INSERT INTO charges VALUES (1, 'withheld', 'openai', 'm', 'p@1', 's', 'r', 'live', "
            "'content_filter', 1, 2, 0.5, '2026-01-01')"
        )
        old.execute("PRAGMA user_version = 4")
        old.commit()
    return path


def put(
    old: sqlite3.Connection, key: str, response: str, finish_reason: str, provider: str = "openai"
) -> None:
    values = [key, provider, finish_reason, response, pack({"asked": key})]
    old.execute(
        "INSERT INTO calls (key, provider, model, prompt_version, stage, run, via, finish_reason, "
        "prompt_tokens, completion_tokens, cost_usd, seconds, attempts, created_at, response, request) "
        "VALUES (?, ?, 'm', 'p@1', 's', 'r', 'live', ?, 10, 5, 0.25, 1.5, 1, '2026-01-01', ?, ?)",
        values,
    )


@pytest.mark.parametrize("name", REPLIES)
def test_each_reply_becomes_what_it_is(path: Path, name: str) -> None:
    _, finish_reason, *expected = REPLIES[name]

    kept = {call.key: call for call in Ledger(path)}[name]

    assert [kept.outcome, kept.response, kept.reasoning] == expected
    assert (kept.finish_reason, kept.endpoint, kept.request) == (
        finish_reason,
        None,
        {"asked": name},
    )


def test_a_blank_reply_becomes_a_charge_and_the_rest_stays_with_what_it_cost(path: Path) -> None:
    ledger = Ledger(path)

    charges: dict[str, Any] = {charge.key: charge for charge in charges_of(ledger)}
    assert {key: (each.outcome, each.cost_usd) for key, each in charges.items()} == {
        "withheld": ("refused", 0.5),
        "blank": ("empty", 0.25),
    }
    assert charges["blank"].request == {"asked": "blank"} and charges["withheld"].request == {}
    assert ledger.count_paid_calls() == len(REPLIES) + 3
    assert ledger.cost_of(["r"]) == 0.25 * (len(REPLIES) + 2) + 0.5
    assert {call.key: call.endpoint for call in ledger}["offline"] == "offline"
