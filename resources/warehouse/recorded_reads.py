"""What a step has read of the warehouse, as fingerprints that tell whether it would read the same now.

Whole tables are looked at; of the tables of `release`, which are frozen, the rows of the releases that
a query names. A query of these that names none, such as the one for the current releases, is looked at
by its result.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from methods.ids import canonical_json, content_id
from methods.json_text import from_json
from resources.warehouse.declarations import declared_columns, sql_files, sql_text, views_ddl

if TYPE_CHECKING:
    import pyarrow as pa

FROZEN = "release."
"""Stage whose rows belong to a release each. A query that binds one of `OF_RELEASES` reads the rows of
these releases alone."""
NONE = ""
"""In the place of a fingerprint: there are no such rows."""
OF_RELEASES = ("release_id", "release_ids")
FIGURES = "count(*) AS n, sum(hash(r)) AS sum"
"""Columns of a query of rows `r`, which tell its result in any order. A sum keeps what an exclusive or
would cancel."""
_COMMENT = re.compile(r"--[^\n]*")
_NAME = re.compile(r"\b[a-z_]+\.[a-z_]+\b")
_VIEW = re.compile(r"CREATE OR REPLACE VIEW (\S+) AS")

T = TypeVar("T")


Query = Callable[[str, Mapping[str, object] | None], "pa.Table"]
"""Gives the result of a query with its named parameters."""


def fingerprint(figures: "pa.Table") -> str:
    """A hash of rows by their `FIGURES`."""
    return content_id(*(str(column[0]) for column in figures.to_pydict().values()))


class Recording:
    """What steps read and write by one warehouse, and fingerprints of tables that it knows."""

    def __init__(self, query: Query):
        self._query = query
        self._reads: list[Reads] = []
        self._fingerprints: dict[str, dict[bool, dict[str, str]]] = {}
        self._results: dict[tuple[str, str], tuple[tuple[str | None, ...], object]] = {}

    @contextmanager
    def recorded(self) -> "Iterator[Reads]":
        """Record what is read and written in the block, whichever thread does it."""
        reads = Reads(self)
        self._reads.append(reads)
        try:
            yield reads
        finally:
            self._reads.remove(reads)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Record nothing in the block: another step shows the same rows again."""
        recording, self._reads = self._reads, []
        try:
            yield
        finally:
            self._reads = recording

    def read(self, source: str, values: Mapping[str, object] | None) -> None:
        """Record that rows of a table, or the result of a query, are about to be read."""
        for reads in self._reads:
            reads.add(source, values or {})

    def wrote(self, table: str) -> None:
        """Record that rows of a table are about to be replaced."""
        self._fingerprints.pop(table, None)
        for reads in self._reads:
            reads.wrote(table)

    def known_fingerprints(self, table: str, *, by_release: bool = False) -> dict[str, str]:
        """A hash of the rows of a table, by "", or of those of each release, by its id.

        They are as they were found first after this warehouse last wrote the table.
        """
        known = self._fingerprints.setdefault(table, {})
        if by_release not in known:
            of = "release_id" if by_release else "'' AS release_id"
            rows = self._query(f"SELECT {of}, {FIGURES} FROM {table} AS r GROUP BY ALL", None)
            known[by_release] = {
                row["release_id"]: content_id(str(row["n"]), str(row["sum"]))
                for row in rows.to_pylist()
            }
        return known[by_release]

    def fingerprint_of_query(self, name: str, params: Mapping[str, object]) -> str:
        """A hash of the result of the query in `sql/<name>.sql`, in any order of its rows."""
        query = sql_text(name).rstrip().removesuffix(";")
        return fingerprint(self._query(f"SELECT {FIGURES} FROM (\n{query}\n) AS r", params))

    def while_unchanged(
        self,
        tables: Sequence[str],
        release_id: str,
        make: Callable[[], T],
        kept: Callable[[T], bool] = lambda _: True,
    ) -> T:
        """The result of `make`, called once for as long as tables have the same rows of a release.

        Args:
            tables: The tables that `make` reads.
            release_id: The release whose rows of these it reads.
            make: A function whose result several steps of a run need and none changes.
            kept: Whether a result is small enough to be kept.

        Returns:
            What `make` returned for these rows.
        """
        rows = tuple(
            self.known_fingerprints(table, by_release=True).get(release_id) for table in tables
        )
        for table in tables:
            self.read(table, {"release_id": release_id})
        key = make.__qualname__, release_id
        if key in self._results and self._results[key][0] == rows:
            return cast(T, self._results[key][1])
        result = make()
        if kept(result):
            self._results[key] = rows, result
        return result


class _Portion(NamedTuple):
    """A table, or a query by its name, and the values that choose its rows."""

    source: str
    values: Mapping[str, object]

    def key(self) -> str:
        """The portion as one text."""
        return canonical_json(list(self))


class Reads:
    """What is read of a warehouse while a step runs, but for what it writes itself."""

    def __init__(self, recording: Recording):
        self._recording = recording
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
            self._tables[portion.key()] = _fingerprint(self._recording, portion)

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
        } | {key: _fingerprint(self._recording, each) for key, each in self._queries.items()}


def would_read_the_same(recording: Recording, fingerprints: Mapping[str, str]) -> bool:
    """Whether a step that has read this would read the same now."""
    return all(
        _exists(portion := _portion(key)) and _fingerprint(recording, portion) == fingerprint
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


def _fingerprint(recording: Recording, portion: _Portion) -> str:
    if portion.source in declared_columns():
        release_id = portion.values.get("release_id")
        known = recording.known_fingerprints(portion.source, by_release=release_id is not None)
        return known.get(str(release_id or ""), NONE)
    return content_id(_text(portion.source), recording.fingerprint_of_query(*portion))


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
