"""Filters and item analysis from a file to the queue: what was planted is found, nothing else."""

import json
import re
from pathlib import Path

import dagster as dg
import pytest

from resources.files.home import REPO_ROOT
from tests.assets.conftest import MakeWorld
from tests.assets.evaluate.test_multiple_choice import COLOURS, question, take, write_mmbench
from tests.assets.world import ANY_ASSETS, ASKING, SCORING, World

pytestmark = pytest.mark.slow

MODELS = ("careful", "careless", "always-a", "refuser", "rambler")
BLIND = ("no-images:careful", "no-images:careless", "no-images:always-a")
N_QUESTIONS = 8
TEXT_ONLY, WRONG, LOST = "3", "5", "6"
"""Questions that were planted: two blind models know the answer; the key is wrong; results are lost."""
ITEMS = dg.AssetSelection.assets(
    *(["evaluate", f"item_{name}"] for name in ("statistics", "queue", "decisions")),
    ["evaluate", "flagged_items"],
    ["evaluate", "smallest_subsets"],
)


@pytest.fixture(scope="module")
def analysed(empty_world: MakeWorld) -> World:
    """Eight questions on one picture each, asked of five models, and of three without the picture.

    They were imported in German: only translations that were made here are reviewed as such.
    """
    world = empty_world()
    world.set_models(
        {name: {"model": f"offline-{name}"} for name in MODELS}, evaluate=[*MODELS, *BLIND]
    )
    take(world, "mmbench", questions(world.root), split="dev", language="de")
    # Two models know without the picture: they say the right text wherever it stands.
    world.proxy.rewrite(
        lambda asked: (
            asked.model in ("offline-careful", "offline-careless")
            and not asked.images
            and f"Question {TEXT_ONLY}." in asked.text
        ),
        right_text(int(TEXT_ONLY)),
    )
    # Without its picture no model gets a reply: neither right nor wrong.
    world.proxy.refuse(
        lambda asked: (
            asked.model != "offline-judge"
            and not asked.images
            and f"Question {LOST}." in asked.text
        ),
        400,
        "No.",
    )
    assert world.run(ANY_ASSETS, assets=ASKING | SCORING | ITEMS).success
    return world


def right_text(number: int) -> str:
    return COLOURS[number % 4]


def questions(root: Path) -> Path:
    """Keys are B to D, so that who repeats A has none right; the key of one is wrong."""
    wrong = {WRONG: {"answer": "A"}}
    return write_mmbench(
        root,
        [
            question(number, right_text(number), 1 + number % 3, **wrong.get(str(number), {}))
            for number in range(N_QUESTIONS)
        ],
    )


def flagged(world: World) -> dict[str, str]:
    rows = world.rows("SELECT item_id, filter FROM evaluate.flagged_items")
    return {row["item_id"]: row["filter"] for row in rows}


def test_what_was_planted_is_flagged_with_its_evidence_and_nothing_else(analysed: World) -> None:
    assert flagged(analysed) == {TEXT_ONLY: "text_only", WRONG: "wrong_item"}
    (row,) = analysed.table("evaluate.flagged_items", filter="text_only")
    assert row["right_models"] == ["no-images:careful", "no-images:careless"]
    assert (row["wrong_models"], row["unknown_models"]) == (["no-images:always-a"], [])
    said = {each["model"]: each for each in json.loads(row["answers"])}
    passes = said["no-images:careful"]["answers"]
    # Right in all four passes, under four letters.
    assert [each["answer"] for each in passes] == 4 * [right_text(int(TEXT_ONLY))]
    assert sorted(each["reading"] for each in passes) == list("ABCD")
    (queued,) = analysed.table("evaluate.item_queue", set_id=TEXT_ONLY)
    why = json.loads(queued["context"])["why"]
    assert why[0].startswith("Text-only: 2 of 3 models have it right without the picture (right: ")


def test_a_lost_result_is_neither_right_nor_wrong_and_is_counted(analysed: World) -> None:
    rows = {row["filter"]: row for row in analysed.table("evaluate.filters")}
    assert rows["text_only"]["models"] == sorted(BLIND)
    assert (rows["text_only"]["n_items"], rows["text_only"]["n_undecided"]) == (N_QUESTIONS, 1)
    assert (rows["wrong_item"]["models"], rows["wrong_item"]["n_undecided"]) == (sorted(MODELS), 0)


def test_the_guides_queries_show_decisions_and_the_smallest_subset(analysed: World) -> None:
    guide = (REPO_ROOT / "docs" / "guides" / "item-analysis.md").read_text()
    (block,) = re.findall(r"```sql\n(.*?)```", guide, re.DOTALL)
    decisions, smallest = (analysed.rows(query) for query in block.split(";") if query.strip())
    assert [row["decision"] for row in decisions] == ["pending", "pending"]
    (row,) = smallest
    assert len(row["item_ids"]) == row["size"] and row["held_out"] >= 0.9
