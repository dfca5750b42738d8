"""Variables and parameters are nouns: they say what they hold."""

import ast
from collections.abc import Iterator

from resources.files.home import REPO_ROOT

PRODUCT = ("assets", "dagster_project", "docs", "extras", "methods", "resources", "review")
NOT_NOUNS = {
    *("asked", "drawn", "each", "found", "given", "held", "here", "kept", "known", "left", "like"),
    *(
        "made",
        "now",
        "of",
        "one",
        "placed",
        "read",
        "said",
        "seen",
        "taken",
        "there",
        "told",
        "was",
    ),
}
ONE_LINE = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def bound_names(node: ast.AST) -> Iterator[str]:
    """Names that a function binds; a comprehension or lambda may have a short name for its item."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.arg):
            yield child.arg
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id
        if not isinstance(child, ONE_LINE):
            yield from bound_names(child)


def names_to_change(code: str) -> set[tuple[str, str]]:
    """(function, name) of each name that is no noun; `left` may stand next to `right` or `top`."""
    wrong = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = set(bound_names(node))
            sides = {"left"} if names & {"right", "top"} else set()
            wrong |= {(node.name, name) for name in names & NOT_NOUNS - sides}
    return wrong


def test_a_name_that_is_no_noun_is_found() -> None:
    for code, wrong in (
        ("def f(of): pass", {("f", "of")}),
        ("def f():\n    found = 1", {("f", "found")}),
        ("def f():\n    with open('') as left: pass", {("f", "left")}),
        ("def f(left, right): return [each for each in left]", set()),
    ):
        assert names_to_change(code) == wrong


def test_names_are_nouns() -> None:
    paths = [
        path.relative_to(REPO_ROOT)
        for folder in PRODUCT
        for path in sorted((REPO_ROOT / folder).rglob("*.py"))
    ]
    wrong = {str(path): names_to_change((REPO_ROOT / path).read_text("utf-8")) for path in paths}

    assert len(paths) > 600
    assert {path: names for path, names in wrong.items() if names} == {}
