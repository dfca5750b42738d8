"""What each test and each fixture cost: wall, CPU and waiting time, in a report of the run.

What belongs here: the measurement, the report `.timings/report.json` that every run writes, and what
`python -m tests.plugins.timings` renews from it: the record `tests/durations.json` and the figures of
docs/results/tests.md. The CPU time of a test is that of its process and of all processes below it, so
a command that a test starts counts, and a server that a fixture keeps counts for the tests that it
works for.
Waiting is wall time less CPU time.
"""

import json
import os
import resource
import sys
from collections import defaultdict
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from tests.plugins.tiers import RECORD, ROOT

REPORT = ROOT / ".timings" / "report.json"
PAGE = ROOT / "docs" / "results" / "tests.md"
BEGIN, END = "<!-- figures of the last recorded run -->", "<!-- end of figures -->"
WHOLE_RUN = 5_000
"""Tests of a run that the record may be renewed from, at least."""
TICKS = os.sysconf("SC_CLK_TCK")
Seconds = tuple[float, float]
"""Wall and CPU time."""


def descendants(process: int) -> set[int]:
    """The living processes below a process."""
    processes: set[int] = set()
    # A process or a thread may end while it is looked at.
    with suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            with suppress(OSError):
                for child in map(int, (task / "children").read_text().split()):
                    processes |= {child, *descendants(child)}
    return processes


def cpu_of_the_tree() -> float:
    """Seconds of CPU time that this process, its children that have ended and those that live used."""
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    used = sum(each.ru_utime + each.ru_stime for each in spent)
    for pid in descendants(os.getpid()):
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            continue  # It has ended, and is counted with the ended from now on.
        used += sum(map(int, stat.rpartition(")")[2].split()[11:15])) / TICKS
    return used


def now() -> Seconds:
    """The clock and the CPU time up to now."""
    return monotonic(), cpu_of_the_tree()


@dataclass
class Span:
    """What runs since `began`; `inner` belongs to fixtures that were made meanwhile."""

    began: Seconds
    inner: Seconds = (0.0, 0.0)

    def end(self) -> tuple[Seconds, Seconds]:
        """Its own time, and all of it."""
        wall, cpu = (n - b for n, b in zip(now(), self.began, strict=True))
        return (wall - self.inner[0], max(cpu - self.inner[1], 0.0)), (wall, cpu)


class Measuring:
    """In each worker: attaches to each test's last report what the test and its fixtures cost."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._spans: list[Span] = []
        self._fixtures: list[tuple[str, float, float]] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        before = now()
        done = yield
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput["collection"] = Span(before).end()[1]
        return done

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        self._spans = [Span(now())]
        self._fixtures = []
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object]
    ) -> Generator[None, object, object]:
        self._spans.append(Span(now()))
        try:
            return (yield)
        finally:
            own, whole = self._spans.pop().end()
            if fixturedef.scope != "function" or own[0] > 0.1:
                self._fixtures.append((f"{fixturedef.baseid}::{fixturedef.argname}", *own))
            outer = self._spans[-1]
            outer.inner = (outer.inner[0] + whole[0], outer.inner[1] + whole[1])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when == "teardown":
            (wall, cpu), _ = self._spans[0].end()
            cost = {"wall": wall, "cpu": cpu, "fixtures": self._fixtures}
            report.user_properties = [*report.user_properties, ("cost", cost)]
        return report


class Reporting:
    """In the process that the run began in: collects what the workers measured and writes it down."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._began = monotonic()
        self._tests: dict[str, dict[str, Any]] = {}
        self._collections: list[Seconds] = []

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        if spent := getattr(node, "workeroutput", {}).get("collection"):
            self._collections.append(spent)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, cost in report.user_properties:
            if name == "cost":
                worker = getattr(report, "worker_id", "main")
                self._tests[report.nodeid] = {"worker": worker, **cost}  # type: ignore[dict-item]

    def pytest_sessionfinish(self) -> None:
        if not self._tests:
            return
        report = {
            "tier": self._config.getoption("tier"),
            "wall": round(monotonic() - self._began, 1),
            "collection": _cost(self._collections),
            **summed(self._tests),
        }
        REPORT.parent.mkdir(exist_ok=True)
        REPORT.write_text(json.dumps(report, indent=1) + "\n")


