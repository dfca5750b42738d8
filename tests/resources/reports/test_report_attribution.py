"""The section on where errors come from: sentences, what is marked, plots, maps of tasks."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from methods.convbench.attribution import PERCEPTION_GIVEN, REASONING_GIVEN, TERMS, TOO_FEW
from methods.convbench.scores import CREATION, REASONING
from resources.reports import report_blocks as block
from resources.reports.benchmark_report import render_report
from resources.reports.report_attribution import attribution
from resources.reports.report_attribution import sentence as sentence_of
from resources.reports.report_leaderboard import panes_of
from tests.resources.reports.attribution_rows import convbench_data


def row(**changed: Any) -> dict[str, Any]:
    """A row of `evaluate.error_attribution` with a clear gain."""
    return {
        **{"change": PERCEPTION_GIVEN, "dimension": REASONING, "verdict": "gain", "reason": None},
        **{"n_items": 71, "n_errors": 31, "n_gone": 18, "n_right": 40, "n_lost": 2},
        **{"gone_share": 18 / 31, "gone_low": 0.408, "gone_high": 0.736},
        **{"difference": 16.0, "ci_low": 8.0, "ci_high": 24.0, "p": 0.0005, "p_holm": 0.001},
        **changed,
    }


def sentence(of: Mapping[str, Any]) -> str:
    return sentence_of(of, TERMS["causes"][of["change"]])


def test_a_cause_is_said_in_plain_words() -> None:
    assert sentence(row()) == (
        "Of 31 errors in reasoning 18 (58 % [41, 74]) go when perception is given; 2 of 40 right "
        "answers are lost; net +16.0 points [+8.0, +24.0], p < 0.001; Holm: 0.001: perception is a "
        "cause."
    )
    of_creation = {"dimension": CREATION, "change": REASONING_GIVEN}
    assert sentence(row(**of_creation)).startswith(
        "Of 31 errors in creation that are left with perception given 18 (58 % [41, 74]) go when "
        "reasoning is given as well;"
    )


@pytest.mark.parametrize(
    ("changed", "end"),
    [
        ({"p_holm": 0.3, "verdict": None}, "Holm: 0.30: no cause is shown."),
        ({"difference": -9.0, "verdict": "loss"}, "0.001: what is given makes it worse."),
        ({"p_holm": None, "reason": TOO_FEW, "verdict": None}, f"net +16.0 points. {TOO_FEW}"),
    ],
)
def test_a_recovery_alone_names_no_cause(changed: Mapping[str, Any], end: str) -> None:
    assert sentence(row(**changed)).endswith(end)
    assert "is a cause" not in sentence(row(**changed))


def test_without_errors_or_items_the_sentence_says_so() -> None:
    none = sentence(row(n_errors=0, n_gone=0, gone_share=None, gone_low=None, gone_high=None))
    assert none == (
        "There are no errors in reasoning to attribute; when perception is given, 2 of 40 right "
        "answers are lost."
    )
    nothing = sentence(row(n_right=0, n_lost=0))
    assert "; nothing was right before; net" in nothing
    assert sentence(row(n_items=0, reason="No item was judged in both.")) == (
        "No errors in reasoning can be followed when perception is given. "
        "No item was judged in both."
    )


def section(html: str) -> str:
    page = html[html.index('id="attribution"') :]
    return page[: page.index("</section>")]


def text_of(html: str) -> str:
    return " ".join(re.sub("<[^>]+>", " ", html).split())


def blocks_of(made: dict[str, Any]) -> list[Any]:
    """What the section says of the one judge."""
    rows, terms = made["error_attribution"], made["attribution_terms"]
    (panes,) = attribution(rows, terms, panes_of(made)).blocks
    assert isinstance(panes, block.Panes)
    ((_, found),) = panes.panes
    return list(found)


def table(blocks: list[Any], label: str) -> block.Table:
    (found,) = (each for each in blocks if isinstance(each, block.Table) and each.label == label)
    return found


def test_each_planted_fault_is_named_and_marked(data, store) -> None:
    found = table(blocks_of(made := convbench_data(data)), "Errors that go when turns are given")
    marks = {
        text_of(line[0].text): [cell.kind.removeprefix("n").strip() for cell in line[1:]]
        for line in found.lines
    }
    assert marks == {
        "blind": ["better", "better", "", "better"],
        "illogical": ["", "", "better", "better"],
        "sound": ["", "", "", ""],
    }
    html = section(render_report(made, store))
    assert 'href="#attribution"' in render_report(made, store)
    text = text_of(html)
    assert "Reasoning perception given" in text and "Creation reasoning given as well" in text
    assert "perception is a cause." in text and "reasoning is a cause." in text


def test_tasks_in_which_most_errors_go_stand_first(data) -> None:
    found = blocks_of(made := convbench_data(data))
    folded = next(each for each in found if isinstance(each, block.FoldedBlocks))
    nets = [
        sum(
            each["n_gone"] - each["n_lost"]
            for each in made["error_attribution"]
            if (each["change"], each["dimension"], each["subset_value"])
            == (PERCEPTION_GIVEN, REASONING, task.text)
        )
        for task, *_ in folded.blocks[1].lines
    ]
    assert len(set(nets)) > 1 and nets == sorted(nets, reverse=True)


def test_what_is_left_out_is_said_with_its_reasons(data, store) -> None:
    made = convbench_data(data, n=20)
    made["error_attribution"][0] |= {
        "n_left_out": 3,
        "left_out": [("not_judged", 2), ("absent", 1)],
    }
    of = made["error_attribution"][0]
    text = text_of(section(render_report(made, store)))
    n_all = of["n_items"] + 3
    assert (
        f"{of['model']}, reasoning, perception given: 3 of {n_all} (2 not judged, 1 absent)" in text
    )
