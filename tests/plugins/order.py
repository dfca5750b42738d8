"""Which tests run first, which are slow, and how long each file took.

What belongs here: the order of a run. Files that take long begin first, so that no worker is still at
one of them when the others have nothing left to do; they are marked `slow`, unless they are marked
`always`. `tests/durations.json` says how long each took; `--record-durations` writes it anew. A run in
random order keeps its random order.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

SLOW_SECONDS = 5.0
"""A file that took longer, on an idle machine with two cores, is slow."""
RECORD = Path(__file__).parents[1] / "durations.json"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--record-durations",
        action="store_true",
        help=f"write how long each file took to {RECORD.name}",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--record-durations") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(), "recorder")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow files first; the tests of a file stay together and keep their order.

    It runs before the plugin for random orders, which has the last word, and before tests are chosen
    by their marks.
    """
    seconds = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    for item in items:
        slow = seconds.get(_file(item.nodeid), 0) > SLOW_SECONDS
        if slow and not item.get_closest_marker("always"):
            item.add_marker("slow")
    items.sort(key=lambda item: (-seconds.get(_file(item.nodeid), 0), _file(item.nodeid)))


def _file(nodeid: str) -> str:
    return nodeid.partition("::")[0]


class Recorder:
    """Adds up what each file takes, with its fixtures."""

    def __init__(self) -> None:
        self._seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[_file(report.nodeid)] += report.duration  # type: ignore[assignment]

    def pytest_sessionfinish(self) -> None:
        known = json.loads(RECORD.read_text()) if RECORD.exists() else {}
        seconds = {**known, **{name: round(taken, 1) for name, taken in self._seconds.items()}}
        # Files that are gone are forgotten; those that take no time need no place.
        root = RECORD.parents[1]
        kept = {n: s for n, s in seconds.items() if s >= 1 and (root / n).exists()}
        RECORD.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n")
