"""A run of the main job on a stranger's corpus with odd models, and what is done when it ends early."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import yaml

from dagster_project.cli import NAME
from methods.markdown import cell, table
from resources.files.home import REPO_ROOT
from resources.warehouse import Warehouse
from tests.command_lines import fault_of
from tests.e2e.running import CLI, environment
from tests.strangers.corpora import write_corpus
from tests.strangers.odd_models import OddModels, odd_models
from tests.strangers.recipes import FOLDER, RECIPES

ODD_ROLES: Mapping[str, Mapping[str, str]] = {
    "stamps": {"writer": "talkative", "judge": "out_of_order"},
    "flashcards": {"writer": "silent", "judge": "nested"},
    "instruments": {"writer": "endless", "judge": "renamed"},
    "scripts": {"judge": "half_talkative"},
}
"""What is odd of the writer and of the judge on each corpus; the candidates are odd on all."""
MOST_TRIES = 4
"""Times that the main job is begun: a person tires of advice that leads nowhere."""
_FAILED = re.compile(r"^\[.*?\] (FAILED .*)$", re.MULTILINE)
_NOT_MADE = re.compile(r"^(evaluate\.[a-z_]+ failed: .*)$", re.MULTILINE)
_CHECK_FAILED = re.compile(r"^\[.*?\] (CHECK FAILED .*)$", re.MULTILINE)
_SHOWING = {"ui", "calls", "review", "sql", "build", "demo"}
"""Commands that show something, and the main job: no advice to follow."""
_COMMAND = re.compile(rf"{NAME} ([^`'()\n]+)")
_AGAIN = re.compile(r"\bagain\b")
_MEND = re.compile(r"the model's server|its entry in models\.yaml")


@dataclass(frozen=True)
class Advice:
    """What a sentence tells its reader to do, in the order in which it is done."""

    mend_models: bool
    commands: tuple[str, ...]
    again: bool

    def __bool__(self) -> bool:
        return self.mend_models or bool(self.commands) or self.again


def advice_of(said: str) -> Advice:
    """The advice in the sentences that a run ended with."""
    commands = tuple(dict.fromkeys(_commands(said)))
    return Advice(bool(_MEND.search(said)), commands, bool(_AGAIN.search(said)))


def _commands(said: str) -> Iterator[str]:
    """The arguments of the commands in sentences, up to the word that goes on with the sentence."""
    for found in _COMMAND.findall(said):
        words = [word.rstrip(".,;:") for word in found.split()]
        starts = (" ".join(words[:n]) for n in range(len(words), 0, -1))
        line = next((start for start in starts if fault_of(start) is None), "")
        if " " in line and line.split()[0] not in _SHOWING:
            yield line


def sentences(output: str) -> str:
    """What a run that failed says of it: its failures, or else the checks that failed (some only
    warn), or else its last line.
    """
    traceback = re.findall("^Traceback.*", output, re.MULTILINE)
    failed = [*_FAILED.findall(output), *_NOT_MADE.findall(output)]
    said = [*failed, *traceback] or _CHECK_FAILED.findall(output)
    return "\n".join(said) or output.strip().rpartition("\n")[2]


@dataclass
class Outcome:
    """A run on a corpus, from its first begin to the end of what was advised."""

    corpus: str
    odd: str
    n_entries: int = 0
    said: list[str] = field(default_factory=list)
    """The sentences of each time that the job failed."""
    done: list[str] = field(default_factory=list)
    """What the advice had the reader do."""
    n_releases: int = 0
    n_leaderboards: int = 0
    n_reports: int = 0
    not_taken: list[str] = field(default_factory=list)
    """Models whose results were not taken, with the stage."""
    seconds: float = 0.0
    ended: str = ""


def run(corpus: str) -> Outcome:
    """Build a corpus and run the main job on it until it is done or gives no advice that helps.

    Raises OutOfReachError. The home stays in `.strangers/homes`, to be looked at.
    """
    rows = RECIPES[corpus]()
    folder, home = FOLDER / "corpora" / corpus, FOLDER / "homes" / corpus
    for earlier in (folder, home):
        shutil.rmtree(earlier, ignore_errors=True)
    write_corpus(folder, rows)
    home.mkdir(parents=True)
    outcome = Outcome(corpus, ", ".join(f"{r}: {o}" for r, o in ODD_ROLES[corpus].items()))
    started = time.monotonic()
    with odd_models(ODD_ROLES[corpus]) as models:
        registry = home / "models.yaml"
        registry.write_text(yaml.safe_dump(dict(models.registry)))
        settings = {
            "LOOM_CORPUS": str(folder),
            "LOOM_MODELS": str(registry),
            "LOOM_PROFILE": "strangers",
        }
        _until_done(outcome, home, settings, models)
    outcome.seconds = round(time.monotonic() - started)
    _count(outcome, home)
    results = FOLDER / "results"
    results.mkdir(exist_ok=True)
    (results / f"{corpus}.json").write_text(json.dumps(asdict(outcome), indent=1))
    return outcome


def _loom(words: Sequence[str], home: Path, settings: Mapping[str, str], log: Path) -> int:
    """The exit code of a command, which prints at the end of a file."""
    with log.open("a") as output:
        return subprocess.run(
            [sys.executable, "-m", CLI, *words],
            cwd=REPO_ROOT,
            env=environment(home, **settings),
            stdout=output,
            stderr=subprocess.STDOUT,
        ).returncode


def _until_done(
    outcome: Outcome, home: Path, settings: Mapping[str, str], models: OddModels
) -> None:
    for n_try in range(MOST_TRIES):
        log = home / f"output-{n_try}.txt"
        code = _loom(["build"], home, settings, log)
        if code == 0:
            outcome.ended = "done"
            return
        said = sentences(log.read_text(errors="replace"))
        outcome.said.append(said)
        if "Traceback" in said:
            outcome.ended = "a traceback"
            return
        if not (advice := advice_of(said)):
            outcome.ended = "no advice"
            return
        _follow(advice, outcome, home, settings, models)
    outcome.ended = "the advice did not help"


def _follow(
    advice: Advice, outcome: Outcome, home: Path, settings: Mapping[str, str], models: OddModels
) -> None:
    models.an_hour_passes()
    if advice.mend_models:
        for role in ODD_ROLES[outcome.corpus]:
            models.mend(role)
            outcome.done.append(f"mended the {role}")
    for line in advice.commands:
        failed = _loom(shlex.split(line), home, settings, home / "commands.txt")
        outcome.done.append(f"`{NAME} {line}`{' (it failed)' if failed else ''}")
    outcome.done.append("ran it again")


def _count(outcome: Outcome, home: Path) -> None:
    """What is in the home in the end."""
    warehouse = Warehouse(home / "warehouse.duckdb")

    def column(sql: str) -> list[str]:
        return [str(next(iter(row.values()))) for row in warehouse.sql(sql, {}).to_pylist()]

    outcome.n_entries = len(column("SELECT entry_id FROM ingest.entries"))
    outcome.n_releases = len(column("SELECT release_id FROM release.current"))
    boards = column("SELECT DISTINCT release || ' by ' || judge FROM evaluate.leaderboard")
    outcome.n_leaderboards = len(boards)
    reports = column(
        "SELECT path FROM evaluate.reports JOIN release.current USING (release_id) WHERE n_models > 0"
    )
    outcome.n_reports = sum((home / path).is_file() for path in reports)
    outcome.not_taken = column(
        "SELECT DISTINCT model || ' in ' || stage FROM evaluate.missing "
        "JOIN release.current USING (release_id) ORDER BY 1"
    )


# --- The table of the page -----------------------------------------------------------------------


def results() -> list[Outcome]:
    """The last run on each corpus, in the order of the recipes."""
    files = (FOLDER / "results" / f"{corpus}.json" for corpus in RECIPES)
    return [Outcome(**json.loads(file.read_text())) for file in files if file.is_file()]


def runs_table(outcomes: list[Outcome]) -> str:
    """A line for each run."""
    rows = [_cells(outcome) for outcome in outcomes]
    return "\n".join(table(list(rows[0]), [list(row.values()) for row in rows])) if rows else ""


def _cells(outcome: Outcome) -> dict[str, str]:
    return {
        "corpus": outcome.corpus,
        "entries": str(outcome.n_entries),
        "odd, beside the candidates": outcome.odd.replace("_", " "),
        "it ended early with": "; ".join(_for_a_cell(said) for said in outcome.said) or "-",
        "then": ", ".join(outcome.done) or "-",
        "end": outcome.ended,
        "releases": str(outcome.n_releases),
        "leaderboards": str(outcome.n_leaderboards),
        "reports": str(outcome.n_reports),
        "results not taken": ", ".join(outcome.not_taken) or "-",
        "minutes": f"{outcome.seconds / 60:.0f}",
    }


def _for_a_cell(said: str) -> str:
    first = cell(said.splitlines()[0])
    return first if len(first) <= 300 else f"{first[:300]}…"
