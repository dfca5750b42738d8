"""Starts of `vlm-loom ui` and `vlm-loom build`: new homes, side by side, after a kill, taken ports."""

import os
import signal
import socket
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from dagster_project.cli import main as loom
from tests.doubles.serving import free_ports
from tests.e2e.running import Run, Ui, answering, processes_of, serving, started

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800), pytest.mark.slow]

SHARDS = """
query {
  assetNodeOrError(assetKey: {path: ["ingest", "entries"]}) { ... on AssetNode { partitionKeys } }
}
"""


def refused(
    home: Path, port: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    """What `vlm-loom ui` says when it does not start."""
    monkeypatch.setenv("LOOM_WORKSPACE", str(home))
    monkeypatch.setenv("PORT", port)
    monkeypatch.setenv("DAGSTER_HOME", "set by the command")
    assert loom(["ui"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


def test_a_taken_port_is_one_sentence_and_nothing_is_started(loom_home, monkeypatch, capsys):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        said = refused(loom_home, str(port), monkeypatch, capsys)
    in_use = f"The port {port} of 127.0.0.1 cannot be used (Address already in use)"
    assert said == f"{in_use}: choose another with --port.\n"
    assert not (loom_home / "dagster" / "history").exists()


@pytest.mark.nightly
def test_of_two_first_starts_one_works_and_the_next_start_after_a_kill_works(
    loom_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    home, ports = tmp_path / "home", free_ports(2)
    with ExitStack() as stack:
        begun = {
            port: stack.enter_context(started("ui", home, tmp_path / f"{port}.log", PORT=str(port)))
            for port in ports
        }
        first = begun[ports[0]]
        first.wait_for(
            lambda: any(each.process.poll() is not None for each in begun.values()), running=False
        )
        port, ui = next((p, ui) for p, ui in begun.items() if ui.process.poll() is None)
        (second,) = (each for each in begun.values() if each is not ui)
        assert second.process.returncode == 2
        assert second.printed == (
            f"Workspace: {home}\n"
            f"The UI of {home} runs already on http://127.0.0.1:{port} (process {ui.process.pid}): "
            "open it there, or stop it first.\n"
        )
        served = answering(Ui(Run(home, ""), f"http://127.0.0.1:{port}", ui))
        assert served.ask(SHARDS)["assetNodeOrError"]["partitionKeys"] == ["sample-a", "sample-b"]
        # The port is this UI's for another home, too.
        said = refused(tmp_path / "other", str(port), monkeypatch, capsys)
        assert said.startswith(f"The port {port} ") and said.count("\n") == 1

        os.kill(ui.process.pid, signal.SIGKILL)
        ui.process.wait()
        ui.wait_for(lambda: not processes_of(home), running=False)

    with serving(home, tmp_path / "next.log", PORT=str(port)) as next_ui:
        ledger = next_ui.launch("ledger")
        assert next_ui.ended(ledger) == "SUCCESS"

        next_ui.started.process.send_signal(signal.SIGINT)
        assert next_ui.started.process.wait() == 0
    assert processes_of(home) == []


@pytest.mark.nightly
def test_runs_whose_ui_is_gone_with_them_leave_the_next_ui_free(copied, tmp_path):
    """As after a reboot: nobody is left to say that the runs have ended."""
    with serving(copied.home, tmp_path / "first.log") as ui:
        runs = [ui.launch(job) for job in ("build", "evaluate")]
        ui.started.wait_for(lambda: len(ui.runs(statuses=["STARTED"])) == len(runs))
        while processes := processes_of(copied.home):
            for process in processes:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
        ui.started.process.wait()

    with serving(copied.home, tmp_path / "second.log") as ui:
        assert "Ended, as their processes are gone: " in ui.started.printed
        assert {ui.ended(run) for run in runs} == {"FAILURE"}
        assert not ui.runs(statuses=["STARTED"])
        assert ui.ended(ui.launch("ledger")) == "SUCCESS"
