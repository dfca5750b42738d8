"""Accounts: the budgets that runs share.

What belongs here: which runs share one, and what each may spend of it. What a call may cost, and who
waits for whom within a process, is `resources/llm/budget.py`.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import uuid4

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from resources.llm.ledger import Ledger, now
from resources.llm.shared.file import SPENDERS
from resources.llm.store_calls import StoreCalls
from resources.migrations import StoreError
from resources.stores import Store
from resources.stores.locks import Locks

AHEAD = 0.05
"""Part of the rest of a budget that a run is granted beyond what it needs at the moment: so it does not
have to ask for each call."""
_FIRST_OFFSET = 2**62
"""Beyond the offsets of places (`shared_limits.py`)."""
COLUMNS = SPENDERS.c
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
    An event loop calls it by its `calls`.
    """

    def __init__(
        self,
        store: Store,
        locks: Locks,
        ledger: Ledger,
        run: str,
        ancestors: Sequence[str],
        *,
        together: bool,
    ):
        self._store, self._locks, self._ledger = store, locks, ledger
        self.calls = StoreCalls(locks.may_wait)
        self.others_usd = 0.0
        """What the others of the account have spent or may still spend, as of the last grant."""
        self.others_at_work = False
        """Whether another run may give back some of what was lacking, as of the last grant."""
        self._run, self._seq = run or uuid4().hex, 0
        with store.transaction() as connection:
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
        with self._store.transaction() as connection:
            self.others_usd = self._granted_to_others(connection)
            if self.others_usd + needed > limit:
                self._settle_dead(connection)
                self.others_usd = self._granted_to_others(connection)
            rest = limit - self.others_usd - needed
            granted = needed + AHEAD * rest if rest >= 0 else spent + reserved
            self.others_at_work = rest < 0 and self._others_may_spend(connection)
            self._set(connection, spent, granted)
        return granted

    def settle(self, spent: float) -> None:
        """This run has spent `spent` and needs no more at the moment."""
        with self._store.transaction() as connection:
            self._set(connection, spent, spent)

    def finish(self, ancestors: Sequence[str]) -> None:
        """The work of these ancestors is done: who names them begins with a budget of its own."""
        with self._store.transaction() as connection:
            connection.execute(delete(SPENDERS).where(COLUMNS.run.in_(ancestors)))

    def leave(self, spent: float) -> None:
        """This run's process asks no more."""
        self.calls.close()
        with suppress(StoreError):  # Who finds it left without a word settles it.
            self.settle(spent)
        self._locks.release(_FIRST_OFFSET + self._seq)

    def _join(self, connection: Connection, ancestors: Sequence[str], together: bool) -> str:
        known = self._spenders(connection)
        family = {self._run, *ancestors}
        shared = [spender.account for spender in known if spender.run in family]
        if together and not shared:
            at_work = (spender for spender in known if spender.together and self._lives(spender))
            shared = [spender.account for spender in at_work]
        account = self._account = shared[-1] if shared else uuid4().hex
        of_family = update(SPENDERS).where(COLUMNS.run.in_(family))
        connection.execute(of_family.values(account=account))
        for run in dict.fromkeys(ancestors):
            if run not in {spender.run for spender in known}:
                # It had no budget, or its account was forgotten.
                self._insert(connection, run, self._ledger.cost_of([run]), together=False)
        return account

    def _take_over(self, connection: Connection) -> float:
        """What earlier processes of this run have spent; from now on it is this one's."""
        self._settle_dead(connection)
        mine = self._spenders(connection, COLUMNS.run == self._run)
        gone = [spender for spender in mine if not self._lives(spender)]
        self._delete(connection, gone)
        return sum(spender.spent_usd for spender in gone)

    def _settle_dead(self, connection: Connection) -> None:
        """What a dead process was granted and did not spend is there for others."""
        unsettled = COLUMNS.account == self._account, COLUMNS.granted_usd > COLUMNS.spent_usd
        for spender in self._spenders(connection, *unsettled):
            if not self._lives(spender):
                spent = max(spender.spent_usd, self._ledger.cost_of([spender.run]))
                of_dead = update(SPENDERS).where(COLUMNS.seq == spender.seq)
                connection.execute(of_dead.values(spent_usd=spent, granted_usd=spent))

    def _forget_old(self, connection: Connection) -> None:
        before = (datetime.now(UTC) - _KEPT).isoformat(timespec="milliseconds")
        old = self._spenders(connection, COLUMNS.joined_at < before)
        self._delete(connection, [spender for spender in old if not self._lives(spender)])

    def _lives(self, spender: _Spender) -> bool:
        own = spender.seq == self._seq
        return own or self._locks.held_by_others(_FIRST_OFFSET + spender.seq)

    def _is_others(self) -> ColumnElement[bool]:
        return (COLUMNS.account == self._account) & (COLUMNS.seq != self._seq)

    def _granted_to_others(self, connection: Connection) -> float:
        granted = select(func.coalesce(func.sum(COLUMNS.granted_usd), 0.0))
        return float(connection.execute(granted.where(self._is_others())).scalar_one())

    def _others_may_spend(self, connection: Connection) -> bool:
        others = self._is_others(), COLUMNS.granted_usd > COLUMNS.spent_usd
        return connection.execute(select(COLUMNS.seq).where(*others)).first() is not None

    def _set(self, connection: Connection, spent: float, granted: float) -> None:
        mine = update(SPENDERS).where(COLUMNS.seq == self._seq)
        connection.execute(mine.values(spent_usd=spent, granted_usd=granted))

    def _insert(self, connection: Connection, run: str, spent: float, together: bool) -> int:
        row = insert(SPENDERS).values(
            account=self._account,
            run=run,
            together=int(together),
            spent_usd=spent,
            granted_usd=spent,
            joined_at=now(),
        )
        return int(connection.execute(row.returning(COLUMNS.seq)).scalar_one())

    @staticmethod
    def _spenders(connection: Connection, *where: ColumnElement[bool]) -> list[_Spender]:
        query = select(*(COLUMNS[name] for name in _Spender._fields)).where(*where)
        return [_Spender(*row) for row in connection.execute(query.order_by(COLUMNS.seq))]

    @staticmethod
    def _delete(connection: Connection, spenders: Sequence[_Spender]) -> None:
        gone = COLUMNS.seq.in_([spender.seq for spender in spenders])
        connection.execute(delete(SPENDERS).where(gone))
