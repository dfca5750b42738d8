"""Abilities of a report: radars, the map, tables, and models against each other by ability."""

import re
from itertools import combinations
from typing import Any

import pytest

from resources.reports.benchmark_report import render_report
from resources.reports.estimate import Estimate, Scale
from resources.reports.report_abilities import MOST_PAIRS, Abilities
from resources.reports.report_board import panes_of
from resources.reports.report_radar import radar_of
from resources.reports.report_scores import Who
from tests.resources.reports.report_rows import JUDGE, OVERALL, VERSION, Page, metric, part, scores
from tests.resources.reports.test_report_board import board

LEAVES = {"style": "look", "topic": "look", "count": "number", "order": "number", "cause": "reason"}
LEVELS = ["kind", "leaf"]


def by_ability(first: str, second: str, value: str, difference: float, **changed: Any) -> dict:
    """Two models compared on one ability."""
    return {
        "judge": JUDGE,
        "judge_version": VERSION,
        "metric": OVERALL,
        "aggregation": "micro",
        "subset_label": "kind",
        "subset_value": value,
        "first": first,
        "second": second,
        "difference": difference,
        "ci_low": difference - 5,
        "ci_high": difference + 5,
        "p": 0.001,
        "p_holm": 0.01,
        "n_units": 30,
        "n_clusters": 30,
        **changed,
    }


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


def abilities(data: dict[str, Any]) -> Abilities:
    found = panes_of(data)[0].abilities
    assert found is not None
    return found


def test_the_score_of_everything_stands_above_those_of_each_ability(able, store) -> None:
    html = render_report(able, store)
    assert board(html, table="levels") == [
        ["overall", "12", "78.0 74.0–81.0", "41.0 37.0–44.0"],
        ["look", "10", "40.0 36.0–43.0", "0.0 -4.0–3.0".replace("-4.0–3.0", "−4.0 to 3.0")],
        ["number", "10", "50.0 46.0–53.0", "10.0 6.0–13.0"],
        ["reason", "10", "60.0 56.0–63.0", "20.0 16.0–23.0"],
    ]


def test_abilities_are_no_slices_and_other_labels_are(able) -> None:
    pane = panes_of(able)[0]
    assert pane.slices is not None and [label for label, _ in pane.slices.labels] == ["colour"]
    able["benchmark"]["abilities"] = []
    pane = panes_of(able)[0]
    assert pane.abilities is None and pane.slices is not None
    assert [label for label, _ in pane.slices.labels] == ["kind", "leaf", "colour"]


def test_the_map_has_each_finest_ability_under_the_one_it_is_part_of(able, store) -> None:
    found = abilities(able).map
    assert found is not None
    assert [(above, [each.value for each in of]) for above, of in found.groups] == [
        ("look", ["style", "topic"]),
        ("number", ["count", "order"]),
        (None, ["cause"]),
    ]
    html = render_report(able, store)
    heat = html[html.index('class="heat"') :]
    cells = re.findall(r'<td class="tint" style="--v:([\d.]+)" title="([^"]+)">(\d+)</td>', heat)
    assert len(cells) == 2 * len(LEAVES)
    assert cells[:2] == [
        ("0.6", "strong: 60.0 (56.0–63.0)", "60"),
        ("0.2", "weak: 20.0 (16.0–23.0)", "20"),
    ]


def test_numbers_of_the_map_are_in_a_table_too(able, store) -> None:
    html = render_report(able, store)
    below = html[html.index("The same with decimals and intervals") :]
    assert board(below, table="levels")[0] == ["style", "4", "60.0 56.0–63.0", "20.0 16.0–23.0"]


