"""The guides explain every reason for which a row, an image or a page is left out."""

import re

from resources.files.home import REPO_ROOT

GUIDES = [REPO_ROOT / "docs" / "guides" / f"{name}.md" for name in ("broken-inputs", "ingestion")]
REASON = re.compile(
    r'(?:ImageRejected|_Refused|_at_least|_at_most|_refused|RowError)\(\s*(?:record, numbers, )?"(\w+)"'
)
"""How a reason is given in the code."""
OF_WIKIPEDIA = {"missing_page", "invalid_page", "missing_file", "invalid_file"}
"""The code joins two words to make these."""
OF_IMPORTS = {"outside"}
"""An import is refused with the sentence alone."""


def test_the_guides_explain_every_reason() -> None:
    sources = [*(REPO_ROOT / "methods").rglob("*.py"), *(REPO_ROOT / "resources").rglob("*.py")]
    in_code = {reason for path in sources for reason in REASON.findall(path.read_text())}
    assert {"not_utf8", "no_page", "truncated", "blurred", "timeout"} <= in_code
    explained = {
        reason
        for page in GUIDES
        for line in page.read_text("utf-8").splitlines()
        if line.startswith("| ")
        for reason in re.findall(r"\| `([a-z_0-9]+)` ", line)
    }
    assert in_code - OF_IMPORTS | OF_WIKIPEDIA <= explained
