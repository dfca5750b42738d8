"""Names of people that change: a new name, a pseudonym, and spellings that become one.

What belongs here: the one change of an event that the store allows. Its triggers let `reviewer` change
to what the table `renaming` says, which has rows only inside the transaction that renames; everything
else of a decision stays.
"""

import secrets
import sqlite3
from collections.abc import Callable

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


def replace(connection: sqlite3.Connection, old: str, new: str) -> int:
    """Put `new` in the place of `old` everywhere, inside the caller's transaction; the number of
    decisions that were theirs."""
    connection.execute("INSERT INTO renaming (old, new) VALUES (?, ?)", [old, new])
    changed = connection.execute("SELECT item_id FROM events WHERE reviewer = ?", [old]).fetchall()
    for table, key in _ONE_FOR_A_PERSON.items():
        # Of two that become one person's the renamed one stays.
        connection.execute(
            f"DELETE FROM {table} WHERE annotator = ? "
            f"AND ({key}) IN (SELECT {key} FROM {table} WHERE annotator = ?)",
            [new, old],
        )
    for table, column in NAMED:
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", [new, old])
    connection.execute("DELETE FROM renaming")
    item_status.update(connection, sorted({row["item_id"] for row in changed}))
    assignments.renew(connection)
    return len(changed)


def forget(connection: sqlite3.Connection, name: str) -> str:
    """Replace a name by a new pseudonym, which it returns, and delete what only that person needs."""
    pseudonym = f"person-{secrets.token_hex(4)}"
    for table in ("locks", "drafts"):
        connection.execute(f"DELETE FROM {table} WHERE annotator = ?", [name])
    for table in ("sessions", "sign_in_links"):
        connection.execute(f"DELETE FROM {table} WHERE name = ?", [name])
    replace(connection, name, pseudonym)
    # The hash of a decision was made with the name, so that a name could be tried against it.
    connection.execute("INSERT INTO renaming (old, new) VALUES (?, ?)", [pseudonym, pseudonym])
    for (event_id,) in connection.execute(
        "SELECT event_id FROM events WHERE reviewer = ?", [pseudonym]
    ).fetchall():
        connection.execute(
            "UPDATE events SET source_hash = ? WHERE event_id = ?",
            [content_id("erased", event_id, secrets.token_hex(8)), event_id],
        )
    connection.execute("DELETE FROM renaming")
    return pseudonym


def unite(connection: sqlite3.Connection, folded: Callable[[str], str]) -> None:
    """Make one name of those on decisions that `folded` gives one form: the account's, else the first.

    Files of earlier versions may have two, since imports took any name.
    """
    for old, new in spellings(connection, folded).items():
        replace(connection, old, new)


def spellings(connection: sqlite3.Connection, folded: Callable[[str], str]) -> dict[str, str]:
    """What each name on a decision becomes that is another spelling of an account's or earlier one."""
    accounts = connection.execute("SELECT folded, name FROM accounts")
    first = {row["folded"]: row["name"] for row in accounts}
    other = {}
    for row in connection.execute(
        "SELECT reviewer, min(event_id) FROM events GROUP BY reviewer ORDER BY 2"
    ):
        name = first.setdefault(folded(row["reviewer"]), row["reviewer"])
        if name != row["reviewer"]:
            other[row["reviewer"]] = name
    return other
