"""The section on where errors come from: what is marked, plots, maps of tasks."""

from typing import Any

from methods.convbench.attribution import PERCEPTION_GIVEN, TOO_FEW
from methods.convbench.scores import REASONING
from resources.reports import report_blocks as block
from resources.reports.benchmark_report import render_report
from resources.reports.report_attribution import attribution
from resources.reports.report_leaderboard import panes_of
from tests.resources.reports.attribution_rows import convbench_data
from tests.resources.reports.report_rows import section_of, text_of


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
    # What makes it worse is no cause.
    for row in made["error_attribution"]:
        row |= {"verdict": "loss"} if row["model"] == "sound" else {}
    page = render_report(made, store)
    assert "A cause is shown for 2 of 3 models" in page
    text = section_of(page, "attribution")
    assert "Reasoning perception given" in text and "Creation reasoning given as well" in text


def test_the_cell_of_a_change_has_its_test_its_counts_and_why_there_is_none(data) -> None:
    made = convbench_data(data)
    tested, *others = (
        each
        for each in made["error_attribution"]
        if each["model"] == "blind" and not each["subset_label"]
    )
    tested |= {"n_errors": 31, "n_gone": 18, "n_right": 40, "n_lost": 2, "difference": 16.0}
    tested |= {"ci_low": 8.0, "ci_high": 24.0, "p": 0.0005, "p_holm": 0.001, "n_clusters": 71}
    others[0] |= {"p": None, "p_holm": None, "reason": TOO_FEW}
    others[1] |= {"difference": None, "reason": "No item was judged in both."}
    found = table(blocks_of(made), "Errors that go when turns are given")
    cells = next(line[1:] for line in found.lines if text_of(line[0].text) == "blind")
    assert text_of(cells[0].text) == "+16.0" and cells[0].kind == "n better"
    assert [text_of(each) for each in cells[0].small] == [
        *("+8.0 to +24.0, C = 71", "p < 0.001; Holm: 0.001"),
        *("18 of 31 gone", "2 of 40 lost"),
    ]
    assert cells[1].small[-1] == TOO_FEW
    assert cells[2] == block.Cell("·", ["No item was judged in both."])


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
    text = section_of(render_report(made, store), "attribution")
    n_all = of["n_items"] + 3
    assert (
        f"{of['model']}, reasoning, perception given: 3 of {n_all} (2 not judged, 1 absent)" in text
    )
