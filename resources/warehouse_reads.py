"""What a step has read of the warehouse, as fingerprints that tell whether it would read the same now.

What belongs here: which tables a query reads, and in which portions they are looked at: whole tables;
of the tables of `release`, whose rows are frozen, those of the releases that a query names. A query of
these that names none, such as the one for the releases in force, is looked at by its result.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple, Protocol

from methods.ids import canonical_json, content_id
from methods.json_text import from_json
from resources.warehouse_schema import declared_columns, sql_files, sql_text, views_ddl

FROZEN = "release."
"""Stage whose rows belong to a release each. A query that binds one of `OF_RELEASES` reads the rows of
these releases alone."""
NONE = ""
"""In the place of a fingerprint: there are no such rows."""
OF_RELEASES = ("release_id", "release_ids")
_COMMENT = re.compile(r"--[^\n]*")
_NAME = re.compile(r"\b[a-z_]+\.[a-z_]+\b")
_VIEW = re.compile(r"CREATE OR REPLACE VIEW (\S+) AS")


class Tables(Protocol):
    """What is asked of a warehouse."""

    def known_fingerprints(self, table: str, *, by_release: bool = False) -> dict[str, str]:
        """A hash of the rows of a table, by "", or of those of each release, by its id."""

    def fingerprint_of_query(self, name: str, params: Mapping[str, object]) -> str:
        """A hash of the result of a query."""


class _Portion(NamedTuple):
    """A table, or a query by its name, and the values that choose its rows."""

    source: str
    values: Mapping[str, object]

    def key(self) -> str:
        """The portion as one text."""
        return canonical_json(list(self))


class Reads:
    """What is read of a warehouse while a step runs, but for what it writes itself."""

    def __init__(self, warehouse: Tables):
        self._warehouse = warehouse
        self._tables: dict[str, str] = {}
        self._queries: dict[str, _Portion] = {}
        self._written: set[str] = set()

    def add(self, source: str, values: Mapping[str, object]) -> None:
        """Rows of a table, or the result of a query, are about to be read."""
        tables = _tables_of(source)
        frozen = {table for table in tables if table.startswith(FROZEN)}
        of_releases = next((values[name] for name in OF_RELEASES if name in values), None)
        if of_releases is not None:
            ids = [of_releases] if isinstance(of_releases, str) else of_releases
            for release_id in ids if isinstance(ids, Sequence) else ():
                for table in frozen:
                    self._add(_Portion(table, {"release_id": release_id}))
        elif frozen and source not in declared_columns() and _are_json(values):
            portion = _Portion(source, dict(values))
            self._queries[portion.key()] = portion
        else:
            frozen = set()
        for table in tables - frozen:
            self._add(_Portion(table, {}))

    def _add(self, portion: _Portion) -> None:
        # Before the rows are read: what is written between makes the two differ, and is read again.
        if portion.source not in self._written and portion.key() not in self._tables:
            self._tables[portion.key()] = _fingerprint(self._warehouse, portion)

    def wrote(self, table: str) -> None:
        """The step has written rows of a table."""
        self._written.add(table)

    def fingerprints(self, own: Sequence[str]) -> dict[str, str]:
        """What the step has read beside tables that it has written and its `own`.

        Queries are looked at once it has ended: one that has rows of its own would find these.
        """
        left_out = self._written.union(own)
        return {
            key: fingerprint
            for key, fingerprint in self._tables.items()
            if _portion(key).source not in left_out
        } | {key: _fingerprint(self._warehouse, each) for key, each in self._queries.items()}


def would_read_the_same(warehouse: Tables, fingerprints: Mapping[str, str]) -> bool:
    """Whether a step that has read this would read the same now."""
    return all(
        _exists(portion := _portion(key)) and _fingerprint(warehouse, portion) == fingerprint
        for key, fingerprint in fingerprints.items()
    )


def _are_json(values: Mapping[str, object]) -> bool:
    """Whether the values can be kept as they are."""
    try:
        canonical_json(dict(values))
    except TypeError:
        return False
    return True


def _portion(key: str) -> _Portion:
    return _Portion(*from_json(key))


def _exists(portion: _Portion) -> bool:
    """Whether this version still has the table or the query."""
    return portion.source in declared_columns() or bool(sql_files(portion.source))


def _fingerprint(warehouse: Tables, portion: _Portion) -> str:
    if portion.source in declared_columns():
        release_id = portion.values.get("release_id")
        known = warehouse.known_fingerprints(portion.source, by_release=release_id is not None)
        return known.get(str(release_id or ""), NONE)
    return content_id(_text(portion.source), warehouse.fingerprint_of_query(*portion))


@cache
def _tables_of(source: str) -> frozenset[str]:
    """The tables that a table or view, or the query of a name, is made of."""
    if source in declared_columns():
        view = _views().get(source)
        return frozenset({source}) if view is None else _tables_in(view)
    return _tables_in(_text(source))


def _tables_in(text: str) -> frozenset[str]:
    named = {*_NAME.findall(text)} & declared_columns().keys()
    return frozenset().union(*map(_tables_of, named))


def _text(query: str) -> str:
    return _COMMENT.sub("", sql_text(query))


@cache
def _views() -> dict[str, str]:
    """The declared views, and the text of each."""
    _, *parts = _VIEW.split(_COMMENT.sub("", views_ddl()))
    return dict(zip(parts[::2], parts[1::2], strict=True))