def summed(tests: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The parts of a report: by worker, by fixture, by test without its fixtures."""
    fixtures: dict[str, list[Seconds]] = defaultdict(list)
    workers: dict[str, list[Seconds]] = defaultdict(list)
    for test in tests.values():
        made = [(wall, cpu) for _, wall, cpu in test["fixtures"]]
        workers[test["worker"]] += [(test["wall"], test["cpu"]), *made]
        for name, wall, cpu in test["fixtures"]:
            fixtures[name].append((wall, cpu))
    return {
        "workers": {name: _cost(spent) for name, spent in sorted(workers.items())},
        "fixtures": {name: {"times": len(s), **_cost(s)} for name, s in sorted(fixtures.items())},
        "tests": {name: _cost([(t["wall"], t["cpu"])]) for name, t in sorted(tests.items())},
    }


def _cost(spent: list[Seconds]) -> dict[str, float]:
    wall, cpu = sum(w for w, _ in spent), sum(c for _, c in spent)
    waiting = sum(max(w - c, 0.0) for w, c in spent)
    return {"wall": round(wall, 3), "cpu": round(cpu, 3), "waiting": round(waiting, 3)}


def recorded(report: dict[str, Any], known: dict[str, dict[str, float]]) -> dict[str, Any]:
    """The record of a run: seconds of each file with its own fixtures made once, of each fixture that
    files share, of each test that takes a second. Files that the run did not have keep what is known.
    """
    files: dict[str, float] = defaultdict(float)
    for nodeid, cost in report["tests"].items():
        files[nodeid.partition("::")[0]] += cost["wall"]
    shared: dict[str, float] = {}
    for name, cost in report["fixtures"].items():
        seconds = cost["wall"] / cost["times"]
        if (file := name.partition("::")[0]) in files:
            files[file] += seconds
        elif seconds >= 1:
            shared[name] = seconds
    kept = {name: s for name, s in known["files"].items() if (ROOT / name).exists()}
    tests = {name: cost["wall"] for name, cost in report["tests"].items() if cost["wall"] >= 1}
    parts = {"files": {**kept, **files}, "fixtures": shared, "tests": tests}
    return {
        part: {name: round(seconds, 1) for name, seconds in sorted(each.items())}
        for part, each in parts.items()
    }


def figures(report: dict[str, Any]) -> str:
    """The table of the page."""
    spent = list(report["workers"].values())
    worlds = sum(cost["wall"] for cost in report["fixtures"].values())
    rows = {
        "tests": f"{len(report['tests']):,}",
        "wall time": f"{report['wall']:,.0f} s with {len(spent)} workers",
        "CPU time of tests and fixtures": f"{sum(each['cpu'] for each in spent):,.0f} s",
        "waiting": f"{sum(each['waiting'] for each in spent):,.0f} s",
        "fixtures (part of both)": f"{worlds:,.0f} s",
        "collection, all workers": f"{report['collection']['wall']:,.0f} s",
        "longest test": f"{max(cost['wall'] for cost in report['tests'].values()):,.0f} s",
    }
    lines = [f"| `--tier={report['tier']}` | |", "|---|---|"]
    return "\n".join([*lines, *(f"| {name} | {figure} |" for name, figure in rows.items())])


def main() -> None:
    """Renew the record and the page's figures from the report of the last run."""
    report = json.loads(REPORT.read_text())
    if report["tier"] != "all" or len(report["tests"]) < WHOLE_RUN:
        sys.exit(f"{REPORT} is of {len(report['tests'])} tests: run make test-all first.")
    record = recorded(report, json.loads(RECORD.read_text()))
    RECORD.write_text(json.dumps(record, indent=1) + "\n")
    before, _, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{figures(report)}\n{END}{after}")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Measuring(config), "measuring")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Reporting(config), "reporting")


if __name__ == "__main__":
    main()
