"""How the time and memory of each asset grow with the corpus, and with the models that are compared.

Run by `make bench NAME=growth`: the main job on 75, 300 and 1,200 drawings of a Debian package, which
it fetches once (`tests/strangers`), and on the 75 with 1, 4 and 16 models. An asset's time is that
between the first and the last event of its steps; its memory is the most that the job's process has
meanwhile. A slope is the exponent by which time grows (1: twice the work takes twice the time) from the
last size but one to the last, of assets that take a second at the last; the rows that they make grow by
slopes of their own. Prints tables, and the slopes over 1.15; the last line is all figures as one JSON
object.
"""

import json
import math
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path

import psutil
import yaml

from resources.files.home import REPO_ROOT
from tests.bench.measuring import Row, print_table
from tests.e2e.running import CLI, environment
from tests.strangers.corpora import write_corpus
from tests.strangers.recipes import OutOfReachError, drawings

TIMES = (1, 4, 16)
SMALLEST = 75
"""Entries of the smallest corpus."""
TOO_STEEP = 1.15
WORTH_A_SLOPE = 1.0
"""Seconds at the largest size."""
PROFILE = "growth"
COLUMNS = ("seconds", "mib", "rows")
_ROWS = re.compile(r'"value": (\d+)}, "label": "dagster/row_count"')


def main() -> int:
    """Print how assets grow; 1 where the drawings cannot be fetched."""
    figures: Row = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            entries, models = _demos(folder)
            _print_growth("entries", [SMALLEST * times for times in TIMES], entries, figures)
            _print_growth("models", TIMES, models, figures)
        except OutOfReachError as error:
            print(error, file=sys.stderr)
            return 1
    print(json.dumps(figures))
    return 0


def _print_growth(
    what: str, labels: Sequence[int], sizes: Iterable[Mapping[str, Row]], figures: Row
) -> None:
    rows = list(_growth(list(sizes), labels))
    figures_of = {
        row["asset"]: {"slope": row["slope"]}
        | {f"{n}: {name}": row[name][place] for name in COLUMNS for place, n in enumerate(labels)}
        for row in rows
    }
    columns = [f"{n}: {name}" for name in COLUMNS for n in labels]
    print_table(f"Growth with {what}", figures_of, ["slope", *columns])
    steep = [row["asset"] for row in rows if row["slope"] > TOO_STEEP]
    print(f"\nSlopes over {TOO_STEEP}: {', '.join(steep) or 'none'}.", flush=True)
    figures[what] = {"sizes": list(labels), "assets": rows, "too_steep": steep}


def _demos(folder: Path) -> tuple[Iterator[Mapping[str, Row]], Iterator[Mapping[str, Row]]]:
    """The main job by size of the corpus, and by number of models."""
    for times in TIMES:
        write_corpus(folder / f"corpus-{times}", drawings(SMALLEST * times))
    return (
        (_measured(folder, f"corpus-{times}", 5) for times in TIMES),
        (_measured(folder, "corpus-1", times) for times in TIMES),
    )


def _measured(folder: Path, corpus: str, n_models: int) -> Mapping[str, Row]:
    """What each asset took in the main job on a corpus, evaluated with so many models."""
    home = folder / "home"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    models = _models_file(folder, n_models)
    settings = {"LOOM_CORPUS": str(folder / corpus), "LOOM_MODELS": models, "LOOM_PROFILE": PROFILE}
    log, samples = home / "demo.log", []
    with (
        log.open("w") as file,
        subprocess.Popen(
            [sys.executable, "-m", CLI, "build"],
            cwd=REPO_ROOT,
            env=environment(home, **settings),
            stdout=file,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        job = psutil.Process(process.pid)
        while process.poll() is None:
            samples.append((time.time(), job.memory_info().rss / 2**20))
            time.sleep(0.05)
    if process.returncode:
        raise RuntimeError(f"The demo of {corpus} failed:\n{log.read_text()[-3000:]}")
    assets: dict[str, Row] = defaultdict(lambda: {"seconds": 0.0, "mib": 0.0, "rows": 0})
    for step, began, ended, n_rows in _steps(home / "dagster" / "history" / "runs"):
        asset = assets[step]
        asset["seconds"] += ended - began
        asset["rows"] += n_rows
        within = [mib for at, mib in samples if began - 0.1 <= at <= ended + 0.1]
        asset["mib"] = max([asset["mib"], *within])
    assets["(all)"] = {
        "seconds": samples[-1][0] - samples[0][0],
        "mib": max(mib for _, mib in samples),
        "rows": 0,
    }
    return assets


def _models_file(folder: Path, n_models: int) -> str:
    """Models of the mock server, each with a seed of its own: none has the answers of another."""
    kinds = ("careful", "careless", "always-a", "refuser", "rambler")
    models = {
        f"offline-{kinds[number % 5]}-{number}": {
            "provider": "mock",
            "model": f"offline-{kinds[number % 5]}",
            "seed": number,
        }
        for number in range(n_models)
    }
    path = folder / f"models-{n_models}.yaml"
    settings = {
        "profiles": {
            PROFILE: {"writer": "offline-writer", "judge": "offline-judge", "evaluate": [*models]}
        },
        "models": {
            "offline-writer": {"provider": "mock"},
            "offline-judge": {"provider": "mock"},
            **models,
        },
    }
    path.write_text(yaml.safe_dump(settings))
    return str(path)


def _steps(folder: Path) -> Iterator[tuple[str, float, float, int]]:
    """Steps of assets in the event logs of all runs, each with its first and its last moment and the
    rows that it reported."""
    for path in folder.glob("*.db"):
        if path.stem == "index":
            continue
        with closing(sqlite3.connect(path)) as log:
            began: dict[str, float] = {}
            n_rows = Counter[str]()
            events = log.execute(
                "SELECT dagster_event_type, step_key, timestamp, event FROM event_logs ORDER BY id"
            )
            for kind, step, at, event in events:
                moment = datetime.fromisoformat(f"{at}+00:00").timestamp()
                if kind == "STEP_START":
                    began[step] = moment
                elif kind == "ASSET_MATERIALIZATION" and (count := _ROWS.search(event)):
                    n_rows[step] = int(count[1])
                elif kind == "STEP_SUCCESS" and "__" in step:
                    name = step.replace("__", ".", 1)
                    yield name, began[step], moment, n_rows[step]


def _growth(sizes: Sequence[Mapping[str, Row]], labels: Sequence[int]) -> Iterator[Row]:
    """Assets that take long at the largest size, with time and memory at each, and the slope."""
    largest = sizes[-1]
    for asset in sorted(largest, key=lambda name: -largest[name]["seconds"]):
        if largest[asset]["seconds"] < WORTH_A_SLOPE:
            continue
        seconds = [size[asset]["seconds"] for size in sizes]
        slope = math.log(seconds[-1] / seconds[-2]) / math.log(labels[-1] / labels[-2])
        yield {
            "asset": asset,
            "seconds": [round(each, 2) for each in seconds],
            "mib": [round(size[asset]["mib"]) for size in sizes],
            "slope": round(slope, 2),
            "rows": [size[asset]["rows"] for size in sizes],
        }


if __name__ == "__main__":
    sys.exit(main())
