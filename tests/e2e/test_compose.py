"""The services of deploy/compose.yaml: their commands and healthchecks as written, on one Postgres."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from dagster_project.instance import POSTGRES
from resources.files.home import REPO_ROOT
from resources.web.alerts import WEBHOOK
from resources.web.ports import HOST
from tests.contracts.test_deploy import DEPLOY, IMAGE_ENV, OURS
from tests.doubles.odd_api import OddApi, answering, with_status
from tests.doubles.serving import free_ports
from tests.e2e.running import Run, Started, Ui

if TYPE_CHECKING:
    pass

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.nightly]
PATIENCE = 180.0


class Installation:
    """The services as processes of this machine: containers' names and ports are those of loopback."""

    def __init__(self, stores: str, home: Path, more: dict[str, str]):
        written = [service["command"][-1] for service in OURS.values()]
        written = sorted(port for port in written if port.isdigit())
        self._ports = dict(zip(written, free_ports(len(written)), strict=True))
        given = {
            name: re.sub(r"\$\{[^}]*\}", "", value)
            for name, value in OURS["webserver"]["environment"].items()
        }
        self._environment = {
            **{name: each for name, each in os.environ.items() if not name.startswith("LOOM_")},
            **{name: value for name, value in given.items() if value},
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "LOOM_STORES": stores,
            POSTGRES: f"postgresql+psycopg2{stores.removeprefix('postgresql')}"
            "?options=-csearch_path%3Ddagster",
            "LOOM_MODELS": str(REPO_ROOT / "models.yaml"),
            "LOOM_WORKSPACE": str(home),
            "DAGSTER_HOME": IMAGE_ENV["DAGSTER_HOME"].replace(
                IMAGE_ENV["LOOM_WORKSPACE"], str(home)
            ),
            "LOOM_LISTEN": HOST,
            "LOOM_FILES": str(home.parent / "files"),
            **more,
        }
        self._home = home
        workspace = self._here((DEPLOY / "workspace.yaml").read_text())
        self._workspace = home.parent / "workspace.yaml"
        self._workspace.write_text(workspace.replace("host: code", f"host: {HOST}"))

    def _here(self, text: str) -> str:
        """What is written, with the ports of this installation."""
        for written, port in self._ports.items():
            text = re.sub(rf"\b{written}\b", str(port), text)
        return text.replace("0.0.0.0", HOST)

    def begin(self, name: str) -> "subprocess.Popen[bytes]":
        command = ["vlm-loom", *map(self._here, OURS[name]["command"])]
        mounted = "/etc/loom/workspace.yaml"
        command = [str(self._workspace) if word == mounted else word for word in command]
        with (self._home.parent / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                command, env=self._environment, cwd="/", stdout=log, stderr=subprocess.STDOUT
            )

    def wait_until_healthy(self, name: str) -> None:
        kind, *command = OURS[name]["healthcheck"]["test"]
        assert kind == "CMD"
        deadline = time.monotonic() + PATIENCE
        while True:
            check = [self._here(word) for word in command]
            done = subprocess.run(check, env=self._environment, cwd="/", capture_output=True)
            if done.returncode == 0:
                return
            log = (self._home.parent / f"{name}.log").read_text()
            assert time.monotonic() < deadline, f"{done.stderr.decode()}\n{log}"
            time.sleep(1)

    def ui(self, process: "subprocess.Popen[bytes]") -> Ui:
        """The webserver, which this process is."""
        started = Started(process, self._home.parent / "webserver.log")
        return Ui(Run(self._home, ""), f"http://{HOST}:{self._ports['3000']}", started)


def _end(processes: Sequence["subprocess.Popen[bytes]"]) -> None:
    for process in processes:
        process.send_signal(signal.SIGTERM)
    for process in processes:
        try:
            process.wait(70)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.fixture
def webhook() -> Iterator[OddApi]:
    with answering(with_status(200)) as server:
        yield server


def test_services_are_healthy_run_jobs_alert_once_and_end_when_told(postgres, tmp_path, webhook):
    stores = postgres.database()
    more = {WEBHOOK: webhook.url, "LOOM_UI": "https://loom.example.org"}
    installation = Installation(stores, tmp_path / "home", more)
    with ExitStack() as stack:
        processes: list[subprocess.Popen[bytes]] = []
        stack.callback(_end, processes)
        # In the order in which one waits for another.
        for names in (["code", "mock"], ["webserver", "daemon", "review"]):
            processes += map(installation.begin, names)
            for name in names:
                installation.wait_until_healthy(name)
        ui = installation.ui(processes[2])
        # There is nothing to evaluate on.
        succeeded, failed = (ui.launch(job) for job in ("ledger", "evaluate"))
        assert (ui.ended(succeeded), ui.ended(failed)) == ("SUCCESS", "FAILURE")
        deadline = time.monotonic() + PATIENCE
        while not webhook.received and time.monotonic() < deadline:
            time.sleep(0.5)
        time.sleep(20)
        (told,) = webhook.received
        first, *_, last = told.json["text"].splitlines()
        assert first == "vlm-loom: evaluate failed"
        assert last == f"https://loom.example.org/runs/{failed}"
    # The server of the review app ends its work, and then by the signal.
    assert {process.returncode for process in processes} <= {0, -signal.SIGTERM}
    with psycopg.connect(stores) as connection:
        found = connection.execute("SELECT run_id, status FROM dagster.runs").fetchall()
    assert dict(found) == {succeeded: "SUCCESS", failed: "FAILURE"}
