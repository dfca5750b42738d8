"""The published forms of a benchmark and of predictions on it, found by its name.

What belongs here: that. A benchmark has them if there is a module `published.py` beside it, or where
the module that it stands in has them; what is in it says `methods/evaluation/published.py`.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import cast

from methods.benchmarks import BENCHMARKS
from methods.evaluation.predictions import PredictionForms
from methods.evaluation.published import PublishedForms


def published_forms(benchmark: str) -> PublishedForms | None:
    """The module of a benchmark; None where it or the benchmark does not exist."""
    module = module_of(benchmark, "published") or home_of(benchmark)
    return cast(PublishedForms, module) if hasattr(module, "read_published") else None


def module_of(benchmark: str, name: str) -> ModuleType | None:
    """The module `name` beside that of a benchmark; None where there is none."""
    # A name comes from outside: no other module is imported by it.
    home = home_of(benchmark)
    if home is None or not hasattr(home, "__path__"):
        return None
    module = f"{home.__name__}.{name}"
    return import_module(module) if find_spec(module) is not None else None


def home_of(benchmark: str) -> ModuleType | None:
    """The module that a benchmark's class stands in: a package, or one file."""
    known = BENCHMARKS.get(benchmark)
    return None if known is None else sys.modules[type(known).__module__]


def importable() -> list[str]:
    """Names of the benchmarks whose published files can be read."""
    return [name for name in BENCHMARKS if published_forms(name)]


def prediction_forms(benchmark: str) -> PredictionForms | None:
    """The module of a benchmark of the project; None where it or the benchmark does not exist."""
    return cast(PredictionForms | None, module_of(benchmark, "predictions"))


def predictable() -> list[str]:
    """Names of the benchmarks that files of predictions can be imported for."""
    return [name for name in BENCHMARKS if prediction_forms(name)]
