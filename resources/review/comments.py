"""Comments that people write on an item, to one person or to everybody who may read it.

Every function runs inside the caller's transaction.
"""

from dataclasses import dataclass

from sqlalchemy import Connection, text

from methods.errors import UserError
from methods.review.decisions import MOST_CHARACTERS
from methods.review.process import ROUND_OF_ROLE, ReviewState
from resources.review.clock import database_time

_COLUMNS = "comment_id, item_id, author, addressee, text, written_at"
_ADD = text("""
INSERT INTO comments (item_id, author, addressee, text, written_at)
VALUES (:item_id, :author, :addressee, :text, :written_at) RETURNING comment_id
""")
_ALL = text(f"SELECT {_COLUMNS} FROM comments ORDER BY comment_id")
_OF_ITEM = text(f"SELECT {_COLUMNS} FROM comments WHERE item_id = :item_id ORDER BY comment_id")
_ROLES = text("SELECT name, role FROM accounts")


class CommentError(UserError):
    """A comment is not stored; the message says why in one sentence."""


@dataclass(frozen=True)
class Comment:
    """A comment of `author` on an item; `addressee` None means everybody who may read it."""

    comment_id: int
    item_id: str
    author: str
    addressee: str | None
    text: str
    written_at: str


def add(
    connection: Connection, item_id: str, author: str, written: str, addressee: str | None
) -> Comment:
    """Store a comment.

    Args:
        connection: The review store.
        item_id: The item.
        author: The person who wrote it.
        written: The text.
        addressee: The person it is for; None for everybody who may read it.

    Returns:
        The comment.

    Raises:
        CommentError: The text is empty or too long.
    """
    # PostgreSQL cannot store NUL in a text.
    written = written.replace("\x00", "").strip()
    if not 0 < len(written) <= MOST_CHARACTERS:
        raise CommentError(
            f"A comment has 1 to {MOST_CHARACTERS} characters: this one has {len(written)}."
        )
    values = (item_id, author, addressee, written, database_time(connection))
    names = ("item_id", "author", "addressee", "text", "written_at")
    comment_id = connection.execute(_ADD, dict(zip(names, values, strict=True))).scalar_one()
    return Comment(comment_id, *values)


def read(connection: Connection, item_id: str | None = None) -> list[Comment]:
    """Read comments in the order in which they were written.

    Args:
        connection: The review store.
        item_id: The item; None for all.

    Returns:
        The comments.
    """
    if item_id is None:
        rows = connection.execute(_ALL)
    else:
        rows = connection.execute(_OF_ITEM, {"item_id": item_id})
    return [Comment(*row) for row in rows]


def visible(
    connection: Connection,
    item_id: str,
    reader: str,
    role: str,
    state: ReviewState | None,
) -> list[Comment]:
    """Read the comments on an item that a person may see now.

    Administrators see all comments, and everybody sees their own. While the item is blind (annotators
    are deciding), nobody else sees comments of annotators, since a comment could reveal a decision.
    After that, people see the comments that are addressed to them or to everybody.

    Args:
        connection: The review store.
        item_id: The item.
        reader: The person.
        role: Their role.
        state: The state of the item's review; None if it is not queued.

    Returns:
        The comments.
    """
    written = read(connection, item_id)
    if role == "admin":
        return written
    if state is None or state.is_blind:
        blind_to = _of_round_1(connection)
        written = [each for each in written if each.author not in blind_to or each.author == reader]
    return [
        comment
        for comment in written
        if reader in (comment.author, comment.addressee) or not comment.addressee
    ]


def _of_round_1(connection: Connection) -> set[str]:
    """Return the names of the people who decide in round 1."""
    rows = connection.execute(_ROLES)
    return {row.name for row in rows if ROUND_OF_ROLE.get(row.role) == 1}
