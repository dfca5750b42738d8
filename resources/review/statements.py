"""The long statements of the review store, each in a `.sql` file of this folder."""

from functools import cache
from pathlib import Path

from sqlalchemy import Text, TextClause, bindparam, text

_FOLDER = Path(__file__).parent


@cache
def sql(name: str, *lists: str) -> TextClause:
    """The statement in `<name>.sql`, with values `:name`.

    Args:
        name: The file, without its ending.
        lists: Names of values that are lists of texts, as in `kind IN :kinds`.
    """
    return listing((_FOLDER / f"{name}.sql").read_text(encoding="utf-8"), *lists)


def listing(statement: str, *lists: str) -> TextClause:
    """A statement whose values of these names are lists of texts, as in `kind IN :kinds`."""
    expanding = [bindparam(each, expanding=True, type_=Text()) for each in lists]
    return text(statement).bindparams(*expanding)
