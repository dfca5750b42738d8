"""The tables of the review store, their view and triggers, and their versions.

Triggers make events, revocations, comments and assignments append-only. The only permitted update is to
rename a person, while the table `renaming` has the old and the new name (`names.py`).
"""

from collections.abc import Iterable
from pathlib import Path

from sqlalchemy import (
    DDL,
    CheckConstraint,
    Column,
    Index,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    event,
    text,
)

from methods.json_text import from_json
from resources.stores import StoreKind
from resources.stores.columns import INTEGER, TEXTS, integer, number, numbered
from resources.stores.columns import text as texts
from resources.stores.sqlite_rows import Readers

METADATA = MetaData()


def _unique(name: str) -> Column[str]:
    return Column(name, TEXTS, nullable=False, unique=True)


def _counter(name: str) -> Column[int]:
    return Column(name, INTEGER, nullable=False, server_default=text("0"))


def _only() -> Column[int]:
    """Make the key of a table that has at most one row."""
    check = CheckConstraint('"only" = 1')
    return Column("only", INTEGER, check, primary_key=True, autoincrement=False)


# --- What people did -------------------------------------------------------------------------------

EVENTS = Table(
    "events",
    METADATA,
    numbered("event_id"),
    texts("item_id"),
    texts("content_hash"),
    integer("round"),
    texts("reviewer"),
    texts("verdict"),
    texts("edits", null=True),
    texts("reason", null=True),
    texts("note", null=True),
    number("seconds", null=True),
    texts("decided_at"),
    _unique("source_hash"),
    CheckConstraint("round IN (1, 2)"),
    CheckConstraint("reviewer <> '' AND lower(reviewer) NOT LIKE 'policy:%'"),
    CheckConstraint("verdict IN ('accept', 'edit', 'reject', 'skip')"),
    CheckConstraint("(edits IS NOT NULL) = (verdict = 'edit')"),
    CheckConstraint("reason IS NOT NULL OR verdict <> 'reject'"),
    Index("events_of_item", "item_id"),
    Index("events_of_reviewer", "reviewer", "decided_at"),
    sqlite_autoincrement=True,
)
"""Decisions of people, in the order in which they were stored. `standings` and `bars` are computed from
the decisions that are not revoked."""
REVOCATIONS = Table(
    "revocations",
    METADATA,
    numbered("revocation_id"),
    Column("event_id", INTEGER, nullable=False, unique=True),
    texts("person"),
    texts("reason", null=True),
    texts("revoked_at"),
    CheckConstraint("person <> ''"),
    sqlite_autoincrement=True,
)
"""Decisions that no longer count: taken back by their person (no reason), or revoked by an
administrator with a reason."""
COMMENTS = Table(
    "comments",
    METADATA,
    numbered("comment_id"),
    texts("item_id"),
    texts("author"),
    texts("addressee", null=True),
    texts("text"),
    texts("written_at"),
    CheckConstraint("author <> ''"),
    CheckConstraint("text <> ''"),
    Index("comments_of_item", "item_id"),
    sqlite_autoincrement=True,
)
"""Comments on items; `addressee` NULL means everybody who may read it."""
ASSIGNMENTS = Table(
    "assignments",
    METADATA,
    numbered("assignment_id"),
    Column("ends", INTEGER, unique=True),
    texts("annotator", null=True),
    integer("round", null=True),
    texts("kind", null=True),
    integer("bucket", null=True),
    number("start", null=True),
    number("share", null=True),
    texts("made_by"),
    texts("made_at"),
    CheckConstraint("round IN (1, 2)"),
    CheckConstraint("share > 0 AND share <= 1"),
    CheckConstraint(
        "(ends IS NULL) = (annotator IS NOT NULL AND round IS NOT NULL AND share IS NOT NULL)"
    ),
    sqlite_autoincrement=True,
)
"""Assignments of items to people, in the order in which leads made them. A row is an assignment, or,
with `ends`, the end of the assignment with that id. `methods/review/assignment.py` defines which items
an assignment covers; `assigned` is computed from it."""
RENAMING = Table(
    "renaming", METADATA, texts("old", key=True), texts("new"), sqlite_with_rowid=False
)
"""Old and new name of a person; filled and emptied in the transaction that renames the person."""

# --- Items -----------------------------------------------------------------------------------------

