"""What imported responses, scores and a report cost at size: parts of `make bench NAME=evaluate`.

Responses to AlignMMBench's 4,978 questions, in groups of the published sizes, by five models: imported,
rated and scored. The questions are those of the published slice where it is beside the project, with
new ids, else made here. The judge is a stand-in that answers at once, in another process; judging again
from the ledger is what is counted. Scores of 20 models on 11,698 items in 52 tasks (MMIU's size), and
scores and the HTML page of 15 models on 110 dialogues of 15 turns (MMDU's size), from what is there.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from methods.alignmmbench.tasks import CATEGORIES
from resources.files.home import REPO_ROOT
from tests.bench import measuring
from tests.bench.measuring import DATA, Row

SLICE = DATA / "alignmmbench_slice" / "metadata.jsonl"
SIZES = {6: 780, 5: 4, 7: 1, 1: 271}
"""Groups of the published questions by how many wordings they have."""
N_QUESTIONS = 4_978
"""As many as are published; bench also takes a fifth and four times as many."""
MODELS = ("m85", "m70", "m55", "m40", "m25")
JUDGE = "judge"
BAR_S = 60
WORDS = 60
"""Words of a response."""


def serve() -> None:
    """A judge that rates at once, until its standard input is closed."""
    from tests.doubles.openai_api import Api, completion, http_reply

    class Judge(Api):
        def reply(self, headers: dict[str, str], body: bytes, transport: asyncio.Transport) -> None:
            answers = re.findall(r"skill (\d+)", body.decode())
            rating = 1 + int(10 * measuring.chance(body.decode()) * int(answers[-1]) / 100)
            text = json.dumps({"Reason": "It was read with care.", "Rating": rating})
            message = {"role": "assistant", "content": text}
            transport.write(http_reply(200, completion(message, 100, 100)))

    measuring.serve_api(Judge())


def questions(n: int) -> list[Row]:
    """So many rows of the published form, in groups of the published sizes, over and over."""
    groups = _groups()
    rows: list[Row] = []
    number = 0
    while len(rows) < n:
        for size, n_groups in SIZES.items():
            for group in islice(cycle([each for each in groups if len(each) == size]), n_groups):
                for place, row in enumerate(group):
                    rows.append({**row, "question_id": f"{number:08}-{place}"})
                number += 1
    return rows[:n]


def _groups() -> list[list[Row]]:
    """Groups of questions to be multiplied, of every size there is."""
    if SLICE.is_file():
        found: dict[str, list[Row]] = {}
        for line in SLICE.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            found.setdefault(row["question_id"].rpartition("-")[0], []).append(row)
        return list(found.values())
    return [
        [
            {
                "image_path": f"images/{task}.jpg",
                "history": [],
                "prompt": f"请描述图片，第{place}种说法。",
                "ref_answer": "图片中有一个人站在红色的汽车旁边。" * 4,
                "task": task,
                "category": category,
            }
            for place in range(size)
        ]
        for task, category in CATEGORIES.items()
        for size in SIZES
    ]


def responses(model: str, rows: Sequence[Row]) -> Iterator[Row]:
    for row in rows:
        text = f"{row['question_id']} skill {model[1:]} " + " ".join(["word"] * WORDS)
        yield {"question_id": row["question_id"], "predict": text}


def opened(models: Row) -> tuple[Any, Any]:
    """The warehouse of a new home, and a gateway to these models."""
    from resources.files import home
    from resources.images.store import ImageStore
    from resources.llm.errors import ANY_TROUBLE  # noqa: F401 - the client is imported with it
    from resources.llm.gateway import Gateway
    from resources.llm.ledger import Ledger
    from resources.llm.registry import load_registry
    from resources.mock_server.process import MockServerProcess
    from resources.warehouse import Warehouse

    registry = Path(os.environ["LOOM_MODELS"])
    registry.write_text(json.dumps(models))
    ledger, images = Ledger(home.ledger_path()), ImageStore(home.images_path())
    gateway = Gateway(load_registry(registry), "p", ledger, images, launcher=MockServerProcess())
    return Warehouse(home.warehouse_path()), gateway


def measure_responses(url: str, n_questions: str) -> Row:
    """The figures of all of it, here and now. Imports are not counted."""
    from assets.common.tables import rows_to_arrow
    from assets.evaluate import (
        answers,
        comparisons,
        judge_quality,
        judgments,
        leaderboard,
        observations,
        scores,
    )
    from assets.evaluate.predictions import import_predictions
    from assets.release.published import ReleaseImportRequest, import_published
    from methods.benchmarks import BENCHMARKS
    from resources.files import home
    from resources.review.store import ReviewStore
    from resources.warehouse import TableWrite

    folder = Path(os.environ["LOOM_WORKSPACE"])
    folder.mkdir(parents=True)
    rows = questions(int(n_questions))
    published = _write(folder / "metadata.jsonl", rows)
    files = {model: _write(folder / f"{model}.jsonl", responses(model, rows)) for model in MODELS}
    entry = {"provider": "openai", "base_url": url, "concurrency": 50}
    profile = {"writer": JUDGE, "judge": JUDGE, "evaluate": []}
    warehouse, gateway = opened({"profiles": {"p": profile}, "models": {JUDGE: entry}})
    given = {
        "warehouse": warehouse,
        "llm": gateway,
        "benchmarks": BENCHMARKS,
        "review_store": ReviewStore(home.review_path()),
        "profile": gateway.profile,
    }
    before, stages, at_once = measuring.peak_mib(), dict[str, Row](), dict[str, Row]()
    with measuring.stage(stages, "release"):
        request = ReleaseImportRequest("alignmmbench", published, language="zh")
        import_published(warehouse, gateway.images, request)
    with measuring.stage(stages, "predictions"):
        for model, file in files.items():
            import_predictions(warehouse, "alignmmbench-zh", file, model)
    measuring.materialized([answers], given, stages)
    measuring.materialized([judgments], given, at_once)
    # Judged again, every reply is in the ledger.
    none = rows_to_arrow("evaluate.judgments", [])
    warehouse.replace_all([TableWrite("evaluate.judgments", none, {})])
    after = (judgments, observations, scores, comparisons, leaderboard, judge_quality)
    measuring.materialized(after, given, stages)
    counted = measuring.in_all(stages)
    figures = {
        "questions": len(rows),
        "models": len(MODELS),
        "calls": len(gateway.ledger),
        "observations": warehouse.count("evaluate.observations"),
        "imports_mib": before,
        "stages": {**stages, "judging at once": at_once["judgments"]},
        **counted,
        "bar_s": BAR_S,
        "within_bar": counted["wall_s"] <= BAR_S,
    }
    gateway.close()
    return figures


def _write(file: Path, rows: Iterator[Row] | Sequence[Row]) -> Path:
    file.write_text(
        "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8"
    )
    return file


N_ITEMS, N_TASKS, N_RELATIONS, N_SCORED = 11_698, 52, 7, 20
N_DIALOGUES, N_TURNS, N_REPORTED = 110, 15, 15
SCORES, REPORT = "mmiu", "mmdu"


def choice(number: int, images: Sequence[str], name: str) -> Any:
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
    right = float(measuring.chance(item_id, model) < number / N_SCORED)
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
        scores = {
            name: float(1 + int((5 + number / 3) * measuring.chance(name, key)))
            for name in DIMENSIONS
        }
        text = " ".join(["word"] * (40 + int(80 * measuring.chance(key))))
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


def measure_scores(benchmark: str) -> Row:
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
    before, stages = measuring.peak_mib(), dict[str, Row]()
    measuring.materialized(assets, given, stages)
    return {
        "observations": warehouse.count("evaluate.observations"),
        "page_kb": sum(path.stat().st_size for path in home.reports_path().glob("*.html")) // 1000,
        "imports_mib": before,
        "stages": stages,
        **measuring.in_all(stages),
    }


def measure(what: str, *words: str) -> Row:
    return measure_responses(*words) if what == "responses" else measure_scores(what)


def parts() -> dict[str, Row]:
    """The figures of all, each from a process of its own with a home of its own."""
    found = {}
    for n in (N_QUESTIONS // 5, N_QUESTIONS, N_QUESTIONS * 4):
        with measuring.served(__name__) as server:
            given = "responses", measuring.address_of(server), n
            found[f"imported responses to {n}"] = measuring.in_a_fresh_home(__name__, *given)
    found["scores at size"] = measuring.in_a_fresh_home(__name__, SCORES)
    found["a report at size"] = measuring.in_a_fresh_home(__name__, REPORT)
    return found


if __name__ == "__main__":
    measuring.is_part(serve=serve, write=write, measure=measure)
