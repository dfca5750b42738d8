"""AlignMMBench from its published file to scores, where its pictures were published elsewhere."""

import json
from pathlib import Path

import pytest

from methods.alignmmbench.tasks import CATEGORIES
from tests.assets.conftest import MakeWorld
from tests.assets.world import ANY_ASSETS, ASKING, SCORING, sentence

pytestmark = pytest.mark.slow

WORDINGS = ("Describe the picture.", "What does the picture show?")
REFERENCE = "A red square on white."


def write_rows(folder: Path) -> Path:
    """The published form: a seed a task, in two wordings; dialogues have one, and a history."""
    rows = []
    for seed, (task, category) in enumerate(CATEGORIES.items()):
        dialogue = category == "Dialogue Context"
        said = {"user": "Look at it closely.", "assistant": "I have looked at it."}
        for place, wording in enumerate(WORDINGS[:1] if dialogue else WORDINGS):
            of_seed = {"question_id": f"{seed:08}-{place}", "image_path": f"images/{seed}.png"}
            of_seed |= {"history": [said] if dialogue else [], "prompt": wording}
            rows.append({**of_seed, "ref_answer": REFERENCE, "task": task, "category": category})
    file = folder / "metadata.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_without_the_pictures_no_model_is_asked_and_responses_from_a_file_are_rated(
    empty_world: MakeWorld, mock_url: str, tmp_path: Path
) -> None:
    world = empty_world(tmp_path)
    judges = {name: {"model": "offline-judge", "identity": name} for name in ("one", "two")}
    candidates = ["careful", "no-images:careful", "baseline:reference"]
    profile = {"writer": "careful", "judges": list(judges), "evaluate": candidates}
    world.set_mock_models(mock_url, {"careful": "offline-careful", **judges}, **profile)
    file = write_rows(tmp_path)
    assert world.import_file("alignmmbench", file).success
    asked = world.evaluate("careful")

    assert world.warehouse.count("release.images") == 0
    assert not asked.success
    assert "is not in this release: import it again with the folder of its pict" in sentence(asked)

    rows = [json.loads(line) for line in file.read_text().splitlines()]
    responses = tmp_path / "responses.jsonl"
    given = [{"question_id": row["question_id"], "predict": row["ref_answer"]} for row in rows]
    responses.write_text("".join(json.dumps(row) + "\n" for row in given))
    config = {"release": "alignmmbench-imported", "file": str(responses), "model": "careful"}
    assert world.run(
        "import_predictions", {"result_import_predictions": {"config": config}}
    ).success
    assert world.run(ANY_ASSETS, assets=ASKING | SCORING).success
    counted = world.rows("SELECT judge, model, count(*) AS n FROM evaluate.judgments GROUP BY ALL")
    rated = ("file:careful", *candidates[1:])
    assert {(row["judge"], row["model"]): row["n"] for row in counted} == {
        (judge, model): len(rows) for judge in judges for model in rated
    }
    for judge in judges:
        for aggregation in ("micro", "macro by task", "macro by category"):
            of = world.scores(f"Rating/{aggregation}", judge=judge)
            # The judge reads no picture: the same answers have the same ratings.
            assert of["file:careful"] == of["baseline:reference"] == 10 > of["no-images:careful"]
