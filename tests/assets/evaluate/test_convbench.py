"""ConvBench from its published table to scores: imported, asked in three settings, compared."""

import csv
import shutil
from collections.abc import Sequence
from pathlib import Path

import dagster as dg
import pytest

from methods.convbench.attribution import PERCEPTION_GIVEN
from methods.convbench.scores import PERFECT_PERCEPTION, WIN_RATES
from resources.mock_server.careful_answers import careful_answer
from tests.assets.conftest import MakeWorld
from tests.assets.corpus import SAMPLE
from tests.assets.evaluate.sample_dialogues import pictures
from tests.assets.world import ANY_ASSETS, ASKING, SCORING, World

pytestmark = pytest.mark.slow


TURNS = tuple(f"The_{of}_turn_instruction" for of in ("first", "second", "third"))
INSTRUCTIONS = (
    "What does the picture show?",
    "What follows from its light and its colours about where it was taken?",
    "Write a short text for a postcard with this picture.",
)
TASKS = {
    "perception": ("OCR", "Scene Recognition"),
    "reasoning": ("Meme Reasoning", "Chart Reasoning"),
    "creation": ("Blog Writing", "Story"),
}


BY_SKILL = ("careful", "careless", "rambler", "refuser")
FAULTY = ("poor-perception", "poor-reasoning")
MODELS = (*BY_SKILL, *FAULTY)
N_ITEMS = 6
NINE = tuple(WIN_RATES)
ATTRIBUTION = dg.AssetSelection.assets(["evaluate", "error_attribution"])
JUDGES = {"judge": "offline-judge", "always-a": "offline-always-a"}


def compared(
    empty_world: MakeWorld,
    mock_url: str,
    folder: Path,
    models: Sequence[str] = MODELS,
) -> World:
    """The folder imported, asked and compared by both judges."""
    world = empty_world()
    profile = {"writer": "careful", "judges": list(JUDGES), "evaluate": list(models)}
    named = {name: f"offline-{name}" for name in MODELS}
    world.set_mock_models(mock_url, {**named, **JUDGES}, **profile)
    assert world.import_file("convbench", folder).success
    assert world.run(ANY_ASSETS, assets=ASKING | SCORING | ATTRIBUTION).success
    return world


def published(folder: Path, n_items: int) -> Path:
    """So many items on pictures of the sample corpus, as the authors publish theirs: two tables.

    References and captions are by the rules of the careful mock model, from what is measured in the
    pixels, so that the mock judge can tell good answers from bad.
    """
    folder = folder / "published"
    folder.mkdir()
    items, references = [], []
    for number, (name, facts) in enumerate([*pictures().items()][:n_items]):
        shutil.copyfile(SAMPLE / "images" / name, folder / name)
        here = {"ID": str(number + 1)}
        items.append({**here, "image_id": name, **dict(zip(TURNS, INSTRUCTIONS, strict=True))})
        # As the model gets it: the first text stands below the picture.
        asked = [f"\n{INSTRUCTIONS[0]}", *INSTRUCTIONS[1:]]
        answers = [careful_answer(text, {1: facts}, "careful") for text in asked]
        named = [name.replace("instruction", "reference") for name in TURNS]
        tasks = {f"{name} category": of[number % len(of)] for name, of in TASKS.items()}
        caption = careful_answer("What is shown?", {1: facts}, "expert")
        of_item = {**here, **dict(zip(named, answers, strict=True)), **tasks, "caption": caption}
        references.append({**of_item, "focus points": "It names the colours and the light."})
    for file, rows in (("convbench.csv", items), ("references.csv", references)):
        with (folder / file).open("w", newline="") as lines:
            writer = csv.DictWriter(lines, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    return folder


@pytest.fixture(scope="module")
def world(empty_world: MakeWorld, mock_url: str, tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = published(tmp_path_factory.mktemp("convbench"), N_ITEMS)
    return compared(empty_world, mock_url, folder)


def test_nine_scores_stand_in_the_order_of_skill(world: World) -> None:
    """All nine win rates, R1 and R2 in the order of skill; half of each by a judge that prefers A."""
    for name in (*NINE, "R1", "R2"):
        rates = world.scores(f"{name}/micro", judge="judge")
        careful, careless, rambler, refuser = (rates[model] for model in BY_SKILL)
        # The careful model's answers are the references: each comparison is a tie.
        assert careful == 50 > careless > rambler >= refuser == 0, name
        always = world.scores(f"{name}/micro", judge="always-a")
        assert {always[model] for model in BY_SKILL} == {50.0}, name


def test_a_planted_fault_shows_in_the_setting_that_takes_it_away(world: World) -> None:
    seen, thought = (
        world.scores(f"{name}/micro", judge="judge") for name in ("S2^ - S2", "S3~ - S3^")
    )
    assert seen["careful"] == thought["careful"] == 0
    assert seen["poor-perception"] > 15 > abs(thought["poor-perception"])
    assert thought["poor-reasoning"] > 15 > abs(seen["poor-reasoning"])
    # The net of the errors that go and come is the leaderboard's difference.
    rows = world.rows(
        "SELECT * FROM evaluate.error_attribution WHERE subset_label = '' AND judge = 'judge' "
        "AND dimension = 'Reasoning' AND change = $c",
        c=PERCEPTION_GIVEN,
    )
    assert {row["model"]: row["difference"] for row in rows} == pytest.approx(seen)
    for row in rows:
        assert (row["n_items"], row["n_left_out"]) == (N_ITEMS, 0)
        assert (row["before_trial"], row["trial"]) == ("plain", PERFECT_PERCEPTION)


def test_without_references_models_are_asked_what_can_be_asked_and_nobody_loses(
    empty_world: MakeWorld, mock_url: str, tmp_path: Path
) -> None:
    folder = published(tmp_path, 2)
    (folder / "references.csv").unlink()
    world = compared(empty_world, mock_url, folder, models=["careful"])

    assert world.table("evaluate.missing") == []
    assert world.warehouse.count("evaluate.judgments") == 0
    statuses = world.rows(
        "SELECT trial, status, count(*) AS n FROM evaluate.answers WHERE model = 'careful' "
        "GROUP BY ALL ORDER BY trial"
    )
    assert [tuple(row.values()) for row in statuses] == [
        ("perfect-perception", "not_asked", 6),
        ("perfect-reasoning", "not_asked", 6),
        ("plain", "answered", 6),
    ]
    reasons = world.rows("SELECT DISTINCT reason, detail FROM evaluate.failed ORDER BY ALL")
    assert {row["reason"] for row in reasons} == {"no_reference"}
    assert reasons[0]["detail"].startswith("Turn 1 has no reference to give")
    assert world.warehouse.count("evaluate.scores") == 0
