"""Bundle a module of the project, with its dependencies, into one Python file.

Exported tasks run without this project, but must extract answers by exactly its rules. So their code is
generated from the project's source. Each module becomes a function that returns its names, so that two
modules may define the same name.
"""

import ast
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("methods", "resources")


class CannotStandAloneError(ValueError):
    """A module cannot be bundled into one file; the message names the reason."""


def self_contained(module: str, names: Sequence[str]) -> str:
    """Generate the source of a file that defines names of a module.

    Args:
        module: The module's name, such as `methods.choice.strict`.
        names: The names that the file defines.

    Returns:
        Python source. It only depends on the project's source.

    Raises:
        CannotStandAloneError: A module imports a package outside the standard library.
    """
    bundled: dict[str, list[ast.stmt]] = {}
    _bundle(module, bundled)
    made_of = ", ".join(map(_path, bundled))
    body = ast.parse(
        f'"""Generated from {made_of} of vlm-loom: change it there."""\n'
        "from types import SimpleNamespace"
    ).body
    for bundled_module, statements in bundled.items():
        variable = _variable(bundled_module)
        function, call = ast.parse(
            f"def {variable}(): return SimpleNamespace(**locals())\n{variable} = {variable}()"
        ).body
        assert isinstance(function, ast.FunctionDef)
        function.body = [*statements, *function.body]
        body += [function, call]
    body += ast.parse("\n".join(f"{name} = {_variable(module)}.{name}" for name in names)).body
    return ast.unparse(ast.Module(body, [])) + "\n"


def _bundle(module: str, bundled: dict[str, list[ast.stmt]]) -> None:
    """Add the statements of a module to `bundled`, after those of the modules that it imports."""
    if module in bundled:
        return
    origin = _origin(module)
    if origin is None:
        raise CannotStandAloneError(f"There is no module {module}.")
    statements: list[ast.stmt] = []
    for stmt in ast.parse(Path(origin).read_text(encoding="utf-8")).body:
        if isinstance(stmt, ast.ImportFrom) and str(stmt.module).split(".")[0] in PACKAGES:
            assigned = []
            for alias in stmt.names:
                part = f"{stmt.module}.{alias.name}"
                is_module = _origin(part) is not None
                _bundle(part if is_module else str(stmt.module), bundled)
                value = (
                    _variable(part) if is_module else f"{_variable(str(stmt.module))}.{alias.name}"
                )
                assigned.append(f"{alias.asname or alias.name} = {value}")
            statements += ast.parse("\n".join(assigned)).body
        else:
            _require_standard(module, stmt)
            statements.append(stmt)
    bundled[module] = statements


def _require_standard(module: str, stmt: ast.stmt) -> None:
    imported = [alias.name for alias in stmt.names] if isinstance(stmt, ast.Import) else []
    imported += [str(stmt.module)] if isinstance(stmt, ast.ImportFrom) else []
    for name in imported:
        if name.split(".")[0] not in sys.stdlib_module_names:
            raise CannotStandAloneError(f"{_path(module)} needs {name}.")


def _origin(module: str) -> str | None:
    """Return the file of a module; None if there is no such module."""
    try:
        spec = find_spec(module)
    except ModuleNotFoundError:
        return None
    return spec.origin if spec else None


def _path(module: str) -> str:
    return f"{module.replace('.', '/')}.py"


def _variable(module: str) -> str:
    return module.replace(".", "_")
