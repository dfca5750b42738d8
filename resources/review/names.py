"""Renaming of people in the review store: new names, pseudonyms (erasure), and merged spellings.

Events are append-only. Triggers allow one change: a name from `renaming.old` to `renaming.new`. The
table `renaming` has rows only within the transaction that renames.
"""

import secrets
from collections.abc import Callable

from sqlalchemy import Connection, text

from methods.ids import content_id
from resources.review import assignments, item_status

NAMED = (
    ("events", "reviewer"),
    ("revocations", "person"),
    ("comments", "author"),
    ("comments", "addressee"),
    ("locks", "annotator"),
    ("drafts", "annotator"),
    ("assignments", "annotator"),
    ("assignments", "made_by"),
    ("assigned", "annotator"),
    ("gold", "made_by"),
    ("accounts", "name"),
    ("sessions", "name"),
    ("sign_in_links", "name"),
)
"""(table, column) with names of people; `bars` has names, too, but is computed from the events."""
_ONE_FOR_A_PERSON = {
    "locks": "item_id",
    "drafts": "item_id, content_hash, round",
    "assigned": "item_id, round",
}
"""Table -> key columns: a person has at most one row for each key."""
_RENAME = text("INSERT INTO renaming (old, new) VALUES (:old, :new)")
_RENAMED = text("DELETE FROM renaming")
_DECIDED = text("SELECT item_id, event_id FROM events WHERE reviewer = :name")
_SET_SOURCE = text("UPDATE events SET source_hash = :source_hash WHERE event_id = :event_id")
_SPELLINGS = text("SELECT reviewer, min(event_id) FROM events GROUP BY reviewer ORDER BY 2")


def replace(connection: Connection, old: str, new: str) -> int:
    """Replace a person's name everywhere, inside the caller's transaction.

    Args:
        connection: The review store.
        old: The current name.
        new: The new name.

    Returns:
        The number of decisions under the old name.
    """
    names = {"old": old, "new": new}
    connection.execute(_RENAME, names)
    changed = connection.execute(_DECIDED, {"name": old}).all()
    for table, key in _ONE_FOR_A_PERSON.items():
        # If both names have a row for a key, the row of the renamed person stays.
        connection.execute(
            text(
                f"DELETE FROM {table} WHERE annotator = :new "
                f"AND ({key}) IN (SELECT {key} FROM {table} WHERE annotator = :old)"
            ),
            names,
        )
    for table, column in NAMED:
        connection.execute(text(f"UPDATE {table} SET {column} = :new WHERE {column} = :old"), names)
    connection.execute(_RENAMED)
    item_status.update(connection, sorted({row.item_id for row in changed}))
    assignments.renew(connection)
    return len(changed)


def forget(connection: Connection, name: str) -> str:
    """Replace a name by a new pseudonym; delete the person's locks, drafts, sessions and links.

    Returns the pseudonym.
    """
    pseudonym = f"person-{secrets.token_hex(4)}"
    for table, column in (
        *(("locks", "annotator"), ("drafts", "annotator")),
        *(("sessions", "name"), ("sign_in_links", "name")),
    ):
        connection.execute(text(f"DELETE FROM {table} WHERE {column} = :name"), {"name": name})
    replace(connection, name, pseudonym)
    # The hash of a decision includes the name, so guessed names could be checked against it.
    connection.execute(_RENAME, {"old": pseudonym, "new": pseudonym})
    for row in connection.execute(_DECIDED, {"name": pseudonym}).all():
        source_hash = content_id("erased", row.event_id, secrets.token_hex(8))
        connection.execute(_SET_SOURCE, {"source_hash": source_hash, "event_id": row.event_id})
    connection.execute(_RENAMED)
    return pseudonym


def unite(connection: Connection, folded: Callable[[str], str]) -> None:
    """Merge the spellings of a name on decisions, since imports of earlier versions accepted any name.

    The name of the account wins, else the first spelling. `folded` normalizes a name, so that its
    spellings become equal.
    """
    for old, new in spellings(connection, folded).items():
        replace(connection, old, new)


def spellings(connection: Connection, folded: Callable[[str], str]) -> dict[str, str]:
    """Find names on decisions that are other spellings of an account's name or an earlier name.

    `folded` is that of `unite`. Returns the name that replaces each spelling.
    """
    accounts = connection.execute(text("SELECT folded, name FROM accounts"))
    first = {row.folded: row.name for row in accounts}
    other = {}
    for row in connection.execute(_SPELLINGS):
        name = first.setdefault(folded(row.reviewer), row.reviewer)
        if name != row.reviewer:
            other[row.reviewer] = name
    return other