ITEMS = Table(
    "items",
    METADATA,
    texts("item_id", key=True),
    texts("kind"),
    texts("set_id", null=True),
    texts("content_hash"),
    texts("made_of"),
    integer("place"),
    integer("withdrawn"),
    texts("title"),
    CheckConstraint("withdrawn IN (0, 1)"),
)
"""Items as last queued, ordered by `place`. Withdrawn items are kept, since somebody may have worked on
them. `made_of` is the content id of the whole item: only changed items are written."""
ITEM_CONTENTS = Table("item_contents", METADATA, texts("item_id", key=True), texts("item"))
"""The whole item, as JSON."""
ITEM_TEXTS = Table("item_texts", METADATA, texts("item_id", key=True), texts("text"))
"""The texts of an item in lower case, for the search."""
STANDINGS = Table(
    "standings",
    METADATA,
    texts("item_id", key=True),
    texts("kind"),
    integer("place"),
    texts("status"),
    integer("people"),
    integer("round", null=True),
    texts("content_hash"),
    _counter("priority"),
    _counter("unreserved"),
    # A covering index for the choice of the next item.
    Index(
        "standings_to_hand_out",
        *("status", "priority", "place", "kind", "item_id", "people"),
        *("unreserved", "round", "content_hash"),
    ),
    Index("standings_in_order", "place", "kind", "status", "item_id"),
    Index("standings_of_kind", "kind", "status"),
)
"""The status of each queued item (`methods/review/process.py`); recomputed with each event. `round` and
`content_hash` belong to the next decision. `people` is the number of people who must still decide,
`unreserved` the number of them to whom the item need not be assigned. People get items in the order of
`priority`, then of `place`."""
BARS = Table(
    "bars",
    METADATA,
    texts("item_id"),
    texts("annotator"),
    PrimaryKeyConstraint("item_id", "annotator"),
    sqlite_with_rowid=False,
)
"""People who may not make the next decision on an item."""
ASSIGNED = Table(
    "assigned",
    METADATA,
    texts("item_id"),
    texts("annotator"),
    integer("round"),
    integer("assignment_id"),
    texts("progress"),
    integer("priority"),
    integer("place"),
    PrimaryKeyConstraint("item_id", "annotator", "round"),
    CheckConstraint("progress IN ('open', 'done', 'waiting')"),
    Index(
        "assigned_in_order",
        *("annotator", "round", "progress", "priority", "place", "item_id"),
    ),
    Index("assigned_of_assignment", "assignment_id", "progress"),
    sqlite_with_rowid=False,
)
"""The queued items of active assignments, at most once per person and round. Recomputed with each
event."""
GOLD = Table(
    "gold",
    METADATA,
    texts("item_id", key=True),
    texts("of_item"),
    texts("expected"),
    texts("made_by"),
    texts("made_at"),
)
"""Gold items, whose correct decision is known: copies of items that an expert decided. Each copy is in
`items` under a new id and marked as withdrawn, so that decisions on it change no standing. `expected`
is the expert's result, as JSON."""

# --- Who works on what -----------------------------------------------------------------------------

LOCKS = Table(
    "locks",
    METADATA,
    texts("token", key=True),
    texts("item_id"),
    texts("annotator"),
    integer("round"),
    texts("content_hash"),
    texts("expires_at"),
    UniqueConstraint("item_id", "annotator"),
    Index("locks_of_annotator", "annotator"),
    sqlite_with_rowid=False,
)
"""The item that a person works on, until `expires_at`. An expired lock blocks nobody, but its token
still gives access to its draft."""
DRAFTS = Table(
    "drafts",
    METADATA,
    texts("item_id"),
    texts("content_hash"),
    integer("round"),
    texts("annotator"),
    texts("draft"),
    texts("saved_at"),
    PrimaryKeyConstraint("item_id", "content_hash", "round", "annotator"),
)
"""Unfinished work of people, until they decide."""
RULES = Table("rules", METADATA, _only(), texts("rules"))
"""The review rules on which the standings are based, as JSON: one row."""
CLOCK = Table("clock", METADATA, _only(), number("ahead"), number("latest"))
"""The lock time (`clock.py`), one row. `ahead` is the number of seconds by which it is ahead of the
database's clock, `latest` the latest lock time in seconds since 1970."""

# --- Who reviews -----------------------------------------------------------------------------------

