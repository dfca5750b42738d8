"""AlignMMBench from its published file to scores: imported, answered, rated, and written back.

The questions are about pictures of the sample corpus, each in two wordings, with references by the
offline writer. Where the published slice is beside the project it takes the same way; its pictures are
published elsewhere, so colours stand in for them.
"""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from methods.alignmmbench.tasks import CATEGORIES
from resources.mock_server.careful_answers import careful_answer
from tests.assets.conftest import MakeWorld
from tests.assets.corpus import SAMPLE
from tests.assets.evaluate.sample_dialogues import pictures
from tests.assets.world import ANY_ASSETS, ASKING, SCORING, Result, World, sentence

pytestmark = pytest.mark.slow

WORDINGS = (
    "Describe the picture.",
    "What does the picture show?",
)
N_SEEDS = 13
BY_SKILL = ["careful", "careless", "rambler", "refuser"]
CONTESTANTS = [*BY_SKILL, "baseline:reference", "no-images:careful"]


@pytest.fixture(scope="module")
def rated(empty_world: MakeWorld, mock_url: str) -> World:
    world = empty_world()
    assert imported(world, mock_url, write_rows(world.root / "published")).success
    assert world.run(ANY_ASSETS, assets=ASKING | SCORING).success
    return world


def imported(
    world: World, mock_url: str, file: Path, evaluated: Sequence[str] = CONTESTANTS
) -> Result:
    judges = {name: {"model": "offline-judge", "identity": name} for name in ("one", "two")}
    models = {name: f"offline-{name}" for name in BY_SKILL}
    profile = {"writer": "careful", "judges": list(judges), "evaluate": list(evaluated)}
    world.set_mock_models(mock_url, {**models, **judges}, **profile)
    return world.import_file("alignmmbench", file)


def write_rows(folder: Path) -> Path:
    """The published form: a seed a task, in two wordings; dialogues have one, and a history."""
    (folder / "images").mkdir(parents=True)
    rows = []
    for seed, (task, name) in enumerate(zip(CATEGORIES, pictures(), strict=False)):
        shutil.copyfile(SAMPLE / "images" / name, folder / "images" / name)
        dialogue = CATEGORIES[task] == "Dialogue Context"
        for place, wording in enumerate(WORDINGS[:1] if dialogue else WORDINGS):
            said = {"user": "Look at it closely.", "assistant": "I have looked at it."}
            rows.append(
                {
                    "question_id": f"{seed:08}-{place}",
                    "image_path": f"images/{name}",
                    "history": [said] if dialogue else [],
                    "prompt": wording,
                    "ref_answer": careful_answer(wording, {1: pictures()[name]}, "expert"),
                    "task": task,
                    "category": CATEGORIES[task],
                }
            )
    file = folder / "metadata.jsonl"
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return file


def test_every_question_is_answered_and_rated_by_both_judges(rated: World) -> None:
    n_rows = (N_SEEDS - 2) * len(WORDINGS) + 2
    assert rated.warehouse.count("release.items") == n_rows
    counted = rated.rows("SELECT judge, model, count(*) AS n FROM evaluate.judgments GROUP BY ALL")
    assert {(row["judge"], row["model"]): row["n"] for row in counted} == {
        (judge, model): n_rows for judge in ("one", "two") for model in CONTESTANTS
    }
    assert rated.rows("SELECT * FROM evaluate.failed") == []


def test_models_stand_in_the_order_of_their_skill_and_without_the_picture_at_the_bottom(rated):
    for aggregation in ("micro", "macro by task", "macro by category"):
        of = rated.scores(f"Rating/{aggregation}", judge="one")
        assert of["baseline:reference"] == 10
        assert of["careful"] > of["careless"] > of["rambler"] > of["refuser"] == 1
        assert of["no-images:careful"] < of["careless"]


def test_without_the_pictures_no_model_is_asked_and_responses_from_a_file_are_rated(
    rated: World, empty_world: MakeWorld, mock_url: str, tmp_path: Path
) -> None:
    world = empty_world(tmp_path)
    file = write_rows(tmp_path / "published")
    shutil.rmtree(tmp_path / "published" / "images")

    assert imported(world, mock_url, file, ["careful", "no-images:careful"]).success
    asked = world.evaluate("careful")

    assert world.warehouse.count("release.images") == 0
    assert not asked.success
    assert "is not in this release: import it again with the folder of its pict" in sentence(asked)

    answers = rated.rows(
        "SELECT item_id AS question_id, answer AS predict FROM evaluate.answers "
        "WHERE model = 'careful' AND status = 'answered'"
    )
    responses = tmp_path / "responses.jsonl"
    responses.write_text("".join(json.dumps(row) + "\n" for row in answers))
    config = {"release": "alignmmbench-imported", "file": str(responses), "model": "careful"}
    assert world.run(
        "import_predictions", {"result_import_predictions": {"config": config}}
    ).success
    assert world.run(ANY_ASSETS, assets=ASKING | SCORING).success
    found, before = (each.scores("Rating/micro", judge="one") for each in (world, rated))
    # The judge reads no picture: the same answers have the same ratings.
    assert found["file:careful"] == before["careful"] and "no-images:careful" in found
