"""Broken inputs: each ends as the guide says, and the guide knows every reason that there is."""

import re

import pytest

from resources.files.home import REPO_ROOT
from tests.resources.broken_inputs import GUIDE, SECTIONS, WORDS, guide

REASON = re.compile(
    r'(?:ImageRejected|_Refused|_at_least|_at_most|_refused|RowError)\(\s*(?:record, numbers, )?"(\w+)"'
)
"""How a reason is given in the code."""
OF_WIKIPEDIA = {"missing_page", "invalid_page", "missing_file", "invalid_file"}
"""Put together there of two words."""
OF_IMPORTS = {"outside"}
"""An import is refused with the sentence alone."""


@pytest.fixture(scope="module")
def made() -> str:
    """The page as the code makes it now."""
    return guide()


def test_the_guide_says_what_becomes_of_every_broken_input(made: str) -> None:
    """Where this fails, either the code is wrong or the page is to be written anew."""
    assert GUIDE.read_text(encoding="utf-8").splitlines() == made.splitlines()


def test_every_reason_in_the_code_stands_in_the_guide(made: str) -> None:
    sources = [*(REPO_ROOT / "methods").rglob("*.py"), *(REPO_ROOT / "resources").rglob("*.py")]
    in_code = {reason for path in sources for reason in REASON.findall(path.read_text())}
    assert {"not_utf8", "no_page", "truncated", "blurred", "timeout"} <= in_code
    in_guide = set(re.findall(r"\| `(\w+)` ", made))
    assert in_code - OF_IMPORTS | OF_WIKIPEDIA <= in_guide


def test_no_two_inputs_are_called_the_same(made: str) -> None:
    for title, cases in SECTIONS.items():
        names = [case.broken for case in cases]
        assert len(set(names)) == len(names), title
    n_lines = len(re.findall(r"^\| [A-Z0-9]", made, re.MULTILINE))
    assert n_lines == sum(map(len, SECTIONS.values())) >= 35


def test_the_page_tells_nothing_of_the_machine_it_was_made_on(made: str) -> None:
    assert made.startswith(WORDS)
    for trace in ("127.0.0.1", "/tmp", str(REPO_ROOT)):
        assert trace not in made
