"""Predictions from files: scored like answers that were given here, replaced, and removed again."""

import json
import sys
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest

from assets.evaluate.inference import ItemAnswers, answer_item
from assets.evaluate.predictions import import_predictions, remove_predictions
from tests.assets.conftest import CopyWorld, MakeWorld
from tests.assets.evaluate.test_multiple_choice import (
    N_QUESTIONS,
    UNREAD,
    one_picture,
    several_pictures,
    take,
)
from tests.assets.world import (
    ANY_ASSETS,
    ASKING,
    SCORING,
    Result,
    Row,
    World,
    sentence,
)

pytestmark = pytest.mark.slow

ASKED = ["careful", "careless", "baseline:random", "baseline:most-frequent"]
STEP = 1_000_000


@pytest.fixture(scope="module")
def base(empty_world: MakeWorld) -> World:
    """Both benchmarks asked; then what two models said, as files. Not to be changed."""
    world = empty_world()
    world.set_models(evaluate=ASKED)
    take(world, "mmbench", one_picture(world.root), split="dev", language="en")
    take(world, "mmiu", several_pictures(world.root))
    # One answer of the model that knows, that no rule reads.
    world.proxy.rewrite(
        lambda asked: asked.model == "offline-careful" and "Question 0" in asked.text, UNREAD
    )
    assert evaluate(world).success
    for model in ("careful", "careless"):
        assert imported(world, "mmbench-dev-en", excel(world, model), model).success
        assert imported(world, "mmiu-imported", records(world, model), model).success
    assert world.run(ANY_ASSETS, assets=dg.AssetSelection.groups("evaluate")).success
    return world


@pytest.fixture
def world(base: World, copied: CopyWorld, tmp_path: Path) -> World:
    """The same, to go on from."""
    world = copied(base, tmp_path)
    world.set_models(evaluate=ASKED)
    return world


def evaluate(world: World, **config: object) -> Result:
    given = {"evaluate__answers": {"config": config}} if config else {}
    return world.run(ANY_ASSETS, given, assets=ASKING | SCORING)


def imported(world: World, release: str, file: Path, model: str) -> Result:
    config = {"release": release, "file": str(file), "model": model}
    return world.run("import_predictions", {"result_import_predictions": {"config": config}})


def answers(world: World, benchmark: str, model: str) -> list[Row]:
    return world.rows(
        "SELECT * FROM evaluate.answers WHERE benchmark = $b AND model = $m ORDER BY item_id, trial",
        b=benchmark,
        m=model,
    )


def excel(world: World, model: str) -> Path:
    """What a model said to MMBench, as an evaluation elsewhere would store it."""
    said = answers(world, "mmbench", model)
    shifts = [int(row["trial"].removeprefix("shift-")) for row in said]
    table = {
        "index": [int(row["item_id"]) + STEP * n for row, n in zip(said, shifts, strict=True)],
        "prediction": [row["answer"] for row in said],
    }
    file = world.root / f"{model}.xlsx"
    pd.DataFrame(table).to_excel(file, index=False)
    return file


def records(world: World, model: str) -> Path:
    """What a model said to MMIU, in the authors' form."""
    said = {row["item_id"]: row["answer"] for row in answers(world, "mmiu", model)}
    items = json.loads((world.root / "mmiu.json").read_text())
    ids = ("mevis-1", "spot_the_diff-1", "spot_the_diff-2", "spot_the_diff-3")
    for item_id, item in zip(ids, items, strict=True):
        item["pred"] = said[item_id]
    file = world.root / f"{model}.json"
    file.write_text(json.dumps(items))
    return file


def scores(world: World, model: str) -> list[Row]:
    """Every score of a model, without who it is."""
    return world.rows(
        "SELECT * EXCLUDE (model, provider) FROM evaluate.scores WHERE model = $m ORDER BY ALL",
        m=model,
    )


def fingerprints(world: World) -> list[str]:
    tables = ("evaluate.predictions", "evaluate.prediction_files")
    return [world.warehouse.fingerprint(table) for table in tables]


# --- Scores ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["careful", "careless"])
def test_a_file_of_a_models_own_answers_has_exactly_its_scores(base: World, model: str) -> None:
    own = scores(base, model)
    assert {row["benchmark"] for row in own} == {"mmbench", "mmiu"} and len(own) > 50
    assert scores(base, f"file:{model}") == own


def test_it_is_ranked_and_compared_like_a_model_and_names_where_it_is_from(base: World) -> None:
    ranks = base.rows(
        "SELECT model, rank FROM evaluate.ranks WHERE metric = 'Circular' AND rank IS NOT NULL "
        "ORDER BY rank, model"
    )
    assert [(row["model"], row["rank"]) for row in ranks] == [
        ("careful", 1),
        ("file:careful", 1),
        ("careless", 3),
        ("file:careless", 3),
    ]
    rows = base.rows("SELECT DISTINCT provider FROM evaluate.answers WHERE model LIKE 'file:%'")
    assert rows == [{"provider": "file"}]


