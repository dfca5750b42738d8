"""Scores on parts of a release: slices, levels of abilities, the map, models against each other."""

from typing import Any

import pytest

from resources.reports import report_blocks as block
from resources.reports.benchmark_report import render_report
from resources.reports.report_leaderboard import panes_of
from tests.resources.page_outline import outline
from tests.resources.reports.report_rows import OVERALL, Page, compared, metric, part, tables_of

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
    return tables_of(panes_of(data)[0].parts)


def labels_of_slices(data: dict[str, Any]) -> list[str]:
    """The labels that have a table of slices."""
    (slices,) = (
        each for each in panes_of(data)[0].parts if "<b>Slices</b>" in getattr(each, "summary", "")
    )
    return [label.removeprefix("Slices by ") for label in tables_of(slices.blocks)]


def test_abilities_and_slices_stand_in_order_with_their_comparisons(able, store, golden) -> None:
    able["scores"] += [
        part(model, value, "turn", turn, n)
        for turn, n in (("10", 3), ("2", 3), ("1", 4))
        for model, value in (("strong", 70.0), ("weak", 30.0))
    ]
    able["scores"] += [part("strong", 55.0, "images so far", of) for of in ("over 10", "6-10", "2")]
    baseline = dict.fromkeys(("model", "label"), "baseline:empty")
    able["scores"].append(part("weak", 20.0, "turn", "2", 2) | baseline)
    golden("reports/parts.txt", outline(render_report(able, store), "leaderboard"))


def test_abilities_are_no_slices_and_other_labels_are(able) -> None:
    assert labels_of_slices(able) == ["colour"]
    assert "Map by leaf" in tables(able)
    able["benchmark"]["abilities"] = []
    assert "Map by leaf" not in tables(able)
    assert labels_of_slices(able) == ["kind", "leaf", "colour"]


def test_where_items_are_too_few_nobody_is_counted_and_the_differences_stay(able, store):
    for row in able["ability_comparisons"]:
        row["n_clusters"] = 5
    html = render_report(able, store)
    assert Page(html).words.count("too few items") == 1 and 'class="against"' not in html
    assert "+40.0" in html[html.index("The differences, with their intervals") :]
