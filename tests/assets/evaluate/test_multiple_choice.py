"""Multiple choice from its file to its report: who knows, who guesses, who repeats a letter."""

import base64
import io
import json
import re
from pathlib import Path

import dagster as dg
import pytest
from PIL import Image

from resources.files.home import REPO_ROOT
from tests.assets.conftest import MakeWorld
from tests.assets.world import ANY_ASSETS, World, made
from tests.resources.reports.test_report_leaderboard import board

pytestmark = pytest.mark.slow

COLOURS = ("red", "green", "blue", "black")
N_QUESTIONS = 12
MODELS = ("careful", "careless", "always-a", "refuser", "rambler")
UNREAD = "Plainly red, I should think."


@pytest.fixture(scope="module")
def chosen(empty_world: MakeWorld) -> World:
    """Twelve questions on one picture and four on several, asked of five models of known skill."""
    world = empty_world()
    world.set_models(
        {name: {"model": f"offline-{name}"} for name in MODELS},
        evaluate=[*MODELS, "baseline:reference"],
    )
    take(world, "mmbench", one_picture(world.root), split="dev", language="en")
    take(world, "mmiu", several_pictures(world.root))
    # One answer of the model that knows, that no rule reads.
    world.proxy.rewrite(
        lambda asked: asked.model == "offline-careful" and "Question 0" in asked.text, UNREAD
    )
    run = world.run(ANY_ASSETS, assets=dg.AssetSelection.groups("evaluate"))
    assert run.success and "evaluate/reports" in made(run)
    return world


def take(world: World, benchmark: str, file: Path, **config: str) -> None:
    assert world.import_file(benchmark, file, **config).success


def picture(colour: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (64, 64), colour).save(buffer, "PNG")
    return buffer.getvalue()


def one_picture(root: Path) -> Path:
    """A circular file: the key of question n is the n-th letter of four, so three are A."""
    header = ["index", "question", "hint", *"ABCD", "answer", "category", "image"]
    lines = ["\t".join(header)]
    for number in range(N_QUESTIONS):
        colour = COLOURS[number // 4]
        place = number % 4
        others = [each for each in COLOURS if each != colour]
        choices = [*others[:place], colour, *others[place:]]
        category = ("attribute_recognition", "image_style")[number % 2]
        for shift in range(4):
            turned = [*choices[shift:], *choices[:shift]]
            image = base64.b64encode(picture(colour)).decode() if shift == 0 else str(number)
            hint = "Look at the whole picture." if number % 3 == 0 else ""
            asked = f"Question {number}. Which colour has the picture?"
            row = [str(number + shift * 1_000_000), asked, hint, *turned]
            row += ["ABCD"[turned.index(colour)], category, image]
            lines.append("\t".join(row))
    file = root / "mmbench.tsv"
    file.write_text("\n".join(lines) + "\n")
    return file


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


def test_every_passes_number_can_be_followed_to_its_answer_and_its_reading(chosen: World) -> None:
    rows = chosen.rows(
        "SELECT * FROM evaluate.provenance WHERE model = 'careful' AND benchmark = 'mmbench' "
        "AND item = '5' ORDER BY trial"
    )
    assert [row["trial"] for row in rows] == ["shift-0", "shift-1", "shift-2", "shift-3"]
    assert [row["reading"] for row in rows] == ["B", "A", "D", "C"]
    assert all(
        row["answer"].startswith("The answer is") and row["reference"] == "B" for row in rows
    )


def test_the_guides_queries_show_where_readings_differ_and_how_many_rules_read(chosen):
    guide = (REPO_ROOT / "docs" / "guides" / "multiple-choice.md").read_text()
    differ, by_rule, *_ = re.findall(r"```sql\n(.*?);\n```", guide, re.DOTALL)
    # No answer here is one that only VLMEvalKit's rules read.
    assert chosen.rows(differ) == []
    shares = {row["model"]: row["by_rule"] for row in chosen.rows(by_rule)}
    assert shares == {**dict.fromkeys(MODELS, 1), "baseline:reference": 1, "rambler": 0}


def test_the_report_has_letters_refusals_abilities_and_calls_saved(chosen: World) -> None:
    (page,) = (chosen.home / "reports").glob("mmbench-dev-en*.html")
    html = page.read_text()
    letters = {row[0]: row[1:] for row in board(html, table="letters")}
    assert letters["always-a"][:5] == ["100.0", "0.0", "0.0", "0.0", "0.0"]
    assert "baseline:reference" not in letters
    saved = {row[0]: row[1:] for row in board(html, table="passes")}
    # Three of twelve were asked twice.
    assert saved["always-a"] == ["48", "15", "33 68.8 %", "0"]
    refused = {row[0]: row[1:] for row in board(html, table="refusals")}
    assert refused["refuser"][0] == "12 100.0 % of 12 answers"
    assert [row[0] for row in board(html, table="levels")][0] == "overall"
    (other,) = (chosen.home / "reports").glob("mmiu-imported*.html")
    words = other.read_text()
    assert "Map by task" in words and "by relation" in words and "Calls saved" not in words


def test_models_are_compared_by_ability(chosen: World) -> None:
    rows = chosen.rows(
        "SELECT DISTINCT benchmark, subset_label, metric FROM evaluate.ability_comparisons ORDER BY ALL"
    )
    assert [tuple(row.values()) for row in rows] == [
        ("mmbench", "l2-category", "Circular"),
        ("mmiu", "relation", "Accuracy"),
    ]
