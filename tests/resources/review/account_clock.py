"""Accounts whose time passes when told to, and a look at what their file keeps."""

import sqlite3
from datetime import UTC, datetime, timedelta

from argon2 import PasswordHasher

from resources.review.accounts import Accounts

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


def accounts_at(folder, clock, hasher=CHEAP):
    """Accounts in a folder, with hashes that cost next to nothing."""
    return Accounts(folder / "home" / "review.sqlite", clock, hasher)


def text_of(accounts):
    """Everything that the file keeps, of every table."""
    with sqlite3.connect(accounts.path) as connection:
        return "\n".join(connection.iterdump())
