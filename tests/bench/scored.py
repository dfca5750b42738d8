"""What scores cost at size: 11,698 items and 20 models, from observations that are there.

A part of `make bench NAME=evaluate`: as many items as MMIU has, in 52 tasks, right or wrong by each
model.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from resources.files.home import REPO_ROOT
from tests.bench.measuring import Row, chance, in_a_fresh_home, peak_mib, stage

N_ITEMS, N_MODELS, N_TASKS, N_RELATIONS = 11_698, 20, 52, 7
RELEASE = "mmiu-test"


def write() -> None:
    """What is scored, in the tables."""
    from assets.common.tables import rows_to_arrow
    from assets.release.published import write_imported
    from methods.evaluation.items import Item, Turn
    from methods.release import Edition
    from resources.files import home
    from resources.warehouse import TableWrite, Warehouse

    # Comparisons read which models are of one family.
    registry = {"profiles": {"p": {"writer": "w", "judge": "w", "evaluate": ["w"]}}}
    models = {"models": {"w": {"provider": "mock"}}}
    Path(os.environ["LOOM_MODELS"]).write_text(json.dumps({**registry, **models}))
    warehouse = Warehouse(home.warehouse_path())
    items = [
        Item(
            f"item-{number:05}",
            (Turn(1, f"<ImageHere>Item {number}?", (1,), {"key": "A"}),),
            ("0" * 64,),
            ("one", "two", "three", "four"),
            labels={"task": str(number % N_TASKS), "relation": str(number % N_RELATIONS)},
        )
        for number in range(N_ITEMS)
    ]
    edition = Edition("mmiu", "test", None, "imported")
    release_id = write_imported(warehouse, RELEASE, edition, items, {"file": "bench"})
    for number in range(N_MODELS):
        made = {"evaluate.answers": [], "evaluate.observations": []}
        here = {"release_id": release_id, "model": f"m{number:02}"}
        for item in items:
            for table, row in _rows(item.item_id, here["model"], number / N_MODELS):
                made[table].append({"benchmark": "mmiu", **here, **row})
        warehouse.replace_all(
            [TableWrite(table, rows_to_arrow(table, rows), here) for table, rows in made.items()]
        )


def measure() -> None:
    """Here and now: prints figures as JSON. What is scored is written by a process of its own."""
    import dagster as dg

    from assets.evaluate import comparisons, scores
    from methods.benchmarks import BENCHMARKS
    from resources.files import home
    from resources.warehouse import Warehouse

    subprocess.run([sys.executable, "-m", __spec__.name, "write"], cwd=REPO_ROOT, check=True)
    warehouse = Warehouse(home.warehouse_path())
    before, stages = peak_mib(), dict[str, Row]()
    given = {"warehouse": warehouse, "benchmarks": BENCHMARKS}
    with dg.DagsterInstance.ephemeral() as instance:
        for asset in (scores, comparisons):
            with stage(stages, asset.key.path[-1]):
                assert dg.materialize([asset], resources=given, instance=instance).success
    figures = {
        "questions": N_ITEMS,
        "models": N_MODELS,
        "observations": warehouse.count("evaluate.observations"),
        "imports_mib": before,
        "stages": stages,
        "wall_s": round(sum(of["wall_s"] for of in stages.values()), 2),
        "peak_mib": max(of["peak_mib"] for of in stages.values()),
    }
    print(json.dumps(figures))


def _rows(item_id: str, model: str, skill: float) -> list[tuple[str, Row]]:
    """The answer of a model to an item, and what was observed of it."""
    of: dict[str, Any] = {"item_id": item_id, "trial": "plain", "turn": 1}
    answer = {"provider": "openai", "status": "answered", "answer": "A", "prompt_version": "x@1"}
    judged = {
        "judge": "rule",
        "judge_version": "v@1",
        "replicate": 0,
        "part": "",
        "status": "judged",
        "value": float(chance(item_id, model) < skill),
    }
    return [
        ("evaluate.answers", {**of, **answer}),
        *(
            ("evaluate.observations", {**of, **judged, "metric": metric})
            for metric in ("right", "right (compat)")
        ),
    ]


def measured() -> Row:
    """The figures, from a process of its own with a home of its own."""
    print("scores at size ...", file=sys.stderr)
    return in_a_fresh_home(__name__)


if __name__ == "__main__":
    write() if sys.argv[1:] == ["write"] else measure()