def test_baselines_score_what_the_release_says_they_do(base: World) -> None:
    # Three of twelve questions of MMBench have each of four letters.
    assert base.scores("Vanilla/micro")["baseline:most-frequent"] == 25
    circular = base.scores("Circular/micro")
    assert circular["baseline:most-frequent"] == 0
    assert circular["baseline:random"] <= 100 / N_QUESTIONS
    # Of MMIU the letter of each task: one of one, and one of three.
    by_task = base.scores("Accuracy/macro by task")["baseline:most-frequent"]
    assert by_task == pytest.approx((100 + 100 / 3) / 2)
    ranked = base.rows("SELECT DISTINCT model FROM evaluate.ranks WHERE rank IS NOT NULL")
    assert not [row for row in ranked if row["model"].startswith("baseline:")]


def test_what_a_file_lacks_or_contradicts_is_told_and_never_a_gain(world, base):
    table = pd.read_excel(base.root / "careful.xlsx")
    first = table[table["index"] < STEP]
    spoilt = pd.concat(
        [
            # Question 0 has one pass, 1 an empty prediction, 2 two that differ, 3 none, 4 one twice.
            table[
                ~table["index"].isin([1, 2, STEP, 2 * STEP, 3 * STEP])
                & (table["index"] % STEP != 3)
            ],
            pd.DataFrame({"index": [1, 2, 2, 99], "prediction": ["", "A", "B", "A"]}),
            first[first["index"] == 4],
        ]
    )
    file = world.root / "spoilt.csv"
    spoilt.to_csv(file, index=False)
    run = imported(world, "mmbench-dev-en", file, "spoilt")
    said = run.output_for_node("result_import_predictions")
    assert said.startswith("file:spoilt has predictions for 11 items of mmbench-dev-en-")
    for part in (
        "2 records are with another prediction for the same pass, none of which counts.",
        "1 records are without a prediction.",
        "1 records are said again.",
        "1 records are of a question that the release does not have.",
        "1 items have no prediction and get the lowest score.",
    ):
        assert part in said, part
    assert evaluate(world, models=["file:spoilt"]).success
    # Right in all passes are the other eight of twelve.
    assert world.scores("Circular/micro")["file:spoilt"] == pytest.approx(100 * 8 / N_QUESTIONS)
    assert world.scores("Circular/micro")["careful"] == 100
    rows = world.rows(
        "SELECT item_id, trial, reason FROM evaluate.failed WHERE model = 'file:spoilt' "
        "ORDER BY item_id, trial"
    )
    assert [(row["item_id"], row["trial"], row["reason"]) for row in rows] == [
        ("0", "shift-1", "no_prediction"),
        ("1", "shift-0", "empty"),
        ("2", "shift-0", "no_prediction"),
        ("3", "shift-0", "no_prediction"),
    ]
    assert world.rows("SELECT * FROM evaluate.missing WHERE model = 'file:spoilt'") == []


@pytest.mark.parametrize(
    ("release", "name", "model", "why"),
    [
        (
            "mmbench-dev-en",
            "other.csv",
            "x",
            "None of its 1 records is of a question of the release",
        ),
        ("mmbench-dev-en", "none.csv", "x", "it cannot be read (No such file or directory)"),
        ("nothing", "other.csv", "x", "There is no release nothing; there are"),
        ("mmbench-dev-en", "other.csv", " ", "' ' is not a valid name for predictions"),
        ("mmbench-dev-en", "other.csv", "a\nb", r"'a\nb' is not a valid name for predictions"),
    ],
)
def test_what_cannot_be_taken_is_one_sentence_and_changes_nothing(base, release, name, model, why):
    (base.root / "other.csv").write_text("index,prediction\n99,A\n")
    before = fingerprints(base)
    said = sentence(imported(base, release, base.root / name, model))
    assert why in said and said.endswith(".") and "\n" not in said
    assert fingerprints(base) == before


# --- Again, others, and none -----------------------------------------------------------------------


@pytest.mark.nightly
def test_what_changes_while_models_are_asked_is_answered_by_the_next_run(world, base, monkeypatch):
    careful, careless = (base.root / f"{model}.xlsx" for model in ("careful", "careless"))
    for name in ("gone", "new"):
        import_predictions(world.warehouse, "mmbench-dev-en", careless, name)
    changed: list[str] = []

    async def meanwhile(*given: Any) -> ItemAnswers:
        if not changed:
            changed.append(remove_predictions(world.warehouse, "mmbench-dev-en", "gone"))
            import_predictions(world.warehouse, "mmbench-dev-en", careful, "new")
        return await answer_item(*given)

    with monkeypatch.context() as patch:
        patch.setattr(sys.modules["assets.evaluate.answers"], "answer_item", meanwhile)
        assert evaluate(world).success
    assert answers(world, "mmbench", "file:gone") == answers(world, "mmbench", "file:new") == []
    assert answers(world, "mmbench", "file:careful")

    assert evaluate(world).success
    assert answers(world, "mmbench", "file:gone") == []
    circular = world.scores("Circular/micro")
    assert circular["file:new"] == circular["careful"] > circular["careless"]
