"""What imported responses cost: a part of `make bench NAME=evaluate`.

Responses to AlignMMBench's 4,978 questions, in groups of the published sizes, by five models: imported,
rated and scored. The questions are those of the published slice where it is beside the project, with
new ids, else made here. The judge is a stand-in that answers at once, in another process; judging again
from the ledger is what is counted.
"""

import asyncio
import json
import os
import re
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from methods.alignmmbench.tasks import CATEGORIES
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


def measure(url: str, n_questions: str) -> Row:
    """The figures of all of it, here and now. Imports are not counted."""
    from assets.common.tables import write_rows
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
    write_rows(warehouse, {"evaluate.judgments": []})
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


def parts() -> dict[str, Row]:
    """The figures of each number of responses, from a process of its own with a home of its own."""
    found = {}
    for n in (N_QUESTIONS // 5, N_QUESTIONS, N_QUESTIONS * 4):
        with measuring.served(__name__) as server:
            given = measuring.address_of(server), n
            found[f"imported responses to {n}"] = measuring.in_a_fresh_home(__name__, *given)
    return found


if __name__ == "__main__":
    measuring.is_part(serve=serve, measure=measure)
