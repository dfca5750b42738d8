"""Multiple choice from its file to its report: who knows, who guesses, who repeats a letter.

What models said elsewhere, as files, is scored like answers that were given here.
"""

import base64
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest
from PIL import Image

from assets.evaluate.inference import ItemAnswers, answer_item
from assets.evaluate.predictions import import_predictions, remove_predictions
from resources.files.home import REPO_ROOT
from tests.assets.conftest import CopyWorld, MakeWorld
from tests.assets.world import (
    ANY_ASSETS,
    ASKING,
    RANKING,
    REPORTS,
    SCORING,
    Result,
    Row,
    World,
    made,
    sentence,
)
from tests.resources.reports.report_rows import board

pytestmark = pytest.mark.slow

COLOURS = ("red", "green", "blue", "black")
N_QUESTIONS = 12
MODELS = ("careful", "careless", "always-a", "refuser", "rambler")
BASELINES = ("baseline:reference", "baseline:random", "baseline:most-frequent")
UNREAD = "Plainly red, I should think."
PROVENANCE = dg.AssetSelection.assets(["evaluate", "provenance"])
STEP = 1_000_000
"""Between the indices of two passes of a question."""


@pytest.fixture(scope="module")
def chosen(empty_world: MakeWorld) -> World:
    """Twelve questions on one picture and four on several, asked of five models of known skill.

    What one of them said is there once more, from files.
    """
    world = empty_world()
    set_models(world)
    take(world, "mmbench", one_picture(world.root), split="dev", language="en")
    take(world, "mmiu", several_pictures(world.root))
    # One answer of the model that knows, that no rule reads.
    world.proxy.rewrite(
        lambda asked: asked.model == "offline-careful" and "Question 0" in asked.text, UNREAD
    )
    assert world.evaluate().success
    import_predictions(world.warehouse, "mmbench-dev-en", excel(world, "careless"), "careless")
    import_predictions(world.warehouse, "mmiu-imported", records(world, "careless"), "careless")
    run = world.run(ANY_ASSETS, assets=ASKING | RANKING | REPORTS | PROVENANCE)
    assert run.success and "evaluate/reports" in made(run)
    return world


@pytest.fixture
def world(chosen: World, copied: CopyWorld, tmp_path: Path) -> World:
    """The same, to go on from."""
    world = copied(chosen, tmp_path)
    set_models(world)
    return world


def set_models(world: World) -> None:
    world.set_models(
        {name: {"model": f"offline-{name}"} for name in MODELS}, evaluate=[*MODELS, *BASELINES]
    )


def evaluated(world: World, **config: object) -> Result:
    given = {"evaluate__answers": {"config": config}} if config else {}
    return world.run(ANY_ASSETS, given, assets=ASKING | SCORING)


def imported(world: World, release: str, file: Path, model: str) -> Result:
    config = {"release": release, "file": str(file), "model": model}
    return world.run("import_predictions", {"result_import_predictions": {"config": config}})


def take(world: World, benchmark: str, file: Path, **config: str) -> None:
    assert world.import_file(benchmark, file, **config).success


def picture(colour: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (64, 64), colour).save(buffer, "PNG")
    return buffer.getvalue()


def question(number: int, colour: str, place: int, **other: object) -> Row:
    """A question on a picture of one colour, whose name is the choice at this place."""
    choices = [each for each in COLOURS if each != colour]
    choices.insert(place, colour)
    image = base64.b64encode(picture(colour)).decode()
    text = f"Question {number}. Which colour has the picture?"
    of = {"index": number, "question": text, **dict(zip("ABCD", choices, strict=True))}
    return {**of, "answer": "ABCD"[place], "category": "image_style", "image": image, **other}


def write_mmbench(root: Path, questions: list[Row]) -> Path:
    """MMBench's file with these questions."""
    file = root / "mmbench.tsv"
    pd.DataFrame(questions).to_csv(file, sep="\t", index=False)
    return file


