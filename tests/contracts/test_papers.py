"""The page "The papers, row by row": every module and test that its data file names exists."""

from typing import Any

import pytest

from docs.reference import papers
from methods.yaml_text import from_yaml
from resources.files.home import REPO_ROOT

PAPERS: dict[str, list[dict[str, str]]] = from_yaml(
    (REPO_ROOT / "docs" / "reference" / "papers.yaml").read_text("utf-8")
)
ROWS = [row for rows in PAPERS.values() for row in rows]


def test_all_five_papers_have_rows() -> None:
    assert list(PAPERS) == ["MMDU", "MMBench", "AlignMMBench", "MMIU", "ConvBench"]
    assert len(ROWS) >= 132
    claims = [(paper, row["claim"]) for paper, rows in PAPERS.items() for row in rows]
    assert len(set(claims)) == len(claims)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["claim"][:50])
def test_a_row_names_what_exists_or_a_reason(row: dict[str, Any]) -> None:
    assert row["claim"] and row["place"]
    if "test" in row:
        assert (REPO_ROOT / row["module"]).is_file() and (REPO_ROOT / row["test"]).is_file()
        assert "note" not in row
    else:
        assert row["note"] and "module" not in row


def test_the_page_has_a_line_for_each_row() -> None:
    page = "\n\n".join(papers())
    lines = [line for line in page.splitlines() if line.startswith("|")]
    # Each paper's table has two lines above its rows.
    assert len(lines) == len(ROWS) + 2 * len(PAPERS)
    assert "methods/clustering/two_passes.py" in page
