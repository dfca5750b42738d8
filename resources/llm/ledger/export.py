"""The ledger's paid calls in bulk: what every call and charge cost, as Arrow.

What belongs here: reading them without holding them twice, a few hundred thousand at a time. What they
say is the view `paid_calls` in `schema.sql`.
"""

from typing import TYPE_CHECKING

from resources.llm.ledger.ledger import Ledger

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_AT_ONCE = 2000
"""As Python objects a row weighs five times what it does in Arrow."""


def read_paid_calls(ledger: Ledger, schema: "pa.Schema") -> "pa.Table":
    """Every paid call in the columns and types of `schema`: answered calls, then charges."""
    import pyarrow as pa

    batches = []
    for rows in ledger.paid_calls(schema.names, ROWS_AT_ONCE):
        arrays = [
            _array(values, field.type)
            for values, field in zip(zip(*rows, strict=True), schema, strict=True)
        ]
        batches.append(pa.record_batch(arrays, schema=schema))
    return pa.Table.from_batches(batches, schema=schema)


def _array(values: tuple[object, ...], kind: "pa.DataType") -> "pa.Array":
    import pyarrow as pa

    if pa.types.is_timestamp(kind):
        # SQLite has no type for times: they are ISO 8601 there.
        return pa.array(values, pa.string()).cast(kind)
    return pa.array(values, kind)
