"""Accounts: the budgets that runs share.

What belongs here: which runs share one, and what each may spend of it. What a call may cost, and who
waits for whom within a process, is `resources/llm/budget.py`.
"""

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import uuid4

from resources.llm.ledger import Ledger, now
from resources.llm.request_locks import Locks
from resources.llm.shared.file import LimitsFile
from resources.migrations import StoreError

AHEAD = 0.05
"""Part of the rest of a budget that a run is granted beyond what it needs at the moment: so it does not
have to ask for each call."""
_FIRST_OFFSET = 2**62
"""Beyond the offsets of places (`shared_limits.py`)."""
_KEPT = timedelta(days=30)
"""How long an account without a living run is known; what its runs spent is in the ledger, too."""


class _Spender(NamedTuple):
    seq: int
    account: str
    run: str
    together: int
    spent_usd: float
    granted_usd: float


class Account:
    """The account of one run.

    A run shares the account of the runs that it retries or continues, its `ancestors`, finished or not.
    With `together` it otherwise shares the account of those runs that are at work while it begins and
    share theirs, too. A run whose process died has spent what the ledger says; the rest is free again.
    """

    def __init__(
        self,
        file: LimitsFile,
        locks: Locks,
        ledger: Ledger,
        run: str,
        ancestors: Sequence[str],
        *,
        together: bool,
    ):
        self._file, self._locks, self._ledger = file, locks, ledger
        self.others_usd = 0.0
        """What the others of the account have spent or may still spend, as of the last grant."""
        self._run, self._seq = run or uuid4().hex, 0
        with file.transaction() as connection:
            self._forget_old(connection)
            self._account = self._join(connection, ancestors, together)
            self.spent_before_usd = self._take_over(connection)
            """What an earlier process of the same run has spent."""
            self._seq = self._insert(connection, self._run, self.spent_before_usd, together)
            self._locks.take(_FIRST_OFFSET + self._seq)

    def grant(self, spent: float, reserved: float, needed: float, limit: float) -> float:
        """What this run may spend in all: `needed` and a little more if the budget has it.

        It has spent `spent` and set aside `reserved` for calls in flight; if `needed` does not fit, it
        is granted these and no more.
        """
        with self._file.transaction() as connection:
            self.others_usd = self._granted_to_others(connection)
            if self.others_usd + needed > limit:
                self._settle_dead(connection)
                self.others_usd = self._granted_to_others(connection)
            rest = limit - self.others_usd - needed
            granted = needed + AHEAD * rest if rest >= 0 else spent + reserved
            self._set(connection, spent, granted)
        return granted

    def others_at_work(self) -> bool:
        """Whether another run of the account may give back some of what it was granted."""
        with self._file.transaction() as connection:
            self._settle_dead(connection)
            cursor = connection.execute(
                "SELECT 1 FROM spenders WHERE account = ? AND seq <> ? AND granted_usd > spent_usd",
                [self._account, self._seq],
            )
            return cursor.fetchone() is not None

    def settle(self, spent: float) -> None:
        """This run has spent `spent` and needs no more at the moment."""
        with self._file.transaction() as connection:
            self._set(connection, spent, spent)

    def finish(self, ancestors: Sequence[str]) -> None:
        """The work of these ancestors is done: who names them begins with a budget of its own."""
        with self._file.transaction() as connection:
            connection.executemany(
                "DELETE FROM spenders WHERE run = ?", [(run,) for run in ancestors]
            )

    def leave(self, spent: float) -> None:
        """This run's process asks no more."""
        with suppress(StoreError):  # Who finds it left without a word settles it.
            self.settle(spent)
        self._locks.release(_FIRST_OFFSET + self._seq)

    def _join(
        self, connection: sqlite3.Connection, ancestors: Sequence[str], together: bool
    ) -> str:
        known = self._spenders(connection, "1 = 1")
        family = {self._run, *ancestors}
        shared = [spender.account for spender in known if spender.run in family]
        if together and not shared:
            at_work = (spender for spender in known if spender.together and self._lives(spender))
            shared = [spender.account for spender in at_work]
        account = self._account = shared[-1] if shared else uuid4().hex
        connection.executemany(
            "UPDATE spenders SET account = ? WHERE run = ?", [(account, run) for run in family]
        )
        for run in dict.fromkeys(ancestors):
            if run not in {spender.run for spender in known}:
                # It had no budget, or its account was forgotten.
                self._insert(connection, run, self._ledger.cost_of([run]), together=False)
        return account

    def _take_over(self, connection: sqlite3.Connection) -> float:
        """What earlier processes of this run have spent; from now on it is this one's."""
        self._settle_dead(connection)
        mine = self._spenders(connection, "run = ?", self._run)
        gone = [spender for spender in mine if not self._lives(spender)]
        self._delete(connection, gone)
        return sum(spender.spent_usd for spender in gone)

    def _settle_dead(self, connection: sqlite3.Connection) -> None:
        """What a dead process was granted and did not spend is there for others."""
        unsettled = "account = ? AND granted_usd > spent_usd"
        for spender in self._spenders(connection, unsettled, self._account):
            if not self._lives(spender):
                spent = max(spender.spent_usd, self._ledger.cost_of([spender.run]))
                connection.execute(
                    "UPDATE spenders SET spent_usd = :spent, granted_usd = :spent WHERE seq = :seq",
                    {"spent": spent, "seq": spender.seq},
                )

    def _forget_old(self, connection: sqlite3.Connection) -> None:
        before = (datetime.now(UTC) - _KEPT).isoformat(timespec="milliseconds")
        old = self._spenders(connection, "joined_at < ?", before)
        self._delete(connection, [spender for spender in old if not self._lives(spender)])

    def _lives(self, spender: _Spender) -> bool:
        own = spender.seq == self._seq
        return own or self._locks.held_by_others(_FIRST_OFFSET + spender.seq)

    def _granted_to_others(self, connection: sqlite3.Connection) -> float:
        cursor = connection.execute(
            "SELECT coalesce(sum(granted_usd), 0) FROM spenders WHERE account = ? AND seq <> ?",
            [self._account, self._seq],
        )
        return float(cursor.fetchone()[0])

    def _set(self, connection: sqlite3.Connection, spent: float, granted: float) -> None:
        connection.execute(
            "UPDATE spenders SET spent_usd = ?, granted_usd = ? WHERE seq = ?",
            [spent, granted, self._seq],
        )

    def _insert(
        self, connection: sqlite3.Connection, run: str, spent: float, together: bool
    ) -> int:
        added = connection.execute(
            "INSERT INTO spenders (account, run, together, spent_usd, granted_usd, joined_at) "
            "VALUES (?, ?, ?, ?, ?, ?) RETURNING seq",
            [self._account, run, int(together), spent, spent, now()],
        ).fetchone()
        return int(added[0])

    @staticmethod
    def _spenders(connection: sqlite3.Connection, where: str, *values: str) -> list[_Spender]:
        rows = connection.execute(
            f"SELECT {', '.join(_Spender._fields)} FROM spenders WHERE {where} ORDER BY seq", values
        )
        return [_Spender(*row) for row in rows]

    @staticmethod
    def _delete(connection: sqlite3.Connection, spenders: Sequence[_Spender]) -> None:
        connection.executemany(
            "DELETE FROM spenders WHERE seq = ?", [(spender.seq,) for spender in spenders]
        )