def test_a_radar_has_an_axis_for_each_ability_and_names_its_values(able, store) -> None:
    radar = abilities(able).radar
    assert radar is not None and abilities(able).radar_label == "kind"
    assert [axis.name for axis in radar.axes] == ["look", "number", "reason"]
    html = render_report(able, store)
    page = Page(html)
    labels = [label for label in page.attributes("svg", "aria-label")]
    assert labels == [
        "strong: look: 40.0, number: 50.0, reason: 60.0",
        "weak: look: 0.0, number: 10.0, reason: 20.0",
    ]
    # The web is drawn once, and used by each.
    assert html.count("<defs>") == 1 and html.count("<use ") == 2


def test_models_are_counted_that_another_is_surely_better_and_worse_than(able, store) -> None:
    html = render_report(able, store)
    assert board(html, table="against") == [
        ["strong", "▲ 1 ▼ 0", "▲ 0 ▼ 0", "too few items"],
        ["weak", "▲ 0 ▼ 1", "▲ 0 ▼ 0", "too few items"],
    ]
    below = html[html.index("The differences, with their intervals") :]
    (row,) = board(below, table="matrix")
    assert row[:2] == ["strong less weak", "+40.0 +35.0 to +45.0 p = 0.010"]


def test_where_every_ability_has_too_few_items_that_is_said_once(able, store) -> None:
    for row in able["ability_comparisons"]:
        row["n_clusters"] = 5
    html = render_report(able, store)
    assert Page(html).words.count("too few items") == 1 and 'class="against"' not in html
    assert "+40.0" in html[html.index("The differences, with their intervals") :]


def test_many_pairs_are_counted_and_not_all_listed(able) -> None:
    names = [f"m{n:02}" for n in range(16)]
    able["scores"] = [
        row for name in names for row in [*scores(name, 50.0), part(name, 50.0, "kind", "look")]
    ]
    able["ability_comparisons"] = [
        by_ability(first, second, "look", 1.0, p_holm=1.0)
        for first, second in combinations(names, 2)
    ]
    (level,) = abilities(able).levels
    assert level.pairs is not None
    assert (len(level.pairs.pairs), level.pairs.n_left_out) == (MOST_PAIRS, 20)
    assert {cells[0] for _, cells in level.pairs.lines} == {(0, 0)}


def test_without_comparisons_and_with_one_level_there_is_the_map_alone(able, store) -> None:
    able["benchmark"]["abilities"] = ["leaf"]
    able["above"], able["ability_comparisons"] = {}, []
    found = abilities(able)
    assert (found.levels, found.radar) == ([], None)
    assert found.map is not None and [above for above, _ in found.map.groups] == [None]
    assert "against each other, by" not in Page(render_report(able, store)).text


# --- Radars ----------------------------------------------------------------------------------------

ONE = [Who("m", ())]


def estimates(*values: float | None) -> list[list[Estimate]]:
    return [[Estimate(value)] for value in values]


def test_the_first_axis_is_at_the_top_and_the_others_follow_clockwise() -> None:
    radar = radar_of("abcd", ONE, estimates(100, 50, 0, 25), Scale())
    assert radar is not None
    assert [axis.end for axis in radar.axes] == [(0, -100), (100, 0), (0, 100), (-100, 0)]
    assert radar.shapes[0].points == radar.mean == "0,-100 50,0 0,0 -25,0"
    assert radar.rings[-1] == "0,-100 100,0 0,100 -100,0"
    assert radar.shapes[0].dots[1] == ((50.0, 0.0), "b: 50.0")


def test_an_ability_without_a_score_leaves_the_other_dots_and_no_polygon() -> None:
    radar = radar_of("abc", ONE, estimates(100, None, 50), Scale())
    assert radar is not None
    (shape,) = radar.shapes
    assert shape.points is None and [said for _, said in shape.dots] == ["a: 100.0", "c: 50.0"]


@pytest.mark.parametrize(("n", "scale"), [(2, Scale()), (13, Scale()), (5, Scale(0.0, None))])
def test_too_few_axes_too_many_and_a_scale_without_an_end_make_no_radar(n, scale) -> None:
    assert radar_of("x" * n, ONE, estimates(*[1.0] * n), scale) is None
