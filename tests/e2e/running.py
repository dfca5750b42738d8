"""Running commands and the UI as a user does, and looking at what they wrote."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import httpx2
import pytest

from resources.files.home import REPO_ROOT
from resources.llm.ledger import Ledger
from resources.warehouse import Warehouse
from tests.doubles.serving import free_ports

CLI = "dagster_project.cli"
"""The module of `vlm-loom`."""

SETTINGS = """\
cluster: {image_sets: {instruction_sets: 4}}
dialogue: {questions: {per_image: 1, per_set: 3}, instructions: {n_instructions: 3}}
rewrite: {seeds: {n_seeds: 2}}
choice: {items: {n_items: 6}, mmiu_items: {n_derived: 8, unanswerable_per_task: 1}}
evaluate:
  extraction_quality: {n_resamples: 100}
  judge_quality: {n_resamples: 100}
  smallest_subsets: {n_resamples: 20}
"""
"""Smaller than those of the sample corpus: every step has something to do."""


@dataclass
class Run:
    """One finished `vlm-loom demo`: where it wrote, what it printed."""

    home: Path
    output: str

    @property
    def warehouse(self) -> Warehouse:
        return Warehouse(self.home / "warehouse.duckdb")

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.home / "ledger.sqlite")


@contextmanager
def instance_of(home: Path) -> Iterator[dg.DagsterInstance]:
    """The Dagster instance of a home, for definitions that are loaded meanwhile."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("LOOM_WORKSPACE", str(home))
        # Its settings name their databases by it.
        monkeypatch.setenv("DAGSTER_HOME", str(home / "dagster"))
        with dg.DagsterInstance.from_config(str(home / "dagster")) as instance:
            yield instance


def environment(home: Path, **settings: str) -> dict[str, str]:
    """The environment of a command on `home`, without the caller's own settings."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("LOOM_", "OPENAI_"))}
    return {**clean, "LOOM_WORKSPACE": str(home), "HF_HUB_OFFLINE": "1", **settings}


def demo(home: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    return command(home, "demo", **settings)


def small_demo(home: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """The same on a new home with `SETTINGS`."""
    home.mkdir()
    (home / "settings.yaml").write_text(SETTINGS)
    return demo(home, **settings)


def command(home: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", CLI, *arguments],
        cwd=REPO_ROOT,
        env=environment(home, **settings),
        capture_output=True,
        text=True,
        timeout=900,
    )


def leaderboards(printed: str) -> str:
    return printed[printed.index("Leaderboard (") : printed.rindex("Done in ")]


# --- In the background ---------------------------------------------------------------------------

PATIENCE = 900.0
"""Seconds after which a test gives up waiting: what it waits for takes a fraction of that."""


@dataclass
class Started:
    """A command in the background; what it prints is in `log`."""

    process: subprocess.Popen[bytes]
    log: Path

    @property
    def printed(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_for(
        self, what: Callable[[], Any], seconds: float = PATIENCE, *, running: bool = True
    ) -> Any:
        """What `what` returns as soon as that is anything; the command must go on until then."""
        deadline = time.monotonic() + seconds
        while not (found := what()):
            assert not running or self.process.poll() is None, self.printed[-3000:]
            assert time.monotonic() < deadline, self.printed[-3000:]
            time.sleep(0.5)
        return found


@contextmanager
def started(
    name: str, home: Path, log: Path, root: Path = REPO_ROOT, **settings: str
) -> Iterator[Started]:
    """`vlm-loom` with one command, which is stopped at the end of the block."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", CLI, name],
            cwd=root,
            env=environment(home, PYTHONPATH=str(root), **settings),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield Started(process, log)
    finally:
        process.terminate()
        try:
            process.wait(timeout=300)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def processes_of(home: Path) -> list[int]:
    """The processes that were started with this home, by their numbers."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        # It may end while it is looked at; the environment of one that has ended cannot be read.
        with suppress(OSError):
            if f"LOOM_WORKSPACE={home}\0".encode() in (each / "environ").read_bytes():
                found.append(int(each.name))
    return found


PAGE_PATIENCE = 90_000
"""Milliseconds a page may take on a busy machine of two cores."""

ENDED = ("SUCCESS", "FAILURE", "CANCELED")
LAUNCH_RUN = """
mutation ($params: ExecutionParams!) {
  launchRun(executionParams: $params) {
    __typename
    ... on LaunchRunSuccess { run { runId } }
    ... on RunConfigValidationInvalid { errors { message } }
    ... on PythonError { message }
  }
}
"""
RUNS = """
query ($filter: RunsFilter!) {
  runsOrError(filter: $filter) {
    ... on Runs { results { id jobName status startTime endTime tags { key value } } }
  }
}
"""
BACKFILL_ENDED = ("COMPLETED_SUCCESS", "COMPLETED_FAILED", "FAILED", "CANCELED")
GRAPH = """
{ assetNodes { assetKey { path } isMaterializable dependencyKeys { path }
  assetMaterializations { runId timestamp partition } } }
