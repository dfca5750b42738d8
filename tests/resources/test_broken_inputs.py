"""Broken inputs: each ends as the record says, and the guides explain every reason."""

import re

import pytest

from resources.files.home import REPO_ROOT
from tests.resources.broken_inputs import GUIDES, RECORD, SECTIONS, record

pytestmark = pytest.mark.slow

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
    """The record as the code makes it now."""
    return record()


def reasons_in(page: str) -> set[str]:
    """The reasons that a page has in its tables."""
    return {
        reason
        for line in page.splitlines()
        if line.startswith("| ")
        for reason in re.findall(r"\| `([a-z_0-9]+)` ", line)
    }


def test_the_record_has_the_outcome_of_every_broken_input(made: str) -> None:
    """Where this fails, either the code is wrong or the record must be written again."""
    assert RECORD.read_text(encoding="utf-8").splitlines() == made.splitlines()


def test_the_guides_explain_every_reason(made: str) -> None:
    sources = [*(REPO_ROOT / "methods").rglob("*.py"), *(REPO_ROOT / "resources").rglob("*.py")]
    in_code = {reason for path in sources for reason in REASON.findall(path.read_text())}
    assert {"not_utf8", "no_page", "truncated", "blurred", "timeout"} <= in_code
    in_code = in_code - OF_IMPORTS | OF_WIKIPEDIA
    assert in_code <= reasons_in(made)
    explained = {reason for page in GUIDES for reason in reasons_in(page.read_text("utf-8"))}
    assert reasons_in(made) <= explained


def test_no_two_inputs_are_called_the_same(made: str) -> None:
    for title, cases in SECTIONS.items():
        names = [case.broken for case in cases]
        assert len(set(names)) == len(names), title
    n_lines = len(re.findall(r"^\| [A-Z0-9]", made, re.MULTILINE))
    assert n_lines == sum(map(len, SECTIONS.values())) >= 35


def test_the_record_tells_nothing_of_the_machine_it_was_made_on(made: str) -> None:
    for trace in ("127.0.0.1", "/tmp", str(REPO_ROOT)):
        assert trace not in made
