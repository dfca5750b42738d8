"""Comments that people write on an item, to one person or to everybody who may read it.

Every function runs inside the caller's transaction.
"""

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, text

from methods.errors import UserError
from methods.review.decisions import MOST_CHARACTERS
from methods.review.process import ROUND_OF_ROLE
from resources.review import items
from resources.review.clock import database_time
from resources.review.tables import COMMENTS

_WITHOUT_DECISION = text("""
SELECT name, role FROM accounts
WHERE name NOT IN (SELECT reviewer FROM events WHERE item_id = :item_id AND round = 1)
""")
_N_WRITTEN = text("""
SELECT count(*) FROM comments WHERE item_id = :item_id AND author = :author
""")
MOST_COMMENTS = 100
"""The most comments of a person on an item. The item's page has all."""


class CommentError(UserError):
    """A comment is not stored; the message says why in one sentence, and `why` in one word."""

    def __init__(self, why: Literal["length", "often"], message: str) -> None:
        super().__init__(message)
        self.why = why


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
    connection: Connection, item_id: str, author: str, text: str, addressee: str | None = None
) -> Comment:
    """Write a comment on an item.

    Args:
        connection: The review store.
        item_id: The item.
        author: The person who wrote it.
        text: The text.
        addressee: The person it is for; None for everybody who may read it.

    Raises:
        CommentError: The text is empty or too long, or the person has written MOST_COMMENTS comments on
            the item.
    """
    # PostgreSQL cannot store NUL in a text.
    text = text.replace("\x00", "").strip()
    if not 0 < len(text) <= MOST_CHARACTERS:
        raise CommentError(
            "length", f"A comment has 1 to {MOST_CHARACTERS} characters: this one has {len(text)}."
        )
    person = {"item_id": item_id, "author": author}
    if connection.execute(_N_WRITTEN, person).scalar_one() >= MOST_COMMENTS:
        raise CommentError(
            "often",
            f"{author} has written {MOST_COMMENTS} comments on this item, which is the most.",
        )
    values = person | {"addressee": addressee, "text": text}
    values["written_at"] = database_time(connection)
    stored = connection.execute(COMMENTS.insert().returning(*COMMENTS.columns), values)
    return Comment(*stored.one())


def read(connection: Connection, item_id: str | None = None) -> list[Comment]:
    """Read comments, on one item or all, in the order in which they were written."""
    query = COMMENTS.select().order_by(COMMENTS.c.comment_id)
    if item_id is not None:
        query = query.where(COMMENTS.c.item_id == item_id)
    return [Comment(*row) for row in connection.execute(query)]


def visible(connection: Connection, item_id: str, reader: str, role: str) -> list[Comment]:
    """Read the comments on an item that a person may see now.

    Administrators see all comments, and everybody sees their own. While the item is blind (annotators
    are deciding), nobody else sees comments of annotators, of people who once decided round 1 of the
    item, and of people without an account, since a comment could reveal a decision. After that, people
    see the comments that are addressed to them or to everybody.

    Args:
        connection: The review store.
        item_id: The item.
        reader: The person.
        role: Their role.

    Returns:
        The comments.
    """
    written = read(connection, item_id)
    if role == "admin":
        return written
    state = items.state(connection, item_id)
    if state is None or state.is_blind:
        people = connection.execute(_WITHOUT_DECISION, {"item_id": item_id})
        may_reveal_nothing = {row.name for row in people if ROUND_OF_ROLE[row.role] != 1} | {reader}
        written = [comment for comment in written if comment.author in may_reveal_nothing]
    return [
        comment
        for comment in written
        if reader in (comment.author, comment.addressee) or not comment.addressee
    ]
