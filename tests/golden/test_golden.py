"""The comparison with golden files itself: what is shown of a difference, and how it is taken over."""

from pathlib import Path

import pytest

from tests.plugins import golden

pytest_plugins = ["pytester"]
TEST = "def test_it(golden):\n    golden('it.txt', 'one\\nthree\\n')\n"


@pytest.fixture
def known(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A golden file that says something else."""
    monkeypatch.setattr(golden, "FILES", pytester.path)
    # It opens a server in this process, for the workers of a run that has some.
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:rerunfailures")
    path = pytester.path / "it.txt"
    path.write_text("one\ntwo\n")
    pytester.makeconftest('pytest_plugins = ["tests.plugins.golden"]')
    pytester.makepyfile(TEST)
    return path


def test_a_difference_is_shown_with_what_to_do(pytester: pytest.Pytester, known: Path) -> None:
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "it.txt is not what it was:",
            "-two",
            "+three",
            "If this is meant, run 'pytest tests/golden --regenerate-golden'*",
        ]
    )
    assert known.read_text() == "one\ntwo\n"


def test_when_told_so_the_file_is_written_anew(pytester: pytest.Pytester, known: Path) -> None:
    pytester.runpytest_inprocess("--regenerate-golden").assert_outcomes(passed=1)
    pytester.runpytest_inprocess().assert_outcomes(passed=1)
    assert known.read_text() == "one\nthree\n"
