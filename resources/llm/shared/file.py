"""The store of limits and budgets that processes share while they call models.

All of it may be deleted while nothing runs: units are forgotten after their minute, and what runs have
spent is in the ledger. Each request commits, and nothing has to survive a power cut.
"""

from pathlib import Path

from sqlalchemy import Column, Index, MetaData, Table

from resources.stores import StoreKind
from resources.stores.columns import INTEGER, integer, number, numbered, text

METADATA = MetaData()
TAKEN = Table(
    "taken",
    METADATA,
    numbered("seq"),
    Column("of", INTEGER),
    text("minute"),
    number("at"),
    number("units"),
    Index("taken_of_minute", "minute", "seq"),
    sqlite_autoincrement=True,
)
"""Units taken of a limit per minute, in the time of the machine's monotonic clock, or of the server's
clock if machines share it. A row with `of` corrects the row of that number by `units`."""
SPENDERS = Table(
    "spenders",
    METADATA,
    numbered("seq"),
    text("account"),
    text("run"),
    integer("together"),
    number("spent_usd"),
    number("granted_usd"),
    text("joined_at"),
    Index("spenders_of_account", "account"),
    sqlite_autoincrement=True,
)
"""The runs that share a budget, which is an account. A run may spend what it was granted; while its
process lives, it holds the lock of the number that belongs to `seq`."""
LIMITS = StoreKind("limits", METADATA, Path(__file__).with_name("migrations"), outlives_power=False)
