"""The ledger's tables. Nothing outside this folder opens the store.

What is small stands first in a row: reading it never touches the pages that long texts overflow to.
`seq` is the order of commits. `endpoint` is who answered, `model` the name that the server knows the
model by. `answered_as` is the model that the reply names if it is another, `claimed_tokens` the tokens
that it counts if they are not believed and others were estimated; both are NULL for nearly all.
`image_tokens` are the prompt's tokens of images, where the server reports them.
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
"""Replies that are kept, one for a request: an answer, one that its asker could not read (outcome
`unread`), or one that would come again (`truncated`, `reasoning_only`: the token limit is small)."""
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
"""No answer, and asked again next time: withheld by a filter, empty, unreadable, a second answer to a
request, or no reply from the server, which costs nothing. `response` is the reply, cut."""
RENEWALS = Table(
    "renewals",
    METADATA,
    numbered("seq"),
    text("model", null=True),
    text("stage", null=True),
    text("prompt", null=True),
    text("created_at"),
)
"""Decisions to ask again for what was answered: by a model (endpoint and name), in a stage, with a
prompt; NULL is any."""
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
)
"""Batches handed to a provider; `remote_id` is NULL until the provider has given it."""
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
"""Requests on their way through batches; a row goes when its answer or loss was taken in."""
BATCH_WAITS = Table(
    "batch_waits",
    METADATA,
    text("run"),
    text("batch"),
    PrimaryKeyConstraint("run", "batch"),
    sqlite_with_rowid=False,
)
"""Which runs stopped to wait for a batch, until they have been run again."""
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
"""Every call, answered or lost, without its texts."""
event.listen(METADATA, "after_create", _PAID_CALLS)
LEDGER = StoreKind(
    "ledger",
    METADATA,
    Path(__file__).with_name("migrations"),
    if_damaged=f"{RESTORE}, after which all answers are requested and paid for again",
)
