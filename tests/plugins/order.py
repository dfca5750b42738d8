"""In what order tests run, and which worker runs them.

What belongs here: the order of a run and the units that workers take from one queue. A unit is a file,
so its fixtures are made once; a file whose tests take long is as many units as it has test functions.
Units that take long by `tests/durations.json` begin first, so that no worker is still at one of them
when the others have nothing left to do; a worker goes on with the file it is at, whose fixtures it has,
and takes of another worker's file only when nothing else is left. A random order stays random.
"""

import json
from collections import defaultdict
from typing import Any

import pytest

from tests.plugins.tiers import RECORD

LONG_SECONDS = 60.0
"""A file whose tests take longer, without its fixtures, is not one unit."""

Record = dict[str, dict[str, float]]
"""Seconds of `files`, of `fixtures` and of `tests` by their names."""


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("numprocesses", None):
        # Units keep the order of the tests, not that of their numbers.
        config.option.loadscopereorder = False


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long units first; the tests of a unit stay together and keep their order.

    It runs before the plugin for random orders, which has the last word.
    """
    record = json.loads(RECORD.read_text())
    split = long_files(record)
    seconds = seconds_of_units([item.nodeid for item in items], record)
    items.sort(key=lambda item: (-seconds[unit(item.nodeid, split)], unit(item.nodeid, split)))


def long_files(record: Record) -> set[str]:
    """The files that are not one unit."""
    tests: defaultdict[str, float] = defaultdict(float)
    for nodeid, seconds in record["tests"].items():
        tests[file_of(nodeid)] += seconds
    return {file for file, seconds in tests.items() if seconds > LONG_SECONDS}


def file_of(name: str) -> str:
    """The file of a test or of a unit."""
    return name.partition("::")[0]


def unit(nodeid: str, split: set[str]) -> str:
    """The file of a test, or in a long file its function with all of its cases."""
    return nodeid.partition("[")[0] if file_of(nodeid) in split else file_of(nodeid)


def seconds_of_units(nodeids: list[str], record: Record) -> dict[str, float]:
    """What each unit took: the record has long files' tests one by one."""
    split = long_files(record)
    seconds: dict[str, float] = {}
    for nodeid in nodeids:
        name = unit(nodeid, split)
        if name in record["files"]:
            seconds[name] = record["files"][name]
        else:
            seconds[name] = seconds.get(name, 0.0) + record["tests"].get(nodeid, 0.0)
    return seconds


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """One queue of units for all workers."""
    from xdist.scheduler import LoadScopeScheduling

    split = long_files(json.loads(RECORD.read_text()))

    class UnitScheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return unit(nodeid, split)

        def remove_node(self, node: Any) -> str | None:
            # The test that ended its worker has failed; no other worker is given it.
            pending = [
                (units, test)
                for units in self.assigned_work.get(node, {}).values()
                for test, done in units.items()
                if not done
            ]
            ended = super().remove_node(node)
            for units, test in pending[:1]:
                units[test] = True
            return ended

        def _assign_work_unit(self, node: Any) -> None:
            last = {
                n: file_of(next(reversed(units)))
                for n, units in self.assigned_work.items()
                if units
            }
            mine = last.pop(node, None)
            following = min(
                self.workqueue,
                key=lambda name: (file_of(name) != mine, file_of(name) in last.values()),
            )
            self.workqueue.move_to_end(following, last=False)
            super()._assign_work_unit(node)

    return UnitScheduling(config, log)
