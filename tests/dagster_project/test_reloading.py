"""Which files definitions depend on, and when they are loaded again."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from dagster_project import reloading
from dagster_project.reloading import files_state, reload_when_changed
from resources.files.atomic import write_atomically
from resources.files.home import REPO_ROOT
from resources.settings.extras import folders

LOADED = {"__typename": "WorkspaceLocationEntry", "locationOrLoadError": {"__typename": "Loaded"}}
BROKEN = {
    "__typename": "WorkspaceLocationEntry",
    "locationOrLoadError": {"__typename": "PythonError", "message": "no such column\nin line 3\n"},
}


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


class Webserver:
    """Answers requests to load the code location again, and counts them."""

    def __init__(self, *answers: dict | Exception):
        self.answers = list(answers)
        self.asked: list[str] = []
        self.all_asked = threading.Event()

    def post(self, url: str, *, json: dict, **_settings: object) -> httpx2.Response:
        self.asked.append(f"{url} {json['variables']['location']}")
        answer = self.answers.pop(0)
        if not self.answers:
            self.all_asked.set()
        if isinstance(answer, Exception):
            raise answer
        body = {"data": {"reloadRepositoryLocation": answer}}
        return httpx2.Response(200, json=body, request=httpx2.Request("POST", url))


@contextmanager
def watching(webserver: Webserver, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(httpx2, "post", webserver.post)
    monkeypatch.setattr(reloading, "INTERVAL", 0.01)
    stop = threading.Event()
    arguments = ("http://ui", files_state(), stop)
    thread = threading.Thread(target=reload_when_changed, args=arguments)
    thread.start()
    try:
        yield
        assert webserver.all_asked.wait(60)
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


@pytest.mark.parametrize("name", ["settings", "models", "prompt"])
def test_a_written_file_is_loaded_once(
    name: str,
    own_files: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    webserver = Webserver(LOADED)
    with watching(webserver, monkeypatch):
        write_atomically(own_files[name], b"something of another size")

    assert webserver.asked == ["http://ui/graphql vlm-loom"]
    assert capsys.readouterr().out == f"Definitions are loaded again: {own_files[name]} changed.\n"


def test_a_removed_file_is_a_change(
    own_files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    webserver = Webserver(LOADED)
    with watching(webserver, monkeypatch):
        own_files["prompt"].unlink()
    assert len(webserver.asked) == 1


def test_a_change_waits_for_a_webserver_that_does_not_answer_yet(
    own_files: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    webserver = Webserver(httpx2.ConnectError("refused"), httpx2.ReadTimeout("busy"), LOADED)
    with watching(webserver, monkeypatch):
        write_atomically(own_files["settings"], b"{}")

    assert len(webserver.asked) == 3
    assert capsys.readouterr().out.count("\n") == 1


def test_definitions_that_do_not_load_are_named_and_not_tried_again_until_the_next_change(
    own_files: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    webserver = Webserver(BROKEN)
    with watching(webserver, monkeypatch):
        write_atomically(own_files["prompt"], b"")

    assert len(webserver.asked) == 1
    assert capsys.readouterr().out == (
        f"Definitions do not load, as the UI shows (no such column): {own_files['prompt']} changed.\n"
    )
