"""SQLite's statements in Postgres's dialect: what they mean stays, whatever the words."""

import re
import sqlite3
from contextlib import closing

import pytest

from resources.postgres.dialect import declarations, translated
from tests.doubles.servers import PostgresServer

pytestmark = pytest.mark.slow
TABLES = """
CREATE TABLE IF NOT EXISTS t (
    n INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (name NOT LIKE 'policy:%'),
    big INTEGER,
    share REAL,
    packed BLOB,
    place INTEGER REFERENCES elsewhere
) STRICT;
CREATE TABLE IF NOT EXISTS allowed (old TEXT PRIMARY KEY, new TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS t_no_update BEFORE UPDATE ON t
WHEN NOT EXISTS (SELECT 1 FROM allowed WHERE old = OLD.name AND new = NEW.name)
    OR NEW.big IS NOT OLD.big
BEGIN SELECT RAISE(ABORT, 't is append-only'); END;
CREATE TRIGGER IF NOT EXISTS t_no_double BEFORE INSERT ON t
WHEN EXISTS (SELECT 1 FROM t WHERE name = NEW.name)
BEGIN SELECT RAISE(IGNORE); END;
"""
ROWS = [
    ("b", 2**40, 0.5, b"\x00\xff", 3),
    ("A", None, None, None, None),
    ("a", 7, 0.1, b"", 2),
    ("é", -1, 1e-300, b"x", 2),
]
QUERIES = [
    ("SELECT name FROM t ORDER BY name", {}),
    ("SELECT name, place FROM t ORDER BY place NULLS FIRST, name", {}),
    ("SELECT big, share, packed FROM t WHERE name = :name", {"name": "b"}),
    ("SELECT name FROM t WHERE :name IS NULL OR name = :name ORDER BY n", {"name": None}),
    ("SELECT name FROM t WHERE :name IS NULL OR name = :name ORDER BY n", {"name": "a"}),
    ("SELECT name FROM t WHERE big IS :big ORDER BY n", {"big": None}),
    ("SELECT name FROM t WHERE big IS NOT :big ORDER BY n", {"big": 7}),
    ("SELECT name FROM t WHERE name LIKE 'A' ORDER BY n", {}),
    ("SELECT name FROM t WHERE name IN () OR n IN (:a, :b) ORDER BY n", {"a": 1, "b": 3}),
    (
        "SELECT name FROM t WHERE name IN (SELECT value FROM json_each(:names)) ORDER BY n",
        {"names": '["a", "b", "\u00e9", "\'\\""]'},
    ),
    ("SELECT max(place, 3), min(n) FROM t WHERE place = 2 GROUP BY 1 ORDER BY 1", {}),
    ("SELECT count(*) FILTER (WHERE place > 2), sum(n), max(share) FROM t", {}),
    (
        "SELECT iif(:any, name, 'none'), substr(name, 1, 1), length(name) FROM t ORDER BY n",
        {"any": True},
    ),
    ("SELECT name FROM t WHERE instr(name, :text) > 0", {"text": "é"}),
    ("SELECT group_concat(name, char(10)) FROM (SELECT name FROM t ORDER BY name DESC)", {}),
    ("SELECT n, name || '-' || coalesce(name, '') FROM t WHERE place IS NULL", {}),
    ("SELECT name FROM t ORDER BY n LIMIT :n OFFSET :past", {"n": 2, "past": 1}),
]


@pytest.fixture(scope="module")
def on_both(postgres: PostgresServer):
    """Runs a statement on both: what SQLite gives, and what Postgres does."""
    import psycopg

    with (
        closing(sqlite3.connect(":memory:", isolation_level=None)) as here,
        psycopg.connect(
            postgres.database(), autocommit=True, cursor_factory=psycopg.RawCursor
        ) as there,
    ):
        here.executescript(TABLES)
        for statement in declarations(TABLES):
            there.execute(statement)

        def run(sql: str, given: object) -> tuple[list, list]:
            statement = translated(sql)
            made = there.execute(statement.sql, statement.values(given))
            found = here.execute(sql, given).fetchall()
            return found, made.fetchall() if made.description else []

        for row in [*ROWS, ROWS[0]]:
            run("INSERT INTO t (name, big, share, packed, place) VALUES (?, ?, ?, ?, ?)", row)
        yield run


@pytest.mark.parametrize(("sql", "given"), QUERIES)
def test_a_query_finds_the_same(on_both, sql: str, given: dict) -> None:
    here, there = on_both(sql, given)
    assert [tuple(map(_plain, row)) for row in there] == here != []


def _plain(value: object) -> object:
    return int(value) if type(value).__name__ == "Decimal" else value  # type: ignore[call-overload]


def test_a_list_is_the_same_json(on_both) -> None:
    from methods.json_text import from_json

    for sql in (
        "SELECT json_group_array(json_array(name, n)) FROM (SELECT * FROM t ORDER BY n)",
        "SELECT json_group_array(name) FROM t WHERE n > 100",
    ):
        [(here,)], [(there,)] = on_both(sql, {})
        assert from_json(there) == from_json(here)


def test_triggers_refuse_ignore_and_allow_as_they_do_in_sqlite(on_both) -> None:
    import psycopg

    [(n,)], [(m,)] = on_both("SELECT count(*) FROM t", {})
    assert n == m == len(ROWS), "a double was ignored"
    for change in ("UPDATE t SET name = 'z' WHERE name = 'b'", "UPDATE t SET big = 8 WHERE n = 3"):
        with pytest.raises(psycopg.IntegrityError, match="append-only"):
            on_both(change, {})
    on_both("INSERT INTO allowed (old, new) VALUES ('b', 'z'), ('z', 'b')", {})
    on_both("UPDATE t SET name = 'z' WHERE name = 'b'", {})
    here, there = on_both("SELECT name FROM t ORDER BY n", {})
    assert here == there and here[0] == ("z",)
    on_both("UPDATE t SET name = 'b' WHERE name = 'z'", {})
    on_both("DELETE FROM allowed", {})
    for refused in ("Policy:none", "policy:x"):
        with pytest.raises(psycopg.IntegrityError):
            on_both("INSERT INTO t (name) VALUES (?)", [refused])


def test_values_by_place_keep_their_order_and_question_marks_in_texts_stay() -> None:
    statement = translated("SELECT ? FROM t WHERE instr(?, 'what?') > ? LIMIT ? OFFSET ?")
    given = ["first", "text", "found", "limit", "past"]
    written = re.sub(r"\$(\d)", lambda at: statement.values(given)[int(at[1]) - 1], statement.sql)
    assert written == (
        "SELECT first FROM \"t\" WHERE POSITION('what?' IN text) > found LIMIT limit OFFSET past"
    )
