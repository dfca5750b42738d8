"""Accounts whose time passes when told to, and a look at what their file keeps."""

import sqlite3
from datetime import UTC, datetime, timedelta

from resources.review import passwords
from resources.review.accounts import Accounts

RIGHT, WRONG = "correct horse battery", "incorrect horse battery"


class Clock:
    def __init__(self):
        self.now = datetime(2026, 1, 1, 12, tzinfo=UTC)

    def __call__(self):
        return self.now

    def pass_by(self, **span):
        self.now += timedelta(**span)


def accounts_at(folder, clock, monkeypatch):
    """Accounts in a folder; what hashing a password costs is not what is tested."""
    monkeypatch.setattr(passwords, "COST", passwords.Cost(n=16, r=1, p=1))
    return Accounts(folder / "home" / "review.sqlite", clock)


def text_of(accounts):
    """Everything that the file keeps, of every table."""
    with sqlite3.connect(accounts.path) as connection:
        return "\n".join(connection.iterdump())
