"""The ledger's accounts in bulk: what every call and charge cost, as Arrow.

What belongs here: reading them without holding them twice, a few hundred thousand at a time. What they
say is the view `accounts` in `resources/llm/ledger.sql`.
"""

from typing import TYPE_CHECKING

from resources.llm.ledger import Ledger

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_AT_ONCE = 2000
"""As Python objects a row weighs five times what it does in Arrow."""


def read_accounts(ledger: Ledger, schema: "pa.Schema") -> "pa.Table":
    """Every account in the columns and types of `schema`: answered calls as committed, then charges."""
    import pyarrow as pa

    columns = ", ".join(f'"{name}"' for name in schema.names)
    cursor = ledger.connection.execute(f"SELECT {columns} FROM accounts")
    batches = []
    while rows := cursor.fetchmany(ROWS_AT_ONCE):
        arrays = [
            _array(values, field.type)
            for values, field in zip(zip(*rows, strict=True), schema, strict=True)
        ]
        batches.append(pa.record_batch(arrays, schema=schema))
    return pa.Table.from_batches(batches, schema=schema)


def count_accounts(ledger: Ledger) -> int:
    """How many there are."""
    return int(ledger.connection.execute("SELECT count(*) FROM accounts").fetchone()[0])


def _array(values: tuple[object, ...], kind: "pa.DataType") -> "pa.Array":
    import pyarrow as pa

    if pa.types.is_timestamp(kind):
        # SQLite has no type for times: they are ISO 8601 there.
        return pa.array(values, pa.string()).cast(kind)
    return pa.array(values, kind)
