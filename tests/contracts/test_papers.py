"""The page "The papers, row by row": every module and test that its data file names exists."""

from typing import Any

import pytest

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