"""
BACKFILLS = "{ partitionBackfillsOrError { ... on PartitionBackfills { results { id status } } } }"


@dataclass
class Ui:
    """One UI that runs: the home it shows, its address, its process."""

    run: Run
    address: str
    started: Started

    def ask(self, query: str, **variables: object) -> dict[str, Any]:
        """The answer to a GraphQL request, which must have no errors."""
        answer = httpx2.post(
            f"{self.address}/graphql", json={"query": query, "variables": variables}, timeout=120
        ).json()
        assert "errors" not in answer, answer
        return answer["data"]

    def launch(self, job: str) -> str:
        selector = {
            "repositoryName": "__repository__",
            "repositoryLocationName": "vlm-loom",
            "jobName": job,
        }
        params = {"selector": selector, "runConfigData": {}, "mode": "default"}
        launched = self.ask(LAUNCH_RUN, params=params)["launchRun"]
        assert "run" in launched, launched
        return str(launched["run"]["runId"])

    def runs(self, **wanted: object) -> list[dict[str, Any]]:
        return self.ask(RUNS, filter=wanted)["runsOrError"]["results"]

    def status(self, run_id: str) -> str:
        (found,) = self.runs(runIds=[run_id])
        return str(found["status"])

    def ended(self, run_id: str, seconds: float = PATIENCE) -> str:
        self.until(lambda: self.status(run_id) in ENDED, seconds)
        return self.status(run_id)

    def until(self, condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
        self.started.wait_for(condition, seconds)


@contextmanager
def serving(
    home: Path, log: Path | None = None, root: Path = REPO_ROOT, **settings: str
) -> Iterator[Ui]:
    """The UI on `home`, once it answers, until the end of the block; no process of it goes on after."""
    home.mkdir(parents=True, exist_ok=True)
    port = settings.setdefault("PORT", str(*free_ports(1)))
    address = f"http://127.0.0.1:{port}"
    with started("ui", home, log or home / "ui.log", root, **settings) as begun:
        yield answering(Ui(Run(home, ""), address, begun))


def answering(ui: Ui) -> Ui:
    """A UI that was started, once it answers."""

    def answers() -> bool:
        with suppress(httpx2.HTTPError):
            return httpx2.get(f"{ui.address}/server_info", timeout=30).status_code == 200
        return False

    ui.until(answers)
    return ui


def finished(ui: Ui, n: int) -> str:
    """Wait until `n` backfills were launched and have succeeded; the id of the newest."""

    def backfills() -> dict[str, str]:
        found = ui.ask(BACKFILLS)["partitionBackfillsOrError"]["results"]
        return {str(each["id"]): str(each["status"]) for each in found}

    def have_ended() -> bool:
        ended = [status for status in backfills().values() if status in BACKFILL_ENDED]
        return len(ended) == n

    ui.until(have_ended)
    assert set(backfills().values()) == {"COMPLETED_SUCCESS"}, ui.started.printed[-3000:]
    return next(iter(backfills()))


def nodes(ui: Ui) -> dict[str, dict]:
    return {"/".join(node["assetKey"]["path"]): node for node in ui.ask(GRAPH)["assetNodes"]}


def executed(ui: Ui) -> dict[str, list[float]]:
    return {
        asset: sorted(float(each["timestamp"]) for each in node["assetMaterializations"])
        for asset, node in nodes(ui).items()
        if node["isMaterializable"]
    }


def in_order(ui: Ui, made: dict[str, list[float]]) -> bool:
    """Whether nothing was made before the last of what it depends on."""
    return all(
        made[asset][0] >= made[other][-1]
        for asset, node in nodes(ui).items()
        if asset in made
        for other in ("/".join(key["path"]) for key in node["dependencyKeys"])
        # A shard's pages follow that shard's rows, not those of all shards.
        if other in made and not asset.startswith("ingest/")
    )