def one_picture(root: Path) -> Path:
    """A circular file: the key of question n is the n-th letter of four, so three are A."""
    passes = []
    for number in range(N_QUESTIONS):
        category = ("attribute_recognition", "image_style")[number % 2]
        hint = "Look at the whole picture." if number % 3 == 0 else ""
        first = question(number, COLOURS[number // 4], number % 4, category=category, hint=hint)
        for shift in range(4):
            turned = {"ABCD"[place]: first["ABCD"[(place + shift) % 4]] for place in range(4)}
            key = "ABCD"[(number - shift) % 4]
            at = {"index": number + shift * STEP, "image": str(number) if shift else first["image"]}
            passes.append({**first, **turned, **at, "answer": key})
    return write_mmbench(root, passes)


def several_pictures(root: Path) -> Path:
    """Three questions of one task and one of another, two pictures each."""
    for colour in COLOURS:
        (root / f"{colour}.png").write_bytes(picture(colour))
    options = "A: red\nB: green\nC: blue\nD: black"
    records = [
        {
            "task": "spot_the_diff" if number else "mevis",
            "options": options,
            "question": f"Case {number}. Which colour has <image-2>?",
            "context": f"You see two pictures.\n{options}",
            "input_image_path": ["black.png", f"{colour}.png"],
            "output": "ABCD"[COLOURS.index(colour)],
        }
        for number, colour in enumerate(COLOURS)
    ]
    file = root / "mmiu.json"
    file.write_text(json.dumps(records))
    return file


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


def test_who_knows_is_right_in_every_pass_and_who_repeats_a_letter_in_none(chosen: World) -> None:
    circular, vanilla = chosen.scores("Circular/micro"), chosen.scores("Vanilla/micro")
    assert circular["careful"] == vanilla["careful"] == circular["baseline:reference"] == 100
    # Three of twelve keys are A.
    assert (vanilla["always-a"], circular["always-a"]) == (25, 0)
    assert circular["careless"] < vanilla["careless"] < 100
    assert chosen.scores("Gap/micro")["always-a"] == 25
    # A refusal is a miss, and right in the upper bound.
    assert circular["refuser"] == 0 and chosen.scores("Upper bound/micro")["refuser"] == 100
    # The key A is that of the one question of its task, of four questions in all.
    by_task = chosen.scores("Accuracy/macro by task")
    assert (by_task["always-a"], chosen.scores("Accuracy/micro")["always-a"]) == (50, 25)


def test_the_guides_queries_show_where_readings_differ_and_how_many_rules_read(chosen):
    guide = (REPO_ROOT / "docs" / "guides" / "multiple-choice.md").read_text()
    differ, by_rule, *_ = re.findall(r"```sql\n(.*?);\n```", guide, re.DOTALL)
    # No answer here is one that only VLMEvalKit's rules read.
    assert chosen.rows(differ) == []
    shares = {row["model"]: row["by_rule"] for row in chosen.rows(by_rule)}
    assert {model: shares[model] for model in MODELS} == {**dict.fromkeys(MODELS, 1), "rambler": 0}


def test_the_report_has_letters_and_calls_saved(chosen: World) -> None:
    (page,) = (chosen.home / "reports").glob("mmbench-dev-en*.html")
    html = page.read_text()
    letters, saved = (
        {row[0]: row[1:] for row in board(html, table=name)} for name in ("letters", "passes")
    )
    assert letters["always-a"][:5] == ["100.0", "0.0", "0.0", "0.0", "0.0"]
    # Three of twelve were asked twice.
    assert saved["always-a"] == ["48", "15", "33 68.8 %", "0"]


def test_every_passes_number_can_be_followed_to_its_reading(chosen: World) -> None:
    rows = chosen.rows(
        "FROM evaluate.provenance WHERE model = 'careful' AND benchmark = 'mmbench' "
        "AND item = '5' ORDER BY trial"
    )
    assert [row["reading"] for row in rows] == ["B", "A", "D", "C"]
    assert {row["reference"] for row in rows} == {"B"}


# --- Baselines and predictions from files ----------------------------------------------------------


def test_baselines_score_what_the_release_says_they_do(chosen: World) -> None:
    # Three of twelve questions of MMBench have each of four letters.
    assert chosen.scores("Vanilla/micro")["baseline:most-frequent"] == 25
    circular = chosen.scores("Circular/micro")
    assert circular["baseline:most-frequent"] == 0
    assert circular["baseline:random"] <= 100 / N_QUESTIONS
    # Of MMIU the letter of each task: one of one, and one of three.
    by_task = chosen.scores("Accuracy/macro by task")["baseline:most-frequent"]
    assert by_task == pytest.approx((100 + 100 / 3) / 2)
    ranked = chosen.rows("SELECT DISTINCT model FROM evaluate.ranks WHERE rank IS NOT NULL")
    assert not [row for row in ranked if row["model"].startswith("baseline:")]


def test_a_file_of_a_models_own_answers_has_exactly_its_scores_and_its_rank(chosen: World) -> None:
    own = scores(chosen, "careless")
    assert {row["benchmark"] for row in own} == {"mmbench", "mmiu"} and len(own) > 50
    assert scores(chosen, "file:careless") == own
    rows = chosen.rows("SELECT model, rank FROM evaluate.ranks WHERE metric = 'Circular'")
    ranks = {row["model"]: row["rank"] for row in rows}
    assert (ranks["careful"], ranks["careless"], ranks["file:careless"]) == (1, 2, 2)
    rows = chosen.rows("SELECT DISTINCT provider FROM evaluate.answers WHERE model LIKE 'file:%'")
    assert rows == [{"provider": "file"}]


def test_what_a_file_lacks_or_contradicts_is_told_and_never_a_gain(world, chosen):
    table = pd.read_excel(excel(chosen, "careful"))
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
    assert evaluated(world, models=["file:spoilt"]).success
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
    assert world.table("evaluate.missing", model="file:spoilt") == []


@pytest.mark.parametrize(
    ("release", "name", "model", "why"),
    [
        ("mmbench-dev-en", "other.csv", "x", "None of its 1 records is of a question"),
        ("mmbench-dev-en", "none.csv", "x", "it cannot be read (No such file or directory)"),
        ("nothing", "other.csv", "x", "There is no release nothing; there are"),
        ("mmbench-dev-en", "other.csv", " ", "' ' is not a valid name for predictions"),
        ("mmbench-dev-en", "other.csv", "a\nb", r"'a\nb' is not a valid name for predictions"),
    ],
)
def test_what_cannot_be_taken_is_one_sentence_and_changes_nothing(
    chosen, release, name, model, why
):
    (chosen.root / "other.csv").write_text("index,prediction\n99,A\n")
    tables = ("evaluate.predictions", "evaluate.prediction_files")
    before = [chosen.warehouse.fingerprint(table) for table in tables]
    said = sentence(imported(chosen, release, chosen.root / name, model))
    assert why in said and said.endswith(".") and "\n" not in said
    assert [chosen.warehouse.fingerprint(table) for table in tables] == before


@pytest.mark.nightly
def test_what_changes_while_models_are_asked_is_answered_by_the_next_run(
    world, chosen, monkeypatch
):
    careful, careless = (excel(chosen, model) for model in ("careful", "careless"))
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
        assert evaluated(world).success
    assert answers(world, "mmbench", "file:gone") == answers(world, "mmbench", "file:new") == []
    assert answers(world, "mmbench", "file:careless")

    assert evaluated(world).success
    assert answers(world, "mmbench", "file:gone") == []
    circular = world.scores("Circular/micro")
    assert circular["file:new"] == circular["careful"] > circular["careless"]
