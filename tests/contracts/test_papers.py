"""The page "The papers, row by row": every module and test that its data file names exists."""

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


def test_a_row_names_what_exists_or_a_reason() -> None:
    for row in ROWS:
        assert row["claim"] and row["place"]
        if "test" in row:
            for named in (row["module"], row["test"]):
                assert (REPO_ROOT / named).is_file(), row
            assert "note" not in row
        else:
            assert row["note"] and "module" not in row
