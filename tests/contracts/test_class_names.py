"""Class names: a search for a name finds one class in the whole product."""

import ast
from collections import defaultdict

from resources.files.home import REPO_ROOT

PRODUCT = ("assets", "dagster_project", "docs", "extras", "methods", "resources", "review")


def test_no_class_name_is_used_twice() -> None:
    modules: dict[str, list[str]] = defaultdict(list)
    for folder in PRODUCT:
        for path in sorted((REPO_ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.ClassDef):
                    modules[node.name].append(str(path.relative_to(REPO_ROOT)))

    assert len(modules) > 500
    assert {name: paths for name, paths in modules.items() if len(paths) > 1} == {}
