"""Bundle a module of the project, with its dependencies, into one Python file.

Exported tasks run without this project, but must extract answers by exactly its rules. So their code is
generated from the project's source. Only the definitions that the wanted names depend on are included.
Each module becomes a function that returns its names, so that two modules may define the same name.
"""

import ast
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

PACKAGES = ("methods", "resources")
_IMPORTS = (ast.Import, ast.ImportFrom)


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
        CannotStandAloneError: A definition imports a package outside the standard library, or uses a
            module of the project in another way than by its attributes.
    """
    wanted = _wanted(module, names)
    made_of = ", ".join(map(_path, wanted))
    body = ast.parse(
        f'"""Generated from {made_of} of vlm-loom: change it there."""\n'
        "from types import SimpleNamespace"
    ).body
    for needed, part in wanted.items():
        variable = _variable(needed)
        function, call = ast.parse(
            f"def {variable}(): return SimpleNamespace(**locals())\n{variable} = {variable}()"
        ).body
        assert isinstance(function, ast.FunctionDef)
        function.body = [
            *(
                stands
                for stmt in part.statements(sorted(part.names))
                for stands in part.emitted(stmt)
            ),
            *function.body,
        ]
        body += [function, call]
    body += ast.parse("\n".join(f"{name} = {_variable(module)}.{name}" for name in names)).body
    return ast.unparse(ast.Module(body, [])) + "\n"


class _Import(NamedTuple):
    """The target of an import: a name in a module, or the whole module (`name` is None)."""

    module: str
    name: str | None


class _Source:
    """The definitions of one module, and the names that are needed from it."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.names: set[str] = set()
        self._defining: dict[str, list[ast.stmt]] = {}
        self._body = ast.parse(Path(_origin(module)).read_text(encoding="utf-8")).body
        for stmt in self._body:
            for name in _defined(stmt):
                self._defining.setdefault(name, []).append(stmt)

    def statements(self, names: Sequence[str]) -> list[ast.stmt]:
        """Find the statements that names depend on, in the order of the module."""
        ids: set[int] = set()
        open_names = list(names)
        while open_names:
            for stmt in self._defining.get(open_names.pop(), ()):
                if id(stmt) not in ids:
                    ids.add(id(stmt))
                    open_names += [] if isinstance(stmt, _IMPORTS) else _used(stmt)
        return [stmt for stmt in self._body if id(stmt) in ids]

    def imported(self, stmt: ast.stmt) -> dict[str, _Import]:
        """Return the project's modules and names that a statement imports, by their local names."""
        if isinstance(stmt, ast.ImportFrom) and (stmt.module or "").split(".")[0] in PACKAGES:
            package = str(stmt.module)
            return {
                alias.asname or alias.name: _Import(f"{package}.{alias.name}", None)
                if _is_module(f"{package}.{alias.name}")
                else _Import(package, alias.name)
                for alias in stmt.names
            }
        modules = [alias.name for alias in stmt.names] if isinstance(stmt, ast.Import) else []
        modules += [str(stmt.module)] if isinstance(stmt, ast.ImportFrom) else []
        for module in modules:
            if module.split(".")[0] not in sys.stdlib_module_names:
                raise CannotStandAloneError(f"{_path(self.module)} needs {module}.")
        return {}

    def emitted(self, stmt: ast.stmt) -> list[ast.stmt]:
        """Return the statements for the generated file: imports of the project become assignments."""
        imported = self.imported(stmt)
        if not imported:
            return [stmt]
        used = self._names_used()
        return ast.parse(
            "\n".join(
                f"{name} = {_variable(what.module)}" + (f".{what.name}" if what.name else "")
                for name, what in imported.items()
                if name in used
            )
        ).body

    def needs(self) -> Iterator[_Import]:
        """Yield the names in other modules of the project that the wanted names depend on."""
        statements = self.statements(sorted(self.names))
        used = self._names_used()
        for stmt in statements:
            for name, what in self.imported(stmt).items():
                if name not in used:
                    continue
                if what.name is not None:
                    yield what
                    continue
                for attribute in self._attributes(name, statements):
                    yield _Import(what.module, attribute)

    def _names_used(self) -> set[str]:
        statements = self.statements(sorted(self.names))
        return self.names.union(*map(_used, statements))

    def _attributes(self, name: str, statements: Sequence[ast.stmt]) -> set[str]:
        """Find the attributes of an imported module that are used."""
        nodes = [node for stmt in statements for node in ast.walk(stmt)]
        attributes = [
            node for node in nodes if isinstance(node, ast.Attribute) and _is_name(node.value, name)
        ]
        if len(attributes) != sum(_is_name(node, name) for node in nodes):
            raise CannotStandAloneError(f"{_path(self.module)} uses {name} as a whole.")
        return {node.attr for node in attributes}


def _wanted(module: str, names: Sequence[str]) -> dict[str, _Source]:
    """Find all needed modules and names, sorted so that a module follows its imports."""
    sources: dict[str, _Source] = {}
    uses: dict[str, set[str]] = {}
    open_imports = [_Import(module, name) for name in names]
    while open_imports:
        module_name, name = open_imports.pop()
        source = sources.setdefault(module_name, _Source(module_name))
        if name is not None and name not in source.names:
            source.names.add(name)
            needed = list(source.needs())
            uses[module_name] = {each.module for each in needed}
            open_imports += needed
    ordered: dict[str, _Source] = {}

    def put(name: str) -> None:
        for needed_module in sorted(uses[name]):
            put(needed_module)
        ordered.setdefault(name, sources[name])

    put(module)
    return ordered


def _defined(stmt: ast.stmt) -> list[str]:
    """Return the names that a statement defines."""
    if isinstance(stmt, ast.FunctionDef | ast.ClassDef):
        return [stmt.name]
    if isinstance(stmt, _IMPORTS):
        return [(alias.asname or alias.name).split(".")[0] for alias in stmt.names]
    if isinstance(stmt, ast.Assign | ast.AnnAssign):
        targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
        nodes = [node for target in targets for node in ast.walk(target)]
        return [node.id for node in nodes if isinstance(node, ast.Name)]
    return []


def _used(stmt: ast.stmt) -> list[str]:
    return [node.id for node in ast.walk(stmt) if isinstance(node, ast.Name)]


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _origin(module: str) -> str:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise CannotStandAloneError(f"There is no module {module}.")
    return spec.origin


def _path(module: str) -> str:
    return f"{module.replace('.', '/')}.py"


def _variable(module: str) -> str:
    return module.replace(".", "_")
