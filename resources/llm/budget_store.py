"""The store of budgets: one row for each run chain, shared by all processes of its runs.

A chain is a run, the runs that it retries or continues, and the runs that share LOOM_BUDGET_USD with
it. The store may be deleted while no run is active, because the ledger also has the costs of runs.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

from sqlalchemy import Connection, MetaData, Table, bindparam, delete, insert, select, update

from resources.llm.ledger import Ledger, current_time
from resources.llm.store_calls import StoreCalls
from resources.migrations import StoreError
from resources.stores import StoreKind, open_store
from resources.stores.columns import integer, number, text
from resources.stores.inserts import insert_missing
from resources.stores.sqlite import SqliteStore

METADATA = MetaData()
BUDGETS = Table(
    "budgets",
    METADATA,
    text("chain", key=True),
    number("spent_usd"),
    number("reserved_usd"),
    text("changed_at"),
)
"""The US dollars that the runs of each chain have spent, and reserved for calls in flight."""
RUNS = Table("budget_runs", METADATA, text("run", key=True), text("chain"), integer("together"))
"""The chain of each run; `together` is 1 for a run that shares LOOM_BUDGET_USD."""
BUDGET_STORE = StoreKind(
    "limits", METADATA, Path(__file__).with_name("migrations"), outlives_power=False
)
ROUNDING_USD = 1e-9
"""Tolerance in US dollars for rounding errors of sums."""
_KEPT = timedelta(days=30)
"""A chain is deleted this long after its last call."""

_IS_CHAIN = BUDGETS.c.chain == bindparam("of_chain")
_CHARGE = (
    update(BUDGETS)
    .where(
        _IS_CHAIN,
        BUDGETS.c.spent_usd + BUDGETS.c.reserved_usd + bindparam("usd") <= bindparam("limit"),
    )
    .values(reserved_usd=BUDGETS.c.reserved_usd + bindparam("usd"), changed_at=bindparam("at"))
)
_CHANGE = (
    update(BUDGETS)
    .where(_IS_CHAIN)
    .values(
        reserved_usd=BUDGETS.c.reserved_usd + bindparam("reserved"),
        spent_usd=BUDGETS.c.spent_usd + bindparam("spent"),
        changed_at=bindparam("at"),
    )
)
_READ = select(BUDGETS.c.spent_usd, BUDGETS.c.reserved_usd).where(_IS_CHAIN)


class ChainBudget:
    """The budget row of one run's chain. An event loop calls its methods through `calls`.

    Args:
        path: The store's file.
        ledger: The ledger, which has the costs of runs that are missing in the store.
        run: The id of the run; empty for a run without an id.
        ancestors: The runs that it retries or continues. The run joins their chain.
        at_work: The runs that are active in Dagster now.
        together: Whether the run shares LOOM_BUDGET_USD. It then joins the chain of an
            active run that also shares it.
    """

    def __init__(
        self,
        path: Path,
        ledger: Ledger,
        run: str,
        ancestors: Sequence[str] = (),
        at_work: Sequence[str] = (),
        *,
        together: bool = False,
    ):
        self._store = open_store(BUDGET_STORE, path)
        self.calls = StoreCalls(not isinstance(self._store, SqliteStore))
        self._due_reserved = self._due_spent = 0.0
        """Changes that are not stored yet, because the store was unreachable."""
        with self._store.transaction() as connection:
            _forget_old(connection)
            family = list(dict.fromkeys((run or uuid4().hex, *ancestors)))
            others = [other for other in at_work if other != run]
            self._chain = _join(connection, ledger, family, others, together)

    def charge(self, usd: float, limit: float) -> bool:
        """Reserve US dollars.

        Args:
            usd: The US dollars to reserve.
            limit: The limit of the run.

        Returns:
            Whether they were reserved: False if the sum of spent and reserved dollars would exceed the
            limit.
        """
        values = {"usd": usd, "limit": limit + ROUNDING_USD}
        with self._transaction() as connection:
            return connection.execute(_CHARGE, self._values(values)).rowcount == 1

    def change(self, reserved_usd: float, spent_usd: float) -> None:
        """Add to the reserved and to the spent US dollars; negative numbers subtract.

        Args:
            reserved_usd: The change of the reserved dollars.
            spent_usd: The change of the spent dollars.

        Raises:
            StoreError: The store is unreachable. The next transaction makes the change.
        """
        self._due_reserved += reserved_usd
        self._due_spent += spent_usd
        with self._transaction():
            pass

    def read(self) -> tuple[float, float]:
        """Return the spent and the reserved US dollars."""
        with self._store.read() as connection:
            spent, reserved = connection.execute(_READ, {"of_chain": self._chain}).one()
        return spent + self._due_spent, reserved + self._due_reserved

    def finish(self, ancestors: Sequence[str]) -> None:
        """End the chain of these runs: a later run that names them starts a new chain."""
        with self._store.transaction() as connection:
            connection.execute(delete(RUNS).where(RUNS.c.run.in_(ancestors)))

    def close(self) -> None:
        """Wait for all pending calls, try to store missing changes once more, and close the store."""
        self.calls.close()
        if self._due_reserved or self._due_spent:
            with suppress(StoreError):
                self.change(0.0, 0.0)
        self._store.close()

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """Open a transaction that also makes the changes that are not stored yet."""
        reserved, spent = self._due_reserved, self._due_spent
        with self._store.transaction(in_turn=False) as connection:
            if reserved or spent:
                connection.execute(_CHANGE, self._values({"reserved": reserved, "spent": spent}))
            yield connection
        self._due_reserved -= reserved
        self._due_spent -= spent

    def _values(self, values: dict[str, float]) -> dict[str, object]:
        return {**values, "of_chain": self._chain, "at": current_time()}


def _join(
    connection: Connection,
    ledger: Ledger,
    family: Sequence[str],
    at_work: Sequence[str],
    together: bool,
) -> str:
    """Find or create the chain of a run and its ancestors, and add the costs of new members to its row.

    If no other run of the chain is active, its reservations are left over from killed processes and are
    released.
    """
    chains = select(RUNS.c.run, RUNS.c.chain)
    chain_of_run = {
        run: chain for run, chain in connection.execute(chains.where(RUNS.c.run.in_(family)))
    }
    chain = next(iter(chain_of_run.values()), None)
    if chain is None and together:
        beside = select(RUNS.c.chain).where(RUNS.c.run.in_(at_work), RUNS.c.together == 1)
        chain = connection.execute(beside.limit(1)).scalar()
    chain = chain or uuid4().hex
    new = [run for run in family if run not in chain_of_run]
    rows = [{"run": run, "chain": chain, "together": int(together)} for run in new]
    if rows:
        connection.execute(insert(RUNS), rows)
    row = {"chain": chain, "spent_usd": 0.0, "reserved_usd": 0.0, "changed_at": current_time()}
    connection.execute(insert_missing(connection.dialect.name, BUDGETS), row)
    spent, reserved = connection.execute(_READ, {"of_chain": chain}).one()
    cost = ledger.cost_of(new)
    runs = connection.execute(select(RUNS.c.run).where(RUNS.c.chain == chain)).scalars().all()
    if not set(runs) & set(at_work):
        cost, reserved = max(cost, ledger.cost_of(runs) - spent), -reserved
    else:
        reserved = 0.0
    values = {"of_chain": chain, "reserved": reserved, "spent": cost, "at": current_time()}
    connection.execute(_CHANGE, values)
    return chain


def _forget_old(connection: Connection) -> None:
    before = (datetime.now(UTC) - _KEPT).isoformat(timespec="milliseconds")
    connection.execute(delete(BUDGETS).where(BUDGETS.c.changed_at < before))
    connection.execute(delete(RUNS).where(RUNS.c.chain.not_in(select(BUDGETS.c.chain))))
