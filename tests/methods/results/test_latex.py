"""Tables of LaTeX: rows with as many cells as columns are declared, and no name that is code."""

import re
from itertools import combinations
from typing import Any, NamedTuple

import pytest

from methods.results.latex_and_markdown import NAMES, latex, latex_text
from methods.results.results_table import JudgeResults
from methods.results.table_cells import ResultTable
from methods.results.tables import tables
from tests.methods.results.test_tables import BOARD, HOSTILE, model, named, pair, results, slice_


class Written(NamedTuple):
    environment: str
    columns: list[str]
    rows: list[list[str]]


def written(of: ResultTable) -> list[Written]:
    found = []
    text = latex(of)
    for environment, table in re.findall(r"\\begin\{(table\*?)\}(.*?)\\end\{\1\}", text, re.DOTALL):
        plain = re.sub(r"\\[^a-zA-Z]|\{\[\}|\$(-|\\infty)\$", "", table)
        while plain != (plain := re.sub(r"\{[^{}]*\}", "", plain)):
            pass
        assert not set("{}%#$^~") & set(plain), "a brace is not closed, or a text is code"
        tabular = re.search(r"\\begin\{tabular\}\{(.*)\}\n(.*)\\end\{tabular\}", table, re.DOTALL)
        assert tabular is not None
        columns = re.sub(r"@\{\}|>\{[^}]*\}|\[[^]]*\]|(?<=p)\{[^}]*\}", "", tabular[1])
        lines = [line for line in tabular[2].splitlines() if not line.endswith("rule")]
        assert all(line.endswith(r" \\") and not line.startswith("[") for line in lines)
        rows = [re.split(r"(?<!\\)\s?&\s?", line.removesuffix(r" \\")) for line in lines]
        found.append(Written(environment, list(columns), rows))
    return found


def check(of: ResultTable) -> None:
    parts = written(of)
    for part in parts:
        assert {len(row) for row in part.rows} == {len(part.columns)}
        assert len(part.rows) == len(of.rows) + 1
    # The names of the rows are in each table.
    assert sum(len(part.columns) - 1 for part in parts) + 1 == len(of.heads)


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
    (table,) = written(by_metric)
    assert table.environment == "table*"


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
    name = written(table)[0].rows[1][2]
    assert name == r"\textbf{a \& b \textbackslash{}\textbackslash{} \{c\}}"
