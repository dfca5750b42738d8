"""Imports are visible to the contracts of pyproject.toml: no module is imported by a fixed string."""

import ast

from resources.files.home import REPO_ROOT

FOLDERS = ("assets", "dagster_project", "extras", "methods", "resources", "review")


def test_no_module_is_imported_by_a_fixed_string() -> None:
    found = [
        f"{path.relative_to(REPO_ROOT)}:{call.lineno}"
        for folder in FOLDERS
        for path in sorted((REPO_ROOT / folder).rglob("*.py"))
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call)
        and ast.unparse(call.func).endswith(("import_module", "__import__"))
        and all(isinstance(argument, ast.Constant) for argument in call.args)
    ]
    assert found == []
