"""A run of the main job on a stranger's corpus with odd models, begun again once they are mended."""

import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from resources.files.home import REPO_ROOT
from resources.warehouse import Warehouse
from tests.e2e.running import CLI, environment
from tests.strangers.corpora import write_corpus
from tests.strangers.odd_models import odd_models
from tests.strangers.recipes import FOLDER, RECIPES

ODD_ROLES = {
    "stamps": {"writer": "talkative", "judge": "out_of_order"},
    "drawings": {"writer": "silent", "judge": "nested"},
}
"""What is odd of the writer and of the judge on each corpus; the candidates are odd on all."""
_FAILED = re.compile(
    r"^(?:\[.*?\] )?((?:CHECK )?FAILED .*|evaluate\.[a-z_]+ failed: .*)$", re.MULTILINE
)


@dataclass
class Outcome:
    """How the main job ended on a corpus, at its last try."""

    said: list[str] = field(default_factory=list)
    """What each try that failed says of it: its failures and checks, or its last line."""
    ended: str = "failed"
    counts: dict[str, int] = field(default_factory=dict)
    """Rows of tables in the home."""


def run(corpus: str) -> Outcome:
    """Build a corpus and run the main job on it, once more with sound models if it fails.

    Raises OutOfReachError. The home stays in `.strangers/homes`, to be looked at.
    """
    rows = RECIPES[corpus]()
    folder, home = FOLDER / "corpora" / corpus, FOLDER / "homes" / corpus
    for earlier in (folder, home):
        shutil.rmtree(earlier, ignore_errors=True)
    write_corpus(folder, rows)
    home.mkdir(parents=True)
    outcome = Outcome()
    with odd_models(ODD_ROLES[corpus]) as models:
        (home / "models.yaml").write_text(yaml.safe_dump(dict(models.registry)))
        for mended in (False, True):
            if mended:
                models.mend()
            code, printed = _build(home, folder)
            if code == 0:
                outcome.ended = "done"
                break
            outcome.said += _FAILED.findall(printed) or printed.strip().splitlines()[-1:]
            if "Traceback" in printed:
                outcome.ended = "a traceback"
                break
    warehouse = Warehouse(home / "warehouse.duckdb")
    tables = ("ingest.entries", "release.current", "evaluate.leaderboard", "evaluate.missing")
    outcome.counts = {table: warehouse.count(table) for table in tables}
    return outcome


def _build(home: Path, corpus: Path) -> tuple[int, str]:
    """The exit code of the main job, and what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", CLI, "build"],
        cwd=REPO_ROOT,
        env=environment(
            home,
            LOOM_CORPUS=str(corpus),
            LOOM_MODELS=str(home / "models.yaml"),
            LOOM_PROFILE="strangers",
        ),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    with (home / f"output-{time.time():.0f}.txt").open("w") as log:
        log.write(done.stdout)
    return done.returncode, done.stdout
