"""Names of people that change: a new name, a pseudonym, and spellings that become one.

The store's triggers let `reviewer` change to what the table `renaming` says, which has rows only inside
the transaction that renames; everything else of a decision stays.
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
"""Where names of people stand, but for `bars`, which follows from the events."""
_ONE_FOR_A_PERSON = {
    "locks": "item_id",
    "drafts": "item_id, content_hash, round",
    "assigned": "item_id, round",
}
"""Tables with one row of a person for each of these."""
_RENAME = text("INSERT INTO renaming (old, new) VALUES (:old, :new)")
_RENAMED = text("DELETE FROM renaming")
_DECIDED = text("SELECT item_id, event_id FROM events WHERE reviewer = :name")
_SET_SOURCE = text("UPDATE events SET source_hash = :source_hash WHERE event_id = :event_id")
_SPELLINGS = text("SELECT reviewer, min(event_id) FROM events GROUP BY reviewer ORDER BY 2")


def replace(connection: Connection, old: str, new: str) -> int:
    """Replace a person's name everywhere, inside the caller's transaction.

    Args:
        connection: The review store.
        old: The present name.
        new: The new name.

    Returns:
        The number of decisions under the old name.
    """
    names = {"old": old, "new": new}
    connection.execute(_RENAME, names)
    changed = connection.execute(_DECIDED, {"name": old}).all()
    for table, key in _ONE_FOR_A_PERSON.items():
        # Of two that become one person's the renamed one stays.
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
    """Replace a name by a new pseudonym, and delete what only that person needs.

    Args:
        connection: The review store.
        name: The name.

    Returns:
        The pseudonym.
    """
    pseudonym = f"person-{secrets.token_hex(4)}"
    for table, column in (
        *(("locks", "annotator"), ("drafts", "annotator")),
        *(("sessions", "name"), ("sign_in_links", "name")),
    ):
        connection.execute(text(f"DELETE FROM {table} WHERE {column} = :name"), {"name": name})
    replace(connection, name, pseudonym)
    # The hash of a decision was made with the name, so that a name could be tried against it.
    connection.execute(_RENAME, {"old": pseudonym, "new": pseudonym})
    for row in connection.execute(_DECIDED, {"name": pseudonym}).all():
        source_hash = content_id("erased", row.event_id, secrets.token_hex(8))
        connection.execute(_SET_SOURCE, {"source_hash": source_hash, "event_id": row.event_id})
    connection.execute(_RENAMED)
    return pseudonym


def unite(connection: Connection, folded: Callable[[str], str]) -> None:
    """Unite the spellings of a name on decisions, since imports of earlier versions took any name.

    The name of the account is kept, else the first spelling.

    Args:
        connection: The review store.
        folded: Gives the form in which spellings are equal.
    """
    for old, new in spellings(connection, folded).items():
        replace(connection, old, new)


def spellings(connection: Connection, folded: Callable[[str], str]) -> dict[str, str]:
    """Find names on decisions that are another spelling of an account's or earlier name.

    Args:
        connection: The review store.
        folded: Gives the form in which spellings are equal.

    Returns:
        The name to use by spelling.
    """
    accounts = connection.execute(text("SELECT folded, name FROM accounts"))
    first = {row.folded: row.name for row in accounts}
    other = {}
    for row in connection.execute(_SPELLINGS):
        name = first.setdefault(folded(row.reviewer), row.reviewer)
        if name != row.reviewer:
            other[row.reviewer] = name
    return other
