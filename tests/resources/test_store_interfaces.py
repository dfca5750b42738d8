"""Stores are used by their methods: nobody but a store's own modules holds a connection to its file."""

import ast
from pathlib import Path

import pytest

from resources.files.home import REPO_ROOT

pytestmark = pytest.mark.slow

SOURCES = ("assets", "dagster_project", "extras", "methods", "resources", "review")
STORES = (
    *("resources/stores/", "resources/llm/ledger/", "resources/llm/budget_store.py"),
    "resources/review/",
)
COPIES = ("resources/upkeep/", "resources/store_damage.py")
"""They copy or read whole files, and hold no store's connection."""
OWNERS = {
    "sqlite3": (
        *(*STORES, *COPIES),
        "dagster_project/instance.py",  # Dagster's own databases, looked at before it opens them
    ),
    "psycopg": (
        "resources/stores/",
        "resources/warehouse/lake_connection.py",  # locks of writers, beside the catalogue
        "dagster_project/instance.py",  # the lock of who makes the schema of Dagster's storage
    ),
    "sqlalchemy": (
        *STORES,
        "resources/images/index.py",
        "dagster_project/instance.py",  # the address of Dagster's own storage
    ),
    "duckdb": (
        *(*COPIES, "resources/warehouse/"),
        "resources/notebook.py",  # a copy of the tables, for people
        "dagster_project/sql.py",  # its errors
        "resources/corpus/tsv.py",  # a text file read by a database in memory
    ),
}
"""Who may import a database's module."""


def imported(path: Path) -> set[str]:
    """The packages that a module imports for more than its types."""
    tree = ast.parse(path.read_text())
    tree.body = [
        node
        for node in tree.body
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    ]
    names = [
        each
        for node in ast.walk(tree)
        for each in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [getattr(node, "module", None) or ""]
        )
    ]
    return {name.partition(".")[0] for name in names}


def test_a_database_is_imported_by_the_stores_on_it_alone() -> None:
    imports = {
        path.relative_to(REPO_ROOT).as_posix(): imported(path)
        for folder in SOURCES
        for path in (REPO_ROOT / folder).rglob("*.py")
    }
    for database, owners in OWNERS.items():
        users = [name for name, names in imports.items() if database in names]
        assert users and [name for name in users if not name.startswith(owners)] == []
