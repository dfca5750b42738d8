"""Scores on parts of a release: slices, levels of abilities, the map, models against each other."""

import re
from typing import Any

import pytest

from resources.reports import report_blocks as block
from resources.reports.benchmark_report import render_report
from resources.reports.report_leaderboard import panes_of
from tests.resources.reports.report_rows import (
    OVERALL,
    Page,
    board,
    compared,
    metric,
    part,
    tables_of,
)

LEAVES = {"style": "look", "topic": "look", "count": "number", "order": "number", "cause": "reason"}
LEVELS = ["kind", "leaf"]


def by_ability(first: str, second: str, value: str, difference: float, **changed: Any) -> dict:
    """Two models compared on one ability."""
    of = {"subset_label": "kind", "subset_value": value, "n_units": 30, "n_clusters": 30}
    return compared(first, second, difference, **{**of, "p": 0.001, "p_holm": 0.01, **changed})


@pytest.fixture
def able(data: dict[str, Any]) -> dict[str, Any]:
    """Two models on five abilities of three kinds, from 0 to 100; the order of kinds is look, number,
    reason."""
    data["benchmark"] |= {"abilities": LEVELS, "metrics": [metric(OVERALL, low=0.0)]}
    data["above"] = {leaf: kind for leaf, kind in LEAVES.items() if leaf != "cause"}
    for model, more in (("strong", 40.0), ("weak", 0.0)):
        data["scores"] += [
            part(model, 10.0 * place + more, "kind", kind, 10)
            for place, kind in enumerate(("look", "number", "reason"))
        ]
        data["scores"] += [part(model, 20.0 + more, "leaf", leaf, 4) for leaf in LEAVES]
        data["scores"].append(part(model, 50.0, "colour", "red"))
    data["ability_comparisons"] = [
        by_ability("strong", "weak", "look", 40.0),
        by_ability("strong", "weak", "number", 40.0, p_holm=0.2),
        by_ability("strong", "weak", "reason", 40.0, n_clusters=5),
    ]
    return data


def tables(data: dict[str, Any]) -> dict[str, block.Table]:
    """The tables below the leaderboards."""
    return tables_of(panes_of(data)[0].parts)


def labels_of_slices(data: dict[str, Any]) -> list[str]:
    """The labels that have a table of slices."""
    (slices,) = (
        each for each in panes_of(data)[0].parts if "<b>Slices</b>" in getattr(each, "summary", "")
    )
    return [label.removeprefix("Slices by ") for label in tables_of(slices.blocks)]


def test_the_score_of_everything_stands_above_those_of_each_ability(able, store) -> None:
    assert board(render_report(able, store), table="levels") == [
        ["overall", "12", "78.0 74.0–81.0", "41.0 37.0–44.0"],
        ["look", "10", "40.0 36.0–43.0", "0.0 −4.0 to 3.0"],
        ["number", "10", "50.0 46.0–53.0", "10.0 6.0–13.0"],
        ["reason", "10", "60.0 56.0–63.0", "20.0 16.0–23.0"],
    ]


def test_abilities_are_no_slices_and_other_labels_are(able) -> None:
    assert labels_of_slices(able) == ["colour"]
    assert "Map by leaf" in tables(able)
    able["benchmark"]["abilities"] = []
    assert "Map by leaf" not in tables(able)
    assert labels_of_slices(able) == ["kind", "leaf", "colour"]


def test_the_map_has_each_finest_ability_under_the_one_it_is_part_of(able, store) -> None:
    found = tables(able)["Map by leaf"]
    assert [(part.above, [line[0].text for line in part.lines]) for part in found.parts] == [
        ("look", ["style", "topic"]),
        ("number", ["count", "order"]),
        ("", ["cause"]),
    ]
    html = render_report(able, store)
    heat = html[html.index('class="heat"') :]
    cells = re.findall(r'<td class="tint" style="--v:([\d.]+)" title="([^"]+)">(\d+)</td>', heat)
    assert len(cells) == 2 * len(LEAVES)
    assert cells[0] == ("0.6", "strong: 60.0 (56.0–63.0)", "60")
    below = html[html.index("The same with decimals and intervals") :]
    assert board(below, table="levels")[0] == ["style", "4", "60.0 56.0–63.0", "20.0 16.0–23.0"]


def test_models_are_counted_that_another_is_surely_better_and_worse_than(able, store):
    html = render_report(able, store)
    assert board(html, table="against") == [
        ["strong", "▲ 1 ▼ 0", "▲ 0 ▼ 0", "too few items"],
        ["weak", "▲ 0 ▼ 1", "▲ 0 ▼ 0", "too few items"],
    ]
    differences = "The differences, with their intervals"
    (row,) = board(html[html.index(differences) :], table="matrix")
    assert row[:2] == ["strong less weak", "+40.0 +35.0 to +45.0, C = 30 p = 0.001; Holm: 0.010"]
    for row in able["ability_comparisons"]:
        row["n_clusters"] = 5
    html = render_report(able, store)
    assert Page(html).words.count("too few items") == 1 and 'class="against"' not in html
    assert "+40.0" in html[html.index(differences) :]


def test_slices_stand_by_label_in_the_order_of_numbers(data) -> None:
    data["scores"] += [
        part(model, value, "turn", turn, n)
        for turn, n in (("10", 3), ("2", 3), ("1", 4))
        for model, value in (("strong", 70.0), ("weak", 30.0))
    ]
    data["scores"] += [part("strong", 55.0, "images so far", of) for of in ("over 10", "6-10", "2")]
    baseline = dict.fromkeys(("model", "label"), "baseline:empty")
    data["scores"].append(part("weak", 20.0, "turn", "2", 2) | baseline)
    turn, seen = (tables(data)[f"Slices by {label}"] for label in ("turn", "images so far"))
    assert [head.title for head in turn.heads[2:]] == ["strong", "weak"]
    numbers = [(line[0].text, line[1].text) for line in turn.lines]
    assert numbers == [("1", "4"), ("2", "2–3"), ("10", "3")]
    assert [score.text for score in turn.lines[0][2:]] == ["70.0", "30.0"]
    assert [line[0].text for line in seen.lines] == ["2", "6-10", "over 10"]
    assert seen.lines[0][3].text == "–"
