"""The tiers: what each runs, that samples take turns, that nothing nightly stands alone, the record."""

import ast
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.plugins.tiers import RECORD, ROOT

FILES = sorted((ROOT / "tests").rglob("test_*.py"))
TESTS = """
import pytest

def test_fast(): pass

@pytest.mark.slow
def test_slow(): pass

@pytest.mark.nightly(sibling="test_it.py::test_fast")
def test_nightly(): pass

@pytest.mark.sample(2)
@pytest.mark.parametrize("case", range(10))
def test_sampled(case): pass

@pytest.mark.sample(1, of="a pair")
def test_one(): pass

@pytest.mark.sample(1, of="a pair")
def test_other(): pass

def test_drawn(drawn):
    print("drawn", drawn("abcdefghij", 3))
"""


@pytest.fixture
def ran(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Callable[..., set[str]]:
    """What a run with these options has: names of tests, and what `drawn` gave."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makeconftest('pytest_plugins = ["tests.plugins.tiers"]\n')
    pytester.makeini(
        "[pytest]\nmarkers =\n  nightly\n  sample\n  slow\n  always\naddopts = --strict-markers"
    )
    pytester.makepyfile(test_it=TESTS)

    def run(*options: str) -> set[str]:
        result = pytester.runpytest_subprocess("-rA", "-p", "no:cacheprovider", *options)
        assert result.ret == 0
        text = result.stdout.str()
        return {
            *re.findall(r"^PASSED \S+::(\S+)", text, re.M),
            *re.findall("^drawn .*", text, re.M),
        }

    return run


def test_each_tier_has_more_and_a_sample_is_the_commits(ran: Callable[..., set[str]]) -> None:
    fast, more = ran("--tier=fast", "--draw=a"), ran("--tier=all", "--draw=a")
    nightly = ran()

    assert more - fast == {"test_slow"}
    assert more - nightly == {each for each in more if each.startswith("drawn ")}
    assert {"test_fast", "test_slow", "test_nightly"} <= nightly
    sampled = {name for name in nightly if name.startswith("test_sampled")}
    assert len(sampled) == 10 and len(sampled & more) == 2
    assert len(more & {"test_one", "test_other"}) == 1 and {"test_one", "test_other"} <= nightly
    assert "drawn ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']" in nightly

    # Another commit has another draw.
    assert ran("--tier=all", "--draw=b") != more


def functions(file: Path) -> Iterator[tuple[str, list[ast.expr]]]:
    """Each function of a file, with all marks that it stands under."""
    module = ast.parse(file.read_text())
    over = [
        mark
        for node in module.body
        if isinstance(node, ast.Assign) and "pytestmark" in ast.unparse(node.targets[0])
        for mark in (node.value.elts if isinstance(node.value, ast.List) else [node.value])
    ]
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef):
            yield node.name, [*over, *node.decorator_list]


def test_whatever_is_only_nightly_names_a_test_of_every_run() -> None:
    nightly: dict[str, str] = {}
    every_run: set[str] = set()
    for file in FILES:
        for name, marks in functions(file):
            test = f"{file.relative_to(ROOT)}::{name}"
            every_run.add(test)
            for mark in marks:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func).endswith(".nightly"):
                    (sibling,) = (ast.literal_eval(k.value) for k in mark.keywords)
                    nightly[test] = sibling
    every_run -= nightly.keys()

    assert {test for test, sibling in nightly.items() if sibling not in every_run} == set()


def test_the_record_has_nine_files_in_ten() -> None:
    known = json.loads(RECORD.read_text())["files"]
    unknown = {str(file.relative_to(ROOT)) for file in FILES} - known.keys()

    assert len(unknown) <= len(FILES) / 10, "run python -m tests.plugins.timings"
