"""Stores of a small form of their own, as the baseline made them, and the steps to what they are today.

The steps do what migrations do: rename a table, make one again with other columns and checks, add one.
"""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import duckdb
import pytest
from sqlalchemy import DDL, INTEGER, VARCHAR, CheckConstraint, Column, MetaData, Table, event

from resources.migrations import BASELINE
from resources.stores import StoreKind
from resources.warehouse import declarations, staging, versions
from tests.resources.store_files import Rows

NOTES = """
CREATE TABLE {ingest}notes (
    note_id VARCHAR PRIMARY KEY, text VARCHAR NOT NULL, n_words INTEGER NOT NULL CHECK (n_words > 0)
);
"""
GROUPS = "CREATE TABLE {cluster}groups (group_id VARCHAR NOT NULL, note_id VARCHAR NOT NULL);"
MARKS = "CREATE TABLE {rewrite}marks (mark_id VARCHAR PRIMARY KEY, note_id VARCHAR NOT NULL);"
VIEW = "CREATE {again} {ingest}lengths AS SELECT note_id, n_words FROM {ingest}notes;"
STEPS = {
    "0101_groups": "ALTER TABLE {cluster}buckets RENAME TO groups;",
    "0102_words": "ALTER TABLE {ingest}notes RENAME TO notes_100;"
    + NOTES
    + "INSERT INTO {ingest}notes "
    "SELECT note_id, text, length(text) - length(replace(text, ' ', '')) + 1 FROM {ingest}notes_100;"
    "DROP TABLE {ingest}notes_100;",
    "0103_marks": MARKS,
}
THEN = """
CREATE TABLE {ingest}notes (note_id VARCHAR PRIMARY KEY, text VARCHAR NOT NULL);
CREATE TABLE {cluster}buckets (group_id VARCHAR NOT NULL, note_id VARCHAR NOT NULL);
INSERT INTO {ingest}notes VALUES ('a', 'an owl'), ('b', 'a red kite'), ('c', 'rain');
INSERT INTO {cluster}buckets VALUES ('g', 'a'), ('g', 'b');
"""
TODAY = BASELINE + len(STEPS)
STAGES = ("ingest", "cluster", "rewrite")
IN_DUCKDB = {**{stage: f"{stage}." for stage in STAGES}, "again": "OR REPLACE VIEW"}
IN_SQLITE = {**dict.fromkeys(STAGES, ""), "again": "VIEW IF NOT EXISTS"}


def _write_steps(folder: Path, names: dict[str, str]) -> None:
    folder.mkdir(parents=True)
    for name, text in STEPS.items():
        (folder / f"{name}.sql").write_text(text.format(**names).replace(";", ";\n"))


@contextmanager
def small_sql(folder: Path) -> Iterator[None]:
    """`sql/` is the small one meanwhile, which is written into `folder` unless it is there."""
    if not folder.exists():
        _write_steps(folder / "migrations", IN_DUCKDB)
        for path in declarations.SQL_ROOT.glob("*.sql"):
            shutil.copy(path, folder)
        declared = {"ingest": NOTES, "cluster": GROUPS, "rewrite": MARKS}
        for stage in declarations.STAGES:
            (folder / stage).mkdir()
            text = f"CREATE SCHEMA IF NOT EXISTS {stage};\n{declared.get(stage, '')}"
            (folder / stage / "schema.sql").write_text(text.format(**IN_DUCKDB))
        (folder / "ingest" / "views.sql").write_text(VIEW.format(**IN_DUCKDB))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(declarations, "SQL_ROOT", folder)
        patch.setattr(declarations, "folders", lambda _: [])
        patch.setattr(versions, "MIGRATIONS", folder / "migrations")
        forget_sql()
        try:
            yield
        finally:
            patch.undo()
            forget_sql()


def forget_sql() -> None:
    """Have `sql/` read again."""
    for module in (declarations, versions, staging):
        for each in vars(module).values():
            if hasattr(each, "cache_clear"):
                each.cache_clear()


VERSION_THEN = f"""
CREATE VIEW ingest.lengths AS SELECT 0 AS n_words;
CREATE TABLE main.schema_version (version INTEGER, declared VARCHAR);
INSERT INTO main.schema_version VALUES ({BASELINE}, 'then');
"""


def warehouse_of_the_baseline(path: Path) -> Path:
    """A warehouse of the small form as the baseline left it."""
    with duckdb.connect(str(path)) as connection:
        for stage in declarations.STAGES:
            connection.execute(f"CREATE SCHEMA {stage}")
        connection.execute(THEN.format(**IN_DUCKDB) + VERSION_THEN)
    return path


REVISION = """
from resources.stores.versions import run_step

revision, down_revision = "{version}", "{before}"


def upgrade() -> None:
    run_step(__file__)
"""


def small_kind(folder: Path) -> StoreKind:
    """A kind of store of the small form, with its steps in `folder`."""
    _write_steps(folder / "migrations", IN_SQLITE)
    step = folder / "migrations" / "0103_marks.sql"
    step.write_text(f"{step.read_text()}\n{VIEW.format(**IN_SQLITE)}")
    for name in STEPS:
        version = int(name[:4])
        revision = REVISION.format(version=version, before=version - 1)
        (folder / "migrations" / f"{name}.py").write_text(revision)
    metadata = MetaData()
    Table(
        "notes",
        metadata,
        Column("note_id", VARCHAR, primary_key=True),
        Column("text", VARCHAR, nullable=False),
        Column("n_words", INTEGER, CheckConstraint("n_words > 0"), nullable=False),
    )
    columns = (Column(name, VARCHAR, nullable=False) for name in ("group_id", "note_id"))
    Table("groups", metadata, *columns)
    mark_id = Column("mark_id", VARCHAR, primary_key=True)
    Table("marks", metadata, mark_id, Column("note_id", VARCHAR, nullable=False))
    event.listen(metadata, "after_create", DDL(VIEW.format(**IN_SQLITE)))
    return StoreKind("small", metadata, folder / "migrations")


def sqlite_of_the_baseline(path: Path) -> Path:
    """A file of the small form as the baseline left it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(THEN.format(**IN_SQLITE))
        connection.execute(f"PRAGMA user_version = {BASELINE}")
    return path


def rows_of_today(names: dict[str, str]) -> Rows:
    """What the rows of the baseline have become."""
    notes = [("a", "an owl", 2), ("b", "a red kite", 3), ("c", "rain", 1)]
    columns = ("note_id", "text", "n_words")
    return {
        f"{names['ingest']}notes": [dict(zip(columns, note, strict=True)) for note in notes],
        f"{names['cluster']}groups": [{"group_id": "g", "note_id": note} for note in "ab"],
        f"{names['rewrite']}marks": [],
    }
