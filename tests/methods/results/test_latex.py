"""Tables of LaTeX, read by a parser of LaTeX and, where there is an engine, set by it."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pylatexenc.latexwalker import (
    LatexEnvironmentNode,
    LatexGroupNode,
    LatexMacroNode,
    LatexSpecialsNode,
    LatexWalker,
    get_default_latex_context_db,
)
from pylatexenc.macrospec import EnvironmentSpec, MacroSpec

from methods.results.results_table import JudgeResults
from methods.results.tables import ResultTable, tables
from methods.results.texts import latex
from tests.methods.results.test_tables import BOARD, HOSTILE, model, pair, results, slice_

ENGINE = shutil.which("tectonic") or shutil.which("pdflatex")
NAMES = st.text(
    st.one_of(st.sampled_from(r"\{}[]&%$#_^~<>–-'`|*" + '"\n\t'), st.characters(codec="utf-8")),
    min_size=1,
    max_size=12,
)


def parsed(text: str) -> LatexEnvironmentNode:
    """The table of a text; the parser raises where a brace or an environment is not closed."""
    known = get_default_latex_context_db()
    known.add_context_category(
        "booktabs",
        macros=[MacroSpec(name) for name in ("toprule", "midrule", "bottomrule", "bfseries")],
        environments=[EnvironmentSpec("table", "["), EnvironmentSpec("tabular", "[{")],
        prepend=True,
    )
    nodes, position, length = LatexWalker(
        text, latex_context=known, tolerant_parsing=False
    ).get_latex_nodes()
    assert position + length == len(text)
    (table,) = [node for node in nodes if node.isNodeType(LatexEnvironmentNode)]
    assert table.environmentname == "table"
    return table


def inside(table: LatexEnvironmentNode) -> LatexEnvironmentNode:
    (tabular,) = [node for node in table.nodelist if node.isNodeType(LatexEnvironmentNode)]
    assert tabular.environmentname == "tabular"
    return tabular


def rows(tabular: LatexEnvironmentNode) -> list[list[str]]:
    """The cells of each row, as they are written."""
    made: list[list[str]] = []
    cells = [""]
    for node in tabular.nodelist:
        if node.isNodeType(LatexSpecialsNode) and node.specials_chars == "&":
            cells.append("")
        elif node.isNodeType(LatexMacroNode) and node.macroname == "\\":
            assert node.nodeargd is None or not any(node.nodeargd.argnlist), "no argument of a row"
            made.append([cell.strip() for cell in cells])
            cells = [""]
        elif node.isNodeType(LatexMacroNode) and node.macroname.endswith("rule"):
            assert not cells[0].strip() and len(cells) == 1, "rules stand between rows"
        else:
            cells[-1] += node.latex_verbatim()
    assert cells == [cells[0]] and not cells[0].strip()
    return made


def columns(tabular: LatexEnvironmentNode) -> int:
    """How many columns are declared: l, or S with its options."""
    *_, spec = tabular.nodeargd.argnlist
    assert spec.isNodeType(LatexGroupNode)
    letters = re.sub(r"\[[^]]*\]", "", spec.latex_verbatim())
    return sum(letters.count(letter) for letter in "lS")


def check(of: ResultTable) -> None:
    tabular = inside(parsed(latex(of)))
    shape = {len(row) for row in rows(tabular)}
    assert shape == {len(of.heads)} == {columns(tabular)}
    assert len(rows(tabular)) == len(of.rows) + 1


def hostile_board(name: str) -> JudgeResults:
    models: list[dict[str, Any]] = [model(name, 50.0, 1), model("other", None, None)]
    return results(models, [pair(name, "other", 10.0, 0.01)], [slice_(name, name, name, 1.0)])


@given(NAMES)
def test_environments_and_braces_close_and_each_row_has_a_cell_a_column(name: str) -> None:
    for table in tables(hostile_board(name)):
        check(table)


@pytest.mark.parametrize("board", [BOARD, hostile_board(HOSTILE)])
def test_tables_are_read_as_they_are_meant(board: JudgeResults) -> None:
    for table in tables(board):
        check(table)


def test_a_name_stands_in_one_cell() -> None:
    board, *_ = tables(hostile_board("a & b \\\\ {c}"))
    assert rows(inside(parsed(latex(board))))[1][2] == (
        r"\textbf{a \& b \textbackslash{}\textbackslash{} \{c\}}"
    )


@pytest.mark.skipif(ENGINE is None, reason="no LaTeX engine is here")
@pytest.mark.parametrize("board", [BOARD, hostile_board(HOSTILE)])
def test_an_engine_sets_them(board: JudgeResults, tmp_path: Path) -> None:
    texts = [latex(table) for table in tables(board)]
    (tmp_path / "all.tex").write_text(
        "\\documentclass{article}\\usepackage{booktabs}\\usepackage{siunitx}\n"
        "\\begin{document}\n" + "\n".join(texts) + "\\end{document}\n"
    )
    command = [ENGINE, *(["-interaction=nonstopmode"] if "pdflatex" in str(ENGINE) else [])]
    subprocess.run([*command, "all.tex"], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "all.pdf").stat().st_size > 1_000
