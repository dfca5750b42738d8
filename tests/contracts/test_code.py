"""Names and imports of the product's code: nouns, each class once, Dagster's public names."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest
from dagster._core.definitions.data_version import (
    SKIP_PARTITION_DATA_VERSION_DEPENDENCY_THRESHOLD as DAGSTERS_MANY,
)
from dagster._core.remote_origin import RegisteredCodeLocationOrigin, RemoteRepositoryOrigin

from assets.common import dagster_internals
from dagster_project.job_runs import origin_of
from resources.files.home import REPO_ROOT

PRODUCT = (
    *("assets", "dagster_project", "deploy", "docs", "extras", "methods", "resources", "review"),
)
NOT_NOUNS = {
    *("asked", "drawn", "each", "found", "given", "held", "here", "kept", "known", "left", "like"),
    *("made", "now", "of", "one", "placed", "read", "said", "seen", "taken", "there", "told"),
    "was",
}
ONE_LINE = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
INTERNALS = Path(dagster_internals.__file__)
MOST_INTERNALS = 7
Trees = dict[str, ast.Module]


def files(*endings: str) -> Iterator[Path]:
    for folder in PRODUCT:
        paths = sorted((REPO_ROOT / folder).rglob("*"))
        yield from (path for path in paths if path.suffix in endings)


@pytest.fixture(scope="module")
def trees() -> Trees:
    """Each module of the product, parsed."""
    return {
        str(path.relative_to(REPO_ROOT)): ast.parse(path.read_text("utf-8"))
        for path in files(".py")
    }


def test_no_class_name_is_used_twice(trees: Trees) -> None:
    modules: dict[str, list[str]] = defaultdict(list)
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                modules[node.name].append(path)
    assert len(modules) > 500
    assert {name: paths for name, paths in modules.items() if len(paths) > 1} == {}


def test_no_module_is_imported_by_a_fixed_string(trees: Trees) -> None:
    """The import contracts of pyproject.toml would not see it."""
    found = [
        f"{path}:{call.lineno}"
        for path, tree in trees.items()
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and ast.unparse(call.func).endswith(("import_module", "__import__"))
        and all(isinstance(argument, ast.Constant) for argument in call.args)
    ]
    assert found == []


# --- Variables -----------------------------------------------------------------------------------


def bound_names(node: ast.AST) -> Iterator[str]:
    """Names that a function binds; a comprehension or lambda may have a short name for its item."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.arg):
            yield child.arg
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id
        if not isinstance(child, ONE_LINE):
            yield from bound_names(child)


def names_to_change(tree: ast.Module) -> set[tuple[str, str]]:
    """(function, name) of each name that is no noun; `left` may stand next to `right` or `top`."""
    wrong = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = set(bound_names(node))
            sides = {"left"} if names & {"right", "top"} else set()
            wrong |= {(node.name, name) for name in names & NOT_NOUNS - sides}
    return wrong


def test_variables_and_parameters_are_nouns(trees: Trees) -> None:
    for code, wrong in (
        ("def f(of): pass", {("f", "of")}),
        ("def f():\n    with open('') as left: pass", {("f", "left")}),
        ("def f(left, right): return [each for each in left]", set()),
    ):
        assert names_to_change(ast.parse(code)) == wrong
    assert len(trees) > 600
    found = {path: names_to_change(tree) for path, tree in trees.items()}
    assert {path: names for path, names in found.items() if names} == {}


# --- Dagster -------------------------------------------------------------------------------------


def private_imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and name of each import from a part of Dagster whose name begins with an underscore."""
    for node in ast.walk(tree):
        module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
            first, *parts = f"{module}.{alias.name}".lstrip(".").split(".")
            if first.startswith("dagster") and any(part.startswith("_") for part in parts):
                yield node.lineno, alias.name


def test_names_that_are_not_public_are_few_in_one_module_and_each_waits_for_a_public_one(
    trees: Trees,
) -> None:
    internals = str(INTERNALS.relative_to(REPO_ROOT))
    assert {path for path, tree in trees.items() if any(private_imports(tree))} == {internals}
    found = list(private_imports(trees[internals]))
    assert len(found) <= MOST_INTERNALS
    source = INTERNALS.read_text().splitlines()
    for line, name in found:
        above = reversed(source[: line - 1])
        comment = takewhile(lambda text: text.lstrip().startswith("#"), above)
        assert "would replace" in " ".join(comment), name
    settings = files(".py", ".yaml", ".yml", ".tpl", ".sh")
    assert [path for path in settings if "module: dagster._" in path.read_text()] == []


def test_what_is_said_of_dagster_is_dagsters() -> None:
    assert dagster_internals.MANY_PARTITIONS == DAGSTERS_MANY
    location = RegisteredCodeLocationOrigin("vlm-loom")
    dagsters = RemoteRepositoryOrigin(location, "__repository__").get_job_origin("build")
    assert origin_of("build") == dagsters
