"""Which files definitions depend on, and when they are loaded again: also from a killed code server."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dagster_project import reloading
from dagster_project.reloading import files_state, reload_when_changed
from resources.files.atomic import write_atomically
from resources.files.home import REPO_ROOT
from resources.settings.extras import folders


@pytest.fixture
def own_files(loom_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Files of the user's own that definitions depend on; they are there, but for the settings."""
    files = {
        "settings": loom_home / "settings.yaml",
        "models": tmp_path / "models.yaml",
        "prompt": tmp_path / "prompts" / "mmdu" / "judge.md",
    }
    for path in files.values():
        path.parent.mkdir(parents=True, exist_ok=True)
    files["models"].write_text("models: {}")
    files["prompt"].write_text("Judge.")
    monkeypatch.setenv("LOOM_MODELS", str(files["models"]))
    monkeypatch.setenv("LOOM_PROMPTS", str(tmp_path / "prompts"))
    return files


NOT_LOADED = "Definitions do not load, as the UI shows"


class Stopped(Exception):
    """Ends the watch of a test."""


@contextmanager
def watching(
    monkeypatch: pytest.MonkeyPatch,
    problem: str | None = None,
    answers: Callable[[], bool] = lambda: True,
) -> Iterator[list[str | None]]:
    """The outcomes of loading the definitions again, while the block is watched."""
    monkeypatch.setattr(reloading, "INTERVAL", 0.01)
    loads: list[str | None] = []
    looked, loaded, stop = threading.Event(), threading.Event(), threading.Event()

    def state() -> reloading.State:
        if stop.is_set():
            raise Stopped
        found = files_state()
        looked.set()
        return found

    def reload() -> str | None:
        loads.append(problem)
        loaded.set()
        return problem

    def watch() -> None:
        with pytest.raises(Stopped):
            reload_when_changed(reload, answers)

    monkeypatch.setattr(reloading, "files_state", state)
    thread = threading.Thread(target=watch)
    thread.start()
    assert looked.wait(60)
    try:
        yield loads
        assert loaded.wait(60)
    finally:
        stop.set()
        thread.join()


def test_definitions_depend_on_settings_models_prompts_and_sql(own_files: dict[str, Path]) -> None:
    state = files_state()
    assert own_files["settings"] not in state
    assert {own_files["models"], own_files["prompt"]} <= state.keys()
    assert REPO_ROOT / "methods" / "mmdu" / "prompts" / "judge.md" in state
    assert REPO_ROOT / "sql" / "dialogue" / "schema.sql" in state
    assert state.keys() >= {path for each in folders("sql") for path in each.rglob("*.sql")}


@pytest.mark.parametrize(
    ("name", "problem", "said"),
    [
        ("settings", None, "Definitions are loaded again"),
        ("prompt", None, "Definitions are loaded again"),
        # Not tried again until the next change.
        ("prompt", "no such column\nin line 3\n", f"{NOT_LOADED} (no such column)"),
    ],
)
def test_a_written_or_removed_file_is_loaded_once(
    own_files: dict[str, Path], monkeypatch, capsys, name: str, problem: str | None, said: str
) -> None:
    with watching(monkeypatch, problem) as loads:
        if name == "settings" or problem:
            write_atomically(own_files[name], b"something of another size")
        else:
            own_files[name].unlink()
    assert loads == [problem]
    assert capsys.readouterr().out == f"{said}: {own_files[name]} changed.\n"


def test_a_code_server_that_does_not_answer_is_reloaded_with_pauses_until_it_does(
    loom_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reloading, "RETRY_SECONDS", 0.2)
    answered = threading.Event()
    looks: list[float] = []

    def answers() -> bool:
        looks.append(time.monotonic())
        if len(looks) > 2:
            answered.set()
        return len(looks) > 2

    with watching(monkeypatch, answers=answers) as loads:
        assert answered.wait(60)
    assert loads == [None, None]
    assert looks[1] - looks[0] >= 0.2
    assert capsys.readouterr().out == 2 * f"Definitions are loaded again: {reloading.NO_ANSWER}.\n"
