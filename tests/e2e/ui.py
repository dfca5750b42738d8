"""The UI for tests: web server, daemon and code location on one home, as `vlm-loom ui` starts them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from resources.files.home import REPO_ROOT
from tests.doubles.serving import free_ports
from tests.e2e.running import PATIENCE as PATIENCE_FOR_RUNS
from tests.e2e.running import Run, Started, started

PATIENCE = 90_000
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
        """Launch a job as the Launchpad does; the id of the run."""
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
        """Runs that the filter wants, the newest first."""
        return self.ask(RUNS, filter=wanted)["runsOrError"]["results"]

    def status(self, run_id: str) -> str:
        (found,) = self.runs(runIds=[run_id])
        return str(found["status"])

    def ended(self, run_id: str, seconds: float = PATIENCE_FOR_RUNS) -> str:
        """How a run ended, once it has."""
        self.until(lambda: self.status(run_id) in ENDED, seconds)
        return self.status(run_id)

    def until(self, condition: Callable[[], bool], seconds: float = PATIENCE_FOR_RUNS) -> None:
        """Wait until the UI shows what it should."""
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
    """When each asset was materialized, in order."""
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
