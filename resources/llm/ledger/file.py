"""The ledger's tables (schema). Only the modules of this folder open the store.

Small columns come first in a row, so that reading them does not load the overflow pages of long texts.
`seq` is the order of commits. `calls.py` says what the other columns are; `answered_as` and
`claimed_tokens` are NULL for nearly all rows.
"""

from pathlib import Path
from typing import Any

from sqlalchemy import DDL, Column, Index, MetaData, PrimaryKeyConstraint, Table, event

from resources.stores import StoreKind
from resources.stores.columns import BYTES, TEXTS, integer, number, numbered, text
from resources.stores.engine import RESTORE

METADATA = MetaData()


def _who_asked_whom() -> list[Column[Any]]:
    names = ("provider", "endpoint", "model", "prompt_version", "stage", "run", "via", "outcome")
    return [text(name) for name in (*names, "finish_reason")]


def _tokens_and_cost() -> list[Column[Any]]:
    return [integer("prompt_tokens"), integer("completion_tokens"), number("cost_usd")]


def _texts() -> list[Column[Any]]:
    return [
        text("response"),
        text("reasoning", null=True),
        Column("request", BYTES, nullable=False),
        text("answered_as", null=True),
        integer("claimed_tokens", null=True),
        integer("image_tokens", null=True),
    ]


CALLS = Table(
    "calls",
    METADATA,
    numbered("seq"),
    Column("key", TEXTS, nullable=False, unique=True),
    *_who_asked_whom(),
    *_tokens_and_cost(),
    number("seconds"),
    integer("attempts"),
    text("created_at"),
    *_texts(),
)
"""Stored replies, one for each request: an answer, an answer that could not be parsed (outcome
`unread`), or a reply without an answer that would be the same next time, as the token limit is too
small (`truncated`, `reasoning_only`)."""
_UNREAD = CALLS.c.outcome == "unread"
Index("calls_unread", CALLS.c.stage, sqlite_where=_UNREAD, postgresql_where=_UNREAD)
CHARGES = Table(
    "charges",
    METADATA,
    numbered("seq"),
    text("key"),
    *_who_asked_whom(),
    *_tokens_and_cost(),
    text("created_at"),
    text("detail"),
    *_texts(),
)
"""Requests without a usable answer, which are sent again next time: withheld by a filter,
empty, unreadable, a second answer to the same request, or no reply at all (free). `response`
is the beginning of the reply."""
RENEWALS = Table(
    "renewals",
    METADATA,
    numbered("seq"),
    text("model", null=True),
    text("stage", null=True),
    text("prompt", null=True),
    text("created_at"),
)
"""Decisions to request answers again: of a model (endpoint and name), in a stage,
with a prompt. NULL means any."""
BATCHES = Table(
    "batches",
    METADATA,
    text("batch", key=True),
    text("model"),
    text("remote_id", null=True),
    text("status"),
    integer("n_requests"),
    text("created_at"),
    text("ended_at", null=True),
    text("address", null=True),
)
"""Batches for a provider; `remote_id` is NULL until the provider has given it."""
BATCH_ITEMS = Table(
    "batch_items",
    METADATA,
    text("key", key=True),
    text("batch"),
    integer("submissions"),
    text("state"),
    text("kind", null=True),
    text("detail", null=True),
    text("stage"),
    text("run"),
    text("prompt_version"),
    Column("request", BYTES, nullable=False),
    Index("items_of_batch", "batch"),
)
"""Requests in batches. A row is deleted when its answer is stored, or its failure was reported."""
BATCH_WAITS = Table(
    "batch_waits",
    METADATA,
    text("run"),
    text("batch"),
    PrimaryKeyConstraint("run", "batch"),
    sqlite_with_rowid=False,
)
"""Runs that stopped to wait for a batch, until they have been resumed."""
_PAID_CALLS = DDL("""
CREATE VIEW paid_calls AS
SELECT
    key, CASE outcome WHEN 'answered' THEN 'answered' ELSE 'lost' END AS status, provider, endpoint,
    model, prompt_version, stage, run, via, outcome, finish_reason, prompt_tokens, completion_tokens,
    cost_usd, seconds, attempts, answered_as, claimed_tokens, created_at, image_tokens
FROM calls
UNION ALL
SELECT
    key, 'lost', provider, endpoint, model, prompt_version, stage, run, via, outcome, finish_reason,
    prompt_tokens, completion_tokens, cost_usd, NULL, NULL, answered_as, claimed_tokens, created_at,
    image_tokens
FROM charges
""")
"""A view of all calls and charges, without their texts."""
event.listen(METADATA, "after_create", _PAID_CALLS)
LEDGER = StoreKind(
    "ledger",
    METADATA,
    Path(__file__).with_name("migrations"),
    if_damaged=f"{RESTORE}, after which all answers are requested and paid for again",
)
