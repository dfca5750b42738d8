"""Which tests a run has: the fast ones, all that CI runs, or every case of each law.

What belongs here: the option `--tier`, the marks that it reads, the draw of cases, and how many
examples of a law are tried. `fast` leaves out what is slow, `all` what is nightly, `nightly` (where
nothing is said) nothing. Of tests that carry one mark `sample(n)` together, `n` run in `fast` and in
`all`; `sample(n, of=name)` is one sample with all tests that give it this name. They are drawn by
the commit, so that each has its turn; `--draw` repeats another's draw.
"""

import hashlib
import json
import subprocess
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "tests" / "durations.json"
TIERS = ("fast", "all", "nightly")
SLOW_SECONDS = 5.0
"""A file that takes longer with its fixtures, on an idle machine with two cores, is slow."""

# A busy machine is slow, not wrong: without a deadline no law fails by the time it takes. A test that
# needs another number of examples, because one costs it nothing, says so itself.
for tier, examples in zip(TIERS, (15, 50, 300), strict=True):
    settings.register_profile(tier, max_examples=examples, deadline=None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--tier", choices=TIERS, default="nightly", help="which tests to run")
    parser.addoption("--draw", help="the commit, or any text, that samples are drawn by")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose the profile before modules with laws are imported, and the draw before workers begin."""
    settings.load_profile(config.getoption("tier"))
    if config.getoption("draw") is None:
        config.option.draw = _commit()


def pytest_report_header(config: pytest.Config) -> str:
    """How to have the same tests again."""
    return f"tests: --tier={config.getoption('tier')} --draw={config.getoption('draw')}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is slow, and leave out what the tier does not have."""
    tier = config.getoption("tier")
    record = json.loads(RECORD.read_text())
    for item in items:
        if seconds_of_file(item, record) > SLOW_SECONDS and not item.get_closest_marker("always"):
            item.add_marker("slow")
    if tier == "nightly":
        return
    left_out = ("nightly", "slow") if tier == "fast" else ("nightly",)
    undrawn = _undrawn(items, config.getoption("draw"))
    out = [item for item in items if item in undrawn or any(map(item.get_closest_marker, left_out))]
    if out:
        config.hook.pytest_deselected(items=out)
        gone = set(out)
        items[:] = [item for item in items if item not in gone]


def seconds_of_file(item: pytest.Item, record: dict[str, dict[str, float]]) -> float:
    """What the record says of a test's file, with the shared fixtures that the test needs."""
    fixtures = getattr(item, "_fixtureinfo", None)
    needed = fixtures.name2fixturedefs.values() if fixtures else ()
    shared = (f"{definitions[-1].baseid}::{definitions[-1].argname}" for definitions in needed)
    return record["files"].get(item.nodeid.partition("::")[0], 0.0) + sum(
        record["fixtures"].get(name, 0.0) for name in shared
    )


def _undrawn(items: list[pytest.Item], draw: str) -> set[pytest.Item]:
    """The tests of each sample whose turn it is not."""
    samples: dict[tuple[str, int], list[pytest.Item]] = defaultdict(list)
    for item in items:
        for node, mark in item.iter_markers_with_node("sample"):
            # A mark of a function is on each of its cases.
            owner = item.nodeid.partition("[")[0] if node is item else node.nodeid
            samples[mark.kwargs.get("of", owner), mark.args[0]].append(item)
    return {
        item
        for (_, n), cases in samples.items()
        for item in sorted(cases, key=lambda case: _rank(draw, case.nodeid))[n:]
    }


@pytest.fixture
def drawn(request: pytest.FixtureRequest) -> Callable[[Sequence[object], int], list[object]]:
    """`drawn(cases, n)`: the commit's `n` of the cases, in their order; nightly all of them."""
    draw, name = request.config.getoption("draw"), request.node.nodeid
    every = request.config.getoption("tier") == "nightly"

    def some(cases: Sequence[object], n: int) -> list[object]:
        places = sorted(range(len(cases)), key=lambda place: _rank(draw, f"{name} {place}"))
        return [cases[place] for place in sorted(places if every else places[:n])]

    return some


def _rank(draw: str, name: str) -> bytes:
    return hashlib.sha256(f"{draw} {name}".encode()).digest()


def _commit() -> str:
    """The commit that is checked out, or a constant where there is no repository."""
    asked = subprocess.run(
        ["git", "rev-parse", "--short=10", "HEAD"], cwd=ROOT, capture_output=True, text=True
    )
    return asked.stdout.strip() or "none"
