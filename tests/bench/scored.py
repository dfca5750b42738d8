"""What scores and a report cost at size, from answers and observations that are there.

Two parts of `make bench NAME=evaluate`: scores of 20 models on 11,698 items in 52 tasks (MMIU's size),
and scores and the HTML page of 15 models on 110 dialogues of 15 turns (MMDU's size).
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from resources.files.home import REPO_ROOT
from tests.bench.measuring import (
    Row,
    chance,
    in_a_fresh_home,
    in_all,
    is_part,
    materialized,
    peak_mib,
)

N_ITEMS, N_TASKS, N_RELATIONS, N_SCORED = 11_698, 52, 7, 20
N_DIALOGUES, N_TURNS, N_REPORTED = 110, 15, 15
JUDGE = "judge"
SCORES, REPORT = "mmiu", "mmdu"


def choice(number: int, images: Sequence[str], name: str) -> Any:
    """An item with four choices."""
    from methods.evaluation.items import Item, Turn

    turn = Turn(1, f"<ImageHere>Item {number}?", (1,), {"key": "A"})
    labels = {"task": str(number % N_TASKS), "relation": str(number % N_RELATIONS)}
    texts = ("one", "two", "three", "four")
    return Item(f"item-{number:05}", (turn,), (images[0],), texts, labels=labels)


def dialogue(number: int, images: Sequence[str], name: str) -> Any:
    """A dialogue with an image each in two of its turns."""
    from methods.evaluation.items import Item, Turn

    placed = {1: (1,), 5: (2,)}
    turns = tuple(
        Turn(
            turn,
            f"{'<ImageHere>' if turn in placed else ''}What of {number}, {turn}?",
            placed.get(turn, ()),
            {"answer": " ".join(["reference"] * 120)},
        )
        for turn in range(1, N_TURNS + 1)
    )
    shown = images[number % len(images)], images[(number + 1) % len(images)]
    return Item(f"dialogue-{number:03}", turns, shown)


def choice_rows(item_id: str, model: str, number: int) -> Iterator[tuple[str, Row]]:
    """The answer of a model to an item, and what was observed of it."""
    place = {"item_id": item_id, "trial": "plain", "turn": 1}
    answer = {"provider": "openai", "status": "answered", "answer": "A", "prompt_version": "x@1"}
    yield "answers", {**place, **answer}
    right = float(chance(item_id, model) < number / N_SCORED)
    by = {"judge": "rule", "judge_version": "v@1", "replicate": 0, "part": "", "status": "judged"}
    for metric in ("right", "right (compat)"):
        yield "observations", {**place, **by, "metric": metric, "value": right}


def dialogue_rows(item_id: str, model: str, number: int) -> Iterator[tuple[str, Row]]:
    """The answers of a model in a dialogue, their judgments and what was observed of them."""
    from assets.evaluate.judge import judge_version
    from methods.benchmarks import BENCHMARKS
    from methods.mmdu.judging import DIMENSIONS

    version = judge_version(BENCHMARKS[REPORT], "shown")
    by = {"judge": JUDGE, "judge_version": version, "replicate": 0, "part": "turn"}
    for turn in range(1, N_TURNS + 1):
        place = {"item_id": item_id, "trial": "plain", "turn": turn}
        key = f"{model}, {item_id}, {turn}"
        of_call = {"call_key": f"judge {key}", "answer_call_key": key}
        scores = {name: float(1 + int((5 + number / 3) * chance(name, key))) for name in DIMENSIONS}
        text = " ".join(["word"] * (40 + int(80 * chance(key))))
        asked = {"provider": "openai", "prompt_version": "x@1"}
        yield "answers", {**place, **asked, "status": "answered", "answer": text, "call_key": key}
        score = {"scores": list(scores.items()), "score": scores[DIMENSIONS[-1]]}
        yield "judgments", {**place, **by, **asked, **of_call, **score, "explanation": text}
        for name, value in scores.items():
            observed = {"metric": name, "status": "judged", "value": value}
            yield "observations", {**place, **by, **of_call, **observed}


def write(benchmark: str) -> None:
    """What is scored, in the tables."""
    from assets.common.tables import rows_to_arrow
    from assets.release.published import write_imported
    from methods.release import Edition
    from resources.files import home
    from resources.warehouse import TableWrite, Warehouse

    make, rows_of, n_items, n_models = {
        SCORES: (choice, choice_rows, N_ITEMS, N_SCORED),
        REPORT: (dialogue, dialogue_rows, N_DIALOGUES, N_REPORTED),
    }[benchmark]
    # Comparisons read which models are of one family.
    profile = {"writer": JUDGE, "judge": JUDGE, "evaluate": [JUDGE]}
    models = {"profiles": {"p": profile}, "models": {JUDGE: {"provider": "mock"}}}
    Path(os.environ["LOOM_MODELS"]).write_text(json.dumps(models))
    warehouse = Warehouse(home.warehouse_path())
    items = [make(number, ["0" * 64, "1" * 64], benchmark) for number in range(n_items)]
    edition = Edition(benchmark, "test", None, "imported")
    name = f"{benchmark}-test"
    release_id = write_imported(warehouse, name, edition, items, {"file": "bench"})
    for number in range(n_models):
        here = {"benchmark": benchmark, "release_id": release_id, "model": f"m{number:02}"}
        made: dict[str, list[Row]] = {}
        for item in items:
            for table, row in rows_of(item.item_id, here["model"], number):
                made.setdefault(f"evaluate.{table}", []).append({**here, **row})
        warehouse.replace_all(
            [TableWrite(table, rows_to_arrow(table, rows), here) for table, rows in made.items()]
        )


def measure(benchmark: str) -> Row:
    """The figures, here and now. What is scored is written by a process of its own."""
    from assets.evaluate import comparisons, leaderboard, reports, scores
    from methods.benchmarks import BENCHMARKS
    from resources.files import home
    from resources.images.store import ImageStore
    from resources.llm.ledger import Ledger
    from resources.llm.registry import load_registry
    from resources.warehouse import Warehouse

    command = [sys.executable, "-m", __spec__.name, "write", benchmark]
    subprocess.run(command, cwd=REPO_ROOT, check=True)
    warehouse = Warehouse(home.warehouse_path())
    given: dict[str, Any] = {"warehouse": warehouse, "benchmarks": BENCHMARKS}
    assets = [scores, comparisons]
    if benchmark == REPORT:
        assets += [leaderboard, reports]
        given["image_store"] = ImageStore(home.images_path())
        given["ledger"] = Ledger(home.ledger_path())
        given["profile"] = load_registry().profile("p")
    before, stages = peak_mib(), dict[str, Row]()
    materialized(assets, given, stages)
    return {
        "observations": warehouse.count("evaluate.observations"),
        "page_kb": sum(path.stat().st_size for path in home.reports_path().glob("*.html")) // 1000,
        "imports_mib": before,
        "stages": stages,
        **in_all(stages),
    }


def parts() -> dict[str, Row]:
    """The figures of both, each from a process of its own with a home of its own."""
    return {
        "scores at size": in_a_fresh_home(__name__, SCORES),
        "a report at size": in_a_fresh_home(__name__, REPORT),
    }


if __name__ == "__main__":
    is_part(write=write, measure=measure)
