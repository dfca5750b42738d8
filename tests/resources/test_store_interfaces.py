"""Stores are used by their methods: nobody but a store's own modules holds a connection to its file."""

import ast
from collections.abc import Iterator

import pytest

from resources.files.home import REPO_ROOT

pytestmark = pytest.mark.slow

SOURCES = ("assets", "dagster_project", "extras", "methods", "resources", "review")
STORES = (
    *("resources/stores/", "resources/llm/ledger/", "resources/llm/budget_store.py"),
    "resources/review/",
)
BACKUP = "resources/upkeep/"
"""Copies whole files, and holds no store's connection."""
DAMAGE = "resources/store_damage.py"
"""Reads copies of whole files."""
OWNERS = {
    "sqlite3": (
        *STORES,
        BACKUP,
        DAMAGE,
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
        BACKUP,
        DAMAGE,
        "resources/warehouse/",
        "resources/notebook.py",  # a copy of the tables, for people
        "dagster_project/sql.py",  # its errors
        "resources/corpus/tsv.py",  # a text file read by a database in memory
    ),
}
"""Who may import a database's module."""


def modules() -> Iterator[tuple[str, ast.Module]]:
    for folder in SOURCES:
        for path in sorted((REPO_ROOT / folder).rglob("*.py")):
            yield path.relative_to(REPO_ROOT).as_posix(), ast.parse(path.read_text())


def imported(tree: ast.AST) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names


def typed_alone(tree: ast.Module) -> ast.Module:
    """The module without what it imports for its types."""
    tree.body = [
        node
        for node in tree.body
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    ]
    return tree


def test_a_database_is_imported_by_the_stores_on_it_alone() -> None:
    imports = {name: imported(typed_alone(tree)) for name, tree in modules()}
    for database, owners in OWNERS.items():
        users = [name for name, names in imports.items() if database in names]
        assert [name for name in users if not name.startswith(owners)] == []
        assert users
