"""Starts of `make ui` and `make demo`: on new homes, side by side, on taken ports."""

import os
import shutil
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from resources.home import REPO_ROOT
from tests.e2e.running import command
from tests.e2e.starting import free_port, processes_of, started
from tests.e2e.ui import Ui, serving

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800), pytest.mark.slow]

SHARDS = """
query {
  assetNodeOrError(assetKey: {path: ["ingest", "entries"]}) { ... on AssetNode { partitionKeys } }
}
"""
VERSIONS = """
query ($asset: AssetKeyInput!) { assetNodeOrError(assetKey: $asset) { ... on AssetNode { opVersion } } }
"""
LOADS = """
query { workspaceOrError { ... on Workspace { locationEntries {
  locationOrLoadError { __typename ... on PythonError { message } } } } } }
"""
COPIED = ("assets", "dagster_project", "methods", "resources", "review", "sql")


def version(ui: Ui, asset: str) -> str:
    found = ui.ask(VERSIONS, asset={"path": asset.split("/")})["assetNodeOrError"]
    text: str = found["opVersion"]
    return text


@pytest.mark.slow
@pytest.mark.parametrize("pair", ["demo demo", "demo ui", "ui ui"])
def test_two_first_starts_on_a_new_home_work_or_the_second_is_refused_in_one_sentence(
    pair: str, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    with ExitStack() as stack:
        begun = [
            stack.enter_context(
                started(
                    f"dagster_project.{name}",
                    home,
                    tmp_path / f"{place}.log",
                    PORT=str(free_port()),
                )
            )
            for place, name in enumerate(pair.split())
        ]
        if pair == "demo ui":
            demo, ui = begun
            demo.wait_for(lambda: demo.process.poll() is not None, running=False)
            assert demo.process.returncode == 0, demo.printed[-3000:]
            ui.wait_for(lambda: "Serving dagster-webserver" in ui.printed)
            return
        first = begun[0]
        first.wait_for(
            lambda: any(each.process.poll() is not None for each in begun), running=False
        )
        (refused,) = (each for each in begun if each.process.poll() is not None)
        (works,) = (each for each in begun if each is not refused)
        assert refused.process.returncode == 2
        assert refused.printed.count("\n") == 1, refused.printed
        if pair == "ui ui":
            assert refused.printed.startswith(f"The UI of {home} runs already on http://127.0.0.1:")
            works.wait_for(lambda: "Serving dagster-webserver" in works.printed)
        else:
            assert refused.printed == (
                f"Another make demo is at work on {home} (process {works.process.pid}): wait until it "
                "has ended.\n"
            )
            works.wait_for(lambda: works.process.poll() is not None, running=False)
            assert works.process.returncode == 0, works.printed[-3000:]


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def test_a_taken_port_is_one_sentence_and_nothing_is_started(
    taken_port: int, tmp_path: Path
) -> None:
    done = command("dagster_project.ui", tmp_path / "home", PORT=str(taken_port))

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"The port {taken_port} of 127.0.0.1 cannot be used (Address already in use): set PORT to "
        "another.\n"
    )
    assert not (tmp_path / "home" / "dagster" / "history").exists()


@pytest.mark.parametrize("port", ["http", "0", "65536", "-1"])
def test_what_is_no_port_is_one_sentence(port: str, tmp_path: Path) -> None:
    done = command("dagster_project.ui", tmp_path / "home", PORT=port)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"PORT={port} is no port: set it to a number from 1 to 65535.\n"


def test_a_ui_has_the_shards_refuses_another_sees_changed_settings_and_leaves_nothing_behind(
    tmp_path: Path,
) -> None:
    home, port = tmp_path / "home", str(free_port())
    with serving(home, tmp_path / "ui.log", PORT=port) as ui:
        process = ui.started.process
        shards = ui.ask(SHARDS)["assetNodeOrError"]["partitionKeys"]
        assert shards == ["sample-a", "sample-b"]

        second = command("dagster_project.ui", home, PORT=str(free_port()))
        assert (second.returncode, second.stdout) == (2, "")
        assert second.stderr == (
            f"The UI of {home} runs already on {ui.address} (process {process.pid}): open it there, "
            "or stop it first.\n"
        )
        # The port is this UI's for another home, too.
        other = command("dagster_project.ui", tmp_path / "other", PORT=port)
        assert (other.returncode, other.stderr.count("\n")) == (2, 1)

        before = version(ui, "cluster/clusters"), version(ui, "cluster/embeddings")
        (home / "settings.yaml").write_text("cluster: {clusters: {tau: 0.6}}\n")
        ui.started.wait_for(lambda: "Definitions are loaded again" in ui.started.printed)
        assert version(ui, "cluster/clusters") != before[0]
        assert version(ui, "cluster/embeddings") == before[1]

        process.send_signal(signal.SIGINT)
        assert process.wait() == 0
    assert processes_of(home) == []

    # A lock of a process that was killed does not count.
    with serving(home, tmp_path / "killed.log", PORT=port) as ui:
        os.kill(ui.started.process.pid, signal.SIGKILL)
        ui.started.process.wait()
        ui.started.wait_for(lambda: not processes_of(home), running=False)
    with serving(home, tmp_path / "next.log", PORT=port):
        pass


def test_definitions_broken_by_an_edit_are_shown_and_loaded_again_after_the_next(
    tmp_path: Path,
) -> None:
    root = tmp_path / "checkout"
    for name in COPIED:
        shutil.copytree(REPO_ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("models.yaml", "workspace.yaml"):
        shutil.copy(REPO_ROOT / name, root)
    schema = root / "sql" / "dialogue" / "schema.sql"
    good = schema.read_text()

    def loaded() -> str:
        (entry,) = ui.ask(LOADS)["workspaceOrError"]["locationEntries"]
        kind: str = entry["locationOrLoadError"]["__typename"]
        return kind

    with serving(tmp_path / "home", tmp_path / "ui.log", root) as ui:
        assert loaded() == "RepositoryLocation"
        schema.write_text("CREATE TABLE broken (")
        ui.started.wait_for(lambda: "Definitions do not load" in ui.started.printed)
        assert loaded() == "PythonError"

        schema.write_text(good)
        ui.started.wait_for(lambda: "Definitions are loaded again" in ui.started.printed)
        assert loaded() == "RepositoryLocation"
