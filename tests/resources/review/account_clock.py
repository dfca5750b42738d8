"""Accounts and locks whose time passes when told to, and a look at what a store keeps."""

from datetime import UTC, datetime, timedelta

from argon2 import PasswordHasher

from resources.review import clock
from resources.review.accounts import Accounts
from resources.review.tables import METADATA
from tests.resources.review.review_queue import rows

RIGHT, WRONG = "correct horse battery", "incorrect horse battery"

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
"""What hashing a password costs is not what is tested."""


class Clock:
    def __init__(self):
        self.now = datetime(2026, 1, 1, 12, tzinfo=UTC)

    def __call__(self):
        return self.now

    def pass_by(self, **span):
        self.now += timedelta(**span)


class DatabaseTime:
    """Time as the database of a store sees it; `pass_by` moves it on."""

    def __init__(self, monkeypatch):
        self.passed, seconds = 0.0, clock.database_seconds
        monkeypatch.setattr(
            clock, "database_seconds", lambda connection: seconds(connection) + self.passed
        )

    def pass_by(self, seconds):
        self.passed += seconds


def accounts_at(folder, clock, hasher=CHEAP):
    """Accounts in a folder, with hashes that cost next to nothing."""
    return Accounts(folder / "home" / "review.sqlite", clock, hasher)


def text_of(accounts):
    """Everything that the store keeps, of every table."""
    return "\n".join(
        f"{table} {row}"
        for table in METADATA.tables
        for row in rows(accounts, f"SELECT * FROM {table}")
    )
