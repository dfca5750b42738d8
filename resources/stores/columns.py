"""Column types with equal behaviour in SQLite and Postgres: 64-bit numbers, texts ordered by bytes."""

from sqlalchemy import REAL, BigInteger, Column, Double, Identity, Integer, LargeBinary, Text
from sqlalchemy.dialects.postgresql import TEXT
from sqlalchemy.types import TypeEngine

INTEGER = BigInteger().with_variant(Integer, "sqlite")
NUMBER: TypeEngine[float] = Double().with_variant(REAL, "sqlite")
BYTES = LargeBinary()
TEXTS = Text().with_variant(TEXT(collation="C"), "postgresql")


def numbered(name: str) -> Column[int]:
    """Declare a primary key that numbers the rows in the order of their insertion."""
    return Column(name, INTEGER, Identity(), primary_key=True)


def text(name: str, *, key: bool = False, null: bool = False) -> Column[str]:
    """Declare a column of texts.

    Args:
        name: The name of the column.
        key: Whether it is part of the primary key.
        null: Whether it may be NULL.
    """
    return Column(name, TEXTS, primary_key=key, nullable=null)


def integer(name: str, *, null: bool = False) -> Column[int]:
    """Declare a column of whole numbers; `null` says whether it may be NULL."""
    return Column(name, INTEGER, nullable=null)


def number(name: str, *, null: bool = False) -> Column[float]:
    """Declare a column of floating point numbers; `null` says whether it may be NULL."""
    return Column(name, NUMBER, nullable=null)
