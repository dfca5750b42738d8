"""The available benchmarks by name: those of the project, and those of installed packages.

A package names its benchmarks as entry points of the group `vlm_loom.benchmarks`.
"""

import re
from collections.abc import Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NamedTuple

from methods.alignmmbench import Alignmmbench
from methods.convbench import Convbench
from methods.evaluation.benchmark import GROUP, Benchmark, missing_members
from methods.evaluation.published import PublishedFormats
from methods.mmbench import Mmbench
from methods.mmdu import Mmdu
from methods.mmiu import Mmiu

Benchmarks = Mapping[str, Benchmark]
_NAME = re.compile("[a-z][a-z0-9_]{0,39}")
_OWN: Benchmarks = {
    benchmark.name: benchmark
    for benchmark in (Mmdu(), Mmbench(), Mmiu(), Alignmmbench(), Convbench())
}


class InstalledBenchmarks(NamedTuple):
    """Benchmarks of installed packages by name, and the reasons why others cannot be used, by name."""

    benchmarks: Benchmarks
    refused: Mapping[str, str]


def installed_benchmarks(points: Iterable[EntryPoint]) -> InstalledBenchmarks:
    """Load the benchmarks that entry points name; each must be an object that satisfies the protocol.

    A benchmark that cannot be used does not affect the others: the reason is given in a sentence.
    """
    benchmarks: dict[str, Benchmark] = {}
    refused: dict[str, str] = {}
    for point in points:
        try:
            benchmark = point.load()
        except Exception as error:
            reason = f"{point.value} cannot be imported ({type(error).__name__}: {error})"
        else:
            reason = _unusable(point, benchmark)
            if not reason and point.name in benchmarks:
                reason = "two packages have a benchmark of this name"
        if reason:
            refused[point.name] = (
                f"The benchmark {point.name} is left out: {reason}; correct the package."
            )
        else:
            benchmarks[point.name] = benchmark
    return InstalledBenchmarks(benchmarks, refused)


def _unusable(point: EntryPoint, benchmark: Any) -> str:
    """The reason why an object cannot be the benchmark of an entry point; empty if it can."""
    if not _NAME.fullmatch(point.name):
        return "its name has to be of lower-case letters, digits and underscores"
    if point.name in _OWN:
        return "the project has a benchmark of this name"
    if isinstance(benchmark, type):
        return f"{point.value} is a class: name an object of it"
    if names := missing_members(benchmark):
        return f"{point.value} has no {', '.join(names)}"
    if benchmark.name != point.name:
        return f"its entry point is called {point.name} and its name is {benchmark.name!r}"
    return ""


_INSTALLED = installed_benchmarks(entry_points(group=GROUP))
BENCHMARKS: Benchmarks = {**_OWN, **_INSTALLED.benchmarks}
REFUSED: Mapping[str, str] = _INSTALLED.refused
"""The reasons why benchmarks of installed packages are left out, by name."""


def published_forms(name: str) -> PublishedFormats | None:
    """The published formats of a benchmark; None if it has none, or there is no benchmark `name`."""
    benchmark = BENCHMARKS.get(name)
    return None if benchmark is None else benchmark.published


def importable_benchmarks() -> list[str]:
    """Names of the benchmarks whose published files can be read."""
    return [name for name, benchmark in BENCHMARKS.items() if benchmark.published]


def benchmarks_with_predictions() -> list[str]:
    """Names of the benchmarks that files of predictions can be imported for."""
    return [name for name, benchmark in BENCHMARKS.items() if benchmark.predictions]
