"""What the report of many models costs: 110 dialogues of 15 turns, 15 models and a judge.

A part of `make bench NAME=evaluate`: MMDU's size, from answers, judgments and observations that are
there to scores, comparisons, leaderboard and the HTML page.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from resources.files.home import REPO_ROOT
from tests.bench.measuring import Row, chance, in_a_fresh_home, peak_mib, stage

N_DIALOGUES, N_TURNS, N_MODELS = 110, 15, 15
RELEASE, JUDGE = "mmdu-test", "judge"


def write() -> None:
    """What is reported, in the tables."""
    from assets.common.tables import rows_to_arrow
    from assets.evaluate.judge import judge_version
    from assets.release.published import write_imported
    from methods.benchmarks import BENCHMARKS
    from methods.evaluation.items import Item, Turn
    from methods.mmdu.judging import DIMENSIONS
    from methods.release import Edition
    from resources.files import home
    from resources.warehouse import TableWrite, Warehouse

    registry = {"profiles": {"p": {"writer": JUDGE, "judge": JUDGE, "evaluate": [JUDGE]}}}
    models = {"models": {JUDGE: {"provider": "mock"}}}
    Path(os.environ["LOOM_MODELS"]).write_text(json.dumps({**registry, **models}))
    warehouse = Warehouse(home.warehouse_path())
    items = [
        Item(
            f"dialogue-{number:03}",
            tuple(
                Turn(
                    turn,
                    f"{'<ImageHere>' if turn in (1, 5) else ''}What of {number}, {turn}?",
                    ((1,) if turn == 1 else (2,) if turn == 5 else ()),
                    {"answer": " ".join(["reference"] * 120)},
                )
                for turn in range(1, N_TURNS + 1)
            ),
            ("0" * 64, "1" * 64),
        )
        for number in range(N_DIALOGUES)
    ]
    edition = Edition("mmdu", "test", None, "imported")
    release_id = write_imported(warehouse, RELEASE, edition, items, {"file": "bench"})
    version = judge_version(BENCHMARKS["mmdu"], "shown")
    for number in range(N_MODELS):
        here = {"benchmark": "mmdu", "release_id": release_id, "model": f"m{number:02}"}
        by = {"judge": JUDGE, "judge_version": version, "replicate": 0, "part": "turn"}
        made: dict[str, list[Row]] = {
            f"evaluate.{table}": [] for table in ("answers", "judgments", "observations")
        }
        for item in items:
            for turn in range(1, N_TURNS + 1):
                place = {**here, "item_id": item.item_id, "trial": "plain", "turn": turn}
                key = f"{here['model']}, {item.item_id}, {turn}"
                scores = {
                    name: float(1 + int((5 + number / 3) * chance(name, key)))
                    for name in DIMENSIONS
                }
                text = " ".join(["word"] * (40 + int(80 * chance(key))))
                answer = {"provider": "openai", "status": "answered", "answer": text}
                made["evaluate.answers"].append(
                    {**place, **answer, "prompt_version": "x@1", "call_key": key}
                )
                judgment = {"provider": "openai", "prompt_version": "x@1", "explanation": text}
                of_call = {"call_key": f"judge {key}", "answer_call_key": key}
                score = {"scores": list(scores.items()), "score": scores[DIMENSIONS[-1]]}
                made["evaluate.judgments"].append({**place, **by, **judgment, **of_call, **score})
                made["evaluate.observations"] += [
                    {**place, **by, **of_call, "metric": name, "status": "judged", "value": value}
                    for name, value in scores.items()
                ]
        writes: list[TableWrite] = [
            TableWrite(table, rows_to_arrow(table, rows), {**here}) for table, rows in made.items()
        ]
        warehouse.replace_all(writes)


def measure() -> None:
    """Here and now: prints figures as JSON. What is reported is written by a process of its own."""
    import dagster as dg

    from assets.evaluate import comparisons, leaderboard, reports, scores
    from methods.benchmarks import BENCHMARKS
    from resources.files import home
    from resources.images.store import ImageStore
    from resources.llm.ledger import Ledger
    from resources.llm.registry import load_registry
    from resources.warehouse import Warehouse

    subprocess.run([sys.executable, "-m", __spec__.name, "write"], cwd=REPO_ROOT, check=True)
    warehouse = Warehouse(home.warehouse_path())
    given: dict[str, Any] = {
        "warehouse": warehouse,
        "benchmarks": BENCHMARKS,
        "image_store": ImageStore(home.images_path()),
        "ledger": Ledger(home.ledger_path()),
        "profile": load_registry().profile("p"),
    }
    before, stages = peak_mib(), dict[str, Row]()
    with dg.DagsterInstance.ephemeral() as instance:
        for asset in (scores, comparisons, leaderboard, reports):
            with stage(stages, asset.key.path[-1]):
                assert dg.materialize([asset], resources=given, instance=instance).success
    pages = sum(path.stat().st_size for path in home.reports_path().glob("*.html"))
    figures = {
        "questions": N_DIALOGUES * N_TURNS,
        "models": N_MODELS,
        "page_kb": pages // 1000,
        "imports_mib": before,
        "stages": stages,
        "wall_s": round(sum(of["wall_s"] for of in stages.values()), 2),
        "peak_mib": max(of["peak_mib"] for of in stages.values()),
    }
    print(json.dumps(figures))


def measured() -> Row:
    """The figures, from a process of its own with a home of its own."""
    print("a report at size ...", file=sys.stderr)
    return in_a_fresh_home(__name__)


if __name__ == "__main__":
    write() if sys.argv[1:] == ["write"] else measure()
