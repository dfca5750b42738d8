"""The published forms of a benchmark, found by its name.

What belongs here: that. A benchmark has them if there is a module `published.py` in its folder; what is
in it says `methods/evaluation/published.py`.
"""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import cast

from methods.benchmarks import BENCHMARKS
from methods.evaluation.published import PublishedForms


def published_forms(benchmark: str) -> PublishedForms | None:
    """The module of a benchmark of the project; None where it or the benchmark does not exist."""
    return cast(PublishedForms | None, module_of(benchmark, "published"))


def module_of(benchmark: str, name: str) -> ModuleType | None:
    """The module `name` in the folder of a benchmark of the project; None where there is none."""
    module = f"methods.{benchmark}.{name}"
    # A name comes from outside: no other module is imported by it.
    if benchmark not in BENCHMARKS or find_spec(module) is None:
        return None
    return import_module(module)


def importable() -> list[str]:
    """Names of the benchmarks whose published files can be read."""
    return [name for name in BENCHMARKS if published_forms(name)]
