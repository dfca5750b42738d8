"""Names of Dagster that are not public: few, in one module, each with what it waits for."""

import ast
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from dagster._core.definitions.data_version import (
    SKIP_PARTITION_DATA_VERSION_DEPENDENCY_THRESHOLD as DAGSTERS_MANY,
)
from dagster._core.remote_origin import RegisteredCodeLocationOrigin, RemoteRepositoryOrigin

from assets.common import dagster_internals
from dagster_project.job_runs import origin_of
from resources.files.home import REPO_ROOT

FOLDERS = ("assets", "dagster_project", "deploy", "extras", "methods", "resources", "review")
INTERNALS = Path(dagster_internals.__file__)
SOURCE = INTERNALS.read_text().splitlines()
MOST = 5


def private_imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and name of each import from a part of Dagster whose name begins with an underscore."""
    for node in ast.walk(ast.parse(path.read_text())):
        module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
            first, *parts = f"{module}.{alias.name}".lstrip(".").split(".")
            if first.startswith("dagster") and any(part.startswith("_") for part in parts):
                yield node.lineno, alias.name


def files(*endings: str) -> Iterator[Path]:
    for folder in FOLDERS:
        yield from (path for path in (REPO_ROOT / folder).rglob("*") if path.suffix in endings)


def test_names_that_are_not_public_are_in_one_module() -> None:
    found = {path for path in files(".py") if any(private_imports(path))}
    assert found == {INTERNALS}


def test_there_are_few_and_each_says_which_public_name_would_replace_it() -> None:
    found = list(private_imports(INTERNALS))
    assert len(found) <= MOST
    for line, name in found:
        above = reversed(SOURCE[: line - 1])
        comment = takewhile(lambda text: text.lstrip().startswith("#"), above)
        assert "would replace" in " ".join(comment), name


def test_settings_name_no_module_that_is_not_public() -> None:
    texts = {path: path.read_text() for path in files(".py", ".yaml", ".yml", ".tpl", ".sh")}
    found = {path for path, text in texts.items() if "module: dagster._" in text}
    assert found == set()


def test_the_number_of_partitions_that_dagster_does_not_compare_is_dagsters() -> None:
    assert dagster_internals.MANY_PARTITIONS == DAGSTERS_MANY


def test_the_origin_of_a_run_is_what_dagster_makes() -> None:
    location = RegisteredCodeLocationOrigin("vlm-loom")
    dagsters = RemoteRepositoryOrigin(location, "__repository__").get_job_origin("build")
    assert origin_of("build") == dagsters