ACCOUNTS = Table(
    "accounts",
    METADATA,
    texts("name", key=True),
    _unique("folded"),
    texts("role"),
    texts("password", null=True),
    texts("created_at"),
    texts("disabled_at", null=True),
    CheckConstraint("name <> '' AND lower(name) NOT LIKE 'policy:%'"),
    CheckConstraint("role IN ('annotator', 'expert', 'admin')"),
    sqlite_strict=True,
)
"""Accounts of people who review. `folded` is equal for names that differ only by case, width or
accents' encoding. `password` is the hash with salt and parameters; NULL for a person who signs in by
link only."""
SIGN_IN_LINKS = Table(
    "sign_in_links",
    METADATA,
    texts("token_hash", key=True),
    _unique("name"),
    texts("expires_at"),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
"""Sign-in links, each for one use. Only the SHA-256 of a token is stored."""
SESSIONS = Table(
    "sessions",
    METADATA,
    texts("token_hash", key=True),
    texts("name"),
    texts("began_at"),
    texts("seen_at"),
    Index("sessions_of_name", "name"),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
"""Sessions: who is signed in, since when, and the time of their last request."""
SIGN_IN_ATTEMPTS = Table(
    "sign_in_attempts",
    METADATA,
    numbered("attempt_id"),
    texts("name_hash"),
    texts("address"),
    texts("tried_at"),
    Index("attempts_of_name", "name_hash"),
    Index("attempts_of_address", "address"),
    sqlite_strict=True,
)
"""Recent failed sign-ins by password. People may type a password into the field of the name, so only
the SHA-256 of a name is stored."""

# --- The view, and the triggers --------------------------------------------------------------------

_IN_FORCE = DDL("""
CREATE VIEW in_force AS
SELECT * FROM events WHERE event_id NOT IN (SELECT event_id FROM revocations)
""")
"""The view of the decisions that are not revoked."""
event.listen(METADATA, "after_create", _IN_FORCE)
_ON_SQLITE = """
CREATE TRIGGER {name} BEFORE {change} ON {table}
{when}
BEGIN SELECT RAISE({refusal}); END
"""
_ON_POSTGRES = (
    """
CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $trigger$
#variable_conflict use_column
BEGIN
    IF {condition} THEN
        {refusal};
    END IF;
    RETURN {row};
END;
$trigger$
""",
    "CREATE TRIGGER {name} BEFORE {change} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()",
)


def _trigger(
    table: str, name: str, change: str, message: str | None, condition: str | None = None
) -> None:
    """Add a trigger that refuses a change with a message, or else skips the row silently."""
    parts = {"table": table, "name": f"{table}_{name}", "change": change}
    sqlite_condition = condition and condition.format(differs="IS NOT")
    postgres_condition = condition and condition.format(differs="IS DISTINCT FROM")
    abort = f"RAISE EXCEPTION USING MESSAGE = '{message}', ERRCODE = '23000'"
    on_sqlite = _ON_SQLITE.format(
        **parts,
        when=f"WHEN {sqlite_condition}" if sqlite_condition else "",
        refusal=f"ABORT, '{message}'" if message else "IGNORE",
    )
    event.listen(METADATA, "after_create", DDL(on_sqlite).execute_if(dialect="sqlite"))
    for statement in _ON_POSTGRES:
        postgres_statement = statement.format(
            **parts,
            condition=postgres_condition or "true",
            refusal=abort if message else "RETURN NULL",
            row="OLD" if change == "DELETE" else "NEW",
        )
        event.listen(
            METADATA, "after_create", DDL(postgres_statement).execute_if(dialect="postgresql")
        )


def _changed(names: Iterable[str]) -> str:
    return " OR ".join(f"NEW.{name} {{differs}} OLD.{name}" for name in names)


def _renamed(name: str) -> str:
    return f"EXISTS (SELECT 1 FROM renaming WHERE old = OLD.{name} AND new = NEW.{name})"


def _names_change(names: Iterable[str]) -> str:
    return " OR ".join(f"({_changed([name])} AND NOT {_renamed(name)})" for name in names)


def _kept(table: Table, *but: str) -> list[str]:
    return [column.name for column in table.columns if column.name not in but]


def _append_only(table: Table, rows: str, may_change: str) -> None:
    name = table.name
    _trigger(name, "no_update", "UPDATE", f"{rows} are append-only: no UPDATE", may_change)
    _trigger(name, "no_delete", "DELETE", f"{rows} are append-only: no DELETE")


# The source hash of a decision includes the name, so it may change with the name.
_append_only(
    EVENTS,
    "review events",
    f"NOT {_renamed('reviewer')} OR {_changed(_kept(EVENTS, 'reviewer', 'source_hash'))}",
)
_append_only(
    REVOCATIONS,
    "revocations",
    f"NOT {_renamed('person')} OR {_changed(_kept(REVOCATIONS, 'person'))}",
)
_append_only(
    COMMENTS,
    "comments",
    f"{_changed(_kept(COMMENTS, 'author', 'addressee'))} OR {_names_change(['author', 'addressee'])}",
)
_append_only(
    ASSIGNMENTS,
    "assignments",
    f"{_changed(_kept(ASSIGNMENTS, 'annotator', 'made_by'))} "
    f"OR {_names_change(['annotator', 'made_by'])}",
)
# SQLite's INSERT OR REPLACE deletes rows without firing the DELETE trigger.
_trigger(
    "events",
    "no_replace",
    "INSERT",
    None,
    "EXISTS (SELECT 1 FROM events WHERE event_id = NEW.event_id OR source_hash = NEW.source_hash)",
)
_trigger(
    "revocations",
    "no_replace",
    "INSERT",
    None,
    "EXISTS (SELECT 1 FROM revocations WHERE event_id = NEW.event_id)",
)
REVIEW = StoreKind("review", METADATA, Path(__file__).with_name("migrations"))
READERS: Readers = dict.fromkeys(
    ("events.edits", "item_contents.item", "gold.expected", "drafts.draft", "rules.rules"),
    from_json,
)
"""The columns that hold JSON."""
