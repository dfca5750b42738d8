"""Tables of LaTeX, read by a parser of LaTeX and, where there is an engine, set by it."""

import re
from itertools import combinations
from typing import Any

import pytest
from pylatexenc.latexwalker import (
    LatexEnvironmentNode,
    LatexGroupNode,
    LatexMacroNode,
    LatexSpecialsNode,
    LatexWalker,
    get_default_latex_context_db,
)
from pylatexenc.macrospec import EnvironmentSpec, MacroSpec

from methods.results.latex_and_markdown import NAMES, latex, latex_text
from methods.results.results_table import JudgeResults
from methods.results.table_cells import ResultTable
from methods.results.tables import tables
from tests.methods.results.test_tables import BOARD, HOSTILE, model, named, pair, results, slice_

ENVIRONMENTS = ("table", "table*")


def parsed(text: str) -> list[LatexEnvironmentNode]:
    """The tables of a text; the parser raises where a brace or an environment is not closed."""
    known = get_default_latex_context_db()
    rules = ("toprule", "midrule", "bottomrule", "bfseries")
    environments = [EnvironmentSpec(name, "[") for name in ENVIRONMENTS]
    known.add_context_category(
        "booktabs",
        macros=[MacroSpec(name) for name in rules],
        environments=[*environments, EnvironmentSpec("tabular", "[{")],
        prepend=True,
    )
    walker = LatexWalker(text, latex_context=known, tolerant_parsing=False)
    nodes, position, length = walker.get_latex_nodes()
    assert position + length == len(text)
    found = [node for node in nodes if node.isNodeType(LatexEnvironmentNode)]
    assert {table.environmentname for table in found} <= set(ENVIRONMENTS)
    return found


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


def declared(tabular: LatexEnvironmentNode) -> list[str]:
    """The columns that are declared: l, p with its width, or S with its options."""
    *_, spec = tabular.nodeargd.argnlist
    assert spec.isNodeType(LatexGroupNode)
    plain = re.sub(r"@\{\}|>\{[^}]*\}|\[[^]]*\]|(?<=p)\{[^}]*\}", "", spec.latex_verbatim())
    return re.findall("[lpS]", plain)


def check(of: ResultTable) -> None:
    tabulars = [inside(table) for table in parsed(latex(of))]
    for tabular in tabulars:
        assert {len(row) for row in rows(tabular)} == {len(declared(tabular))}
        assert len(rows(tabular)) == len(of.rows) + 1
    # The names of the rows are in each table.
    assert sum(len(declared(each)) - 1 for each in tabulars) + 1 == len(of.heads)


MODELS = [f"Qwen2.5-VL-{size}B-Instruct-AWQ" for size in (3, 7, 32, 72)]
ABILITIES = [f"physical_relation_reasoning_{number}" for number in range(20)]


def wide_board(n_models: int, n_values: int) -> JudgeResults:
    names, values = MODELS[:n_models], ABILITIES[:n_values]
    pairs = [pair(one, other, -50.0, 0.2) for one, other in combinations(names, 2)]
    slices = [slice_(name, "category", value, 100.0) for name in names for value in values]
    return results([model(name, 100.0, 1) for name in names], pairs, slices)


def test_the_shorter_list_stands_across_a_table_of_slices() -> None:
    *_, many = tables(wide_board(4, 20))
    assert many.heads[:4] == ("category", "C", MODELS[0], "Interval") and len(many.rows) == 20
    *_, few = tables(wide_board(4, 2))
    assert few.heads[:2] == ("Model", "physical relation reasoning 0") and len(few.rows) == 4


def test_a_table_that_fits_the_page_only_stands_across_both_columns() -> None:
    names = ("Creativity", "Richness", "Visual Perception", "Logical Coherence", "Answer Accuracy")
    scores = [
        {**model(name, 50.0, 1), "metric": metric, "place": place}
        for place, metric in enumerate(("Overall Score", *names))
        for name in MODELS
    ]
    by_metric = named("metrics-1", results(scores[:4], others=scores[4:]))
    assert by_metric.heads == ("Model", "Overall", "C", "R", "VP", "LC", "AA")
    assert "VP: Visual Perception" in by_metric.caption
    (table,) = parsed(latex(by_metric))
    assert table.environmentname == "table*"


def test_words_that_fit_a_line_are_not_broken() -> None:
    text = latex_text("independent mmbench-dev-a6ee3d481c internationalisation", room=NAMES)
    assert text == "independent mmbench-dev-a6ee3d481c internationalisation"
    assert latex_text("physical_relation_reasoning_0", room=NAMES) == (
        r"physical\_\allowbreak{}relation\_\allowbreak{}reasoning\_\allowbreak{}0"
    )


def hostile_board(name: str) -> JudgeResults:
    models: list[dict[str, Any]] = [model(name, 50.0, 1), model("other", None, None)]
    return results(models, [pair(name, "other", 10.0, 0.01)], [slice_(name, name, name, 1.0)])


BOARDS = [BOARD, hostile_board(HOSTILE)]


@pytest.mark.parametrize("board", BOARDS)
def test_tables_are_read_as_they_are_meant_and_a_name_stands_in_one_cell(board) -> None:
    for table in tables(board):
        check(table)
    table, *_ = tables(hostile_board("a & b \\\\ {c}"))
    name = rows(inside(parsed(latex(table))[0]))[1][2]
    assert name == r"\textbf{a \& b \textbackslash{}\textbackslash{} \{c\}}"
