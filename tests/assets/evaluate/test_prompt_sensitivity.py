"""The asset `evaluate/prompt_sensitivity` on a warehouse filled by hand."""

import dagster as dg

from assets.evaluate.prompt_sensitivity import prompt_sensitivity
from assets.release.published import write_imported
from methods.benchmarks import BENCHMARKS
from methods.evaluation.items import Item, Turn
from methods.release import Edition
from tests.assets.review.desk import Desk

WORDINGS = ("What is it?", "Describe it.", "Please describe what is to be seen in it.")
RATINGS = (9, 3, 6)


def fill(desk: Desk) -> str:
    """Two questions in three wordings each, rated alike by one judge."""
    items = [
        Item(
            f"g{group}-{place}",
            (Turn(1, text, (), {"answer": "It is a lake."}),),
            group_id=f"g{group}",
            labels={"task": "Description", "category": "Perception & Understanding"},
        )
        for group in (1, 2)
        for place, text in enumerate(WORDINGS)
    ]
    edition = Edition("alignmmbench", None, "en", "imported")
    release_id = write_imported(desk.warehouse, "align-en", edition, items, {"file": "f"})
    here = {"benchmark": "alignmmbench", "release_id": release_id, "model": "m", "turn": 1}
    asked = [{**here, "trial": "plain", "item_id": item.item_id} for item in items]
    desk.fill("evaluate.answers", [{**row, "status": "answered", "answer": "A"} for row in asked])
    judged = {"judge": "j", "replicate": 0, "metric": "Rating", "part": "answer"}
    desk.fill(
        "evaluate.observations",
        [
            {**row, **judged, "status": "judged", "value": rating}
            for row, rating in zip(asked, RATINGS * 2, strict=True)
        ],
    )
    return release_id


def materialize(desk: Desk) -> dict[str, object]:
    given = {"warehouse": desk.warehouse, "benchmarks": BENCHMARKS}
    (made,) = dg.materialize([prompt_sensitivity], resources=given).asset_materializations_for_node(
        "evaluate__prompt_sensitivity"
    )
    return {name: value.value for name, value in made.metadata.items()}


def test_effects_and_spreads_are_written_and_written_again_alike(desk: Desk) -> None:
    release_id = fill(desk)
    assert materialize(desk)["groups"] == 2
    rows = desk.rows("FROM evaluate.prompt_sensitivity WHERE measure = 'difference'")
    assert {row["subset_value"]: row["value"] for row in rows} == {
        "as a question": 3,
        "longer": 0,
        "polite": 0,
        "shorter": -3,
    }
    assert {(row["n"], row["subset_label"]) for row in rows} == {(2, "style told by rule")}
    spreads = desk.rows("FROM evaluate.prompt_sensitivity WHERE measure = 'lowest' ORDER BY ALL")
    assert [(row["subset_value"], row["other"]) for row in spreads] == [
        ("g1", "g1-1"),
        ("g2", "g2-1"),
    ]
    before = desk.warehouse.fingerprint("evaluate.prompt_sensitivity")
    materialize(desk)
    assert desk.warehouse.fingerprint("evaluate.prompt_sensitivity") == before

    of = {"release_id": release_id, "n_groups": 1, "metric": "Rating"}
    widest = desk.warehouse.read("evaluate/widest_groups_of", of).to_pylist()
    assert [(row["item_id"], row["value"]) for row in widest] == [
        ("g1-0", 9),
        ("g1-1", 3),
        ("g1-2", 6),
    ]
