"""`vlm-loom model add`: the entry in models.yaml is what the server and the checks say."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from dagster_project.cli import main as loom
from dagster_project.model_add import name_of
from resources.llm.registry import load_registry
from tests.doubles.model_server import PAGES, model_server
from tests.doubles.providers.open_models import Ollama, Vllm
from tests.doubles.providers.provider import Asked, Provider

FILE = """# Mine.
profiles:
  p: {judge: mine, evaluate: [mine]}  # one model
models:
  mine: {provider: mock}
"""
TWO = {"/v1/models": {"data": [{"id": "Qwen/VL"}, {"id": "llava:7b"}]}}
LOCAL = {"timeouts": {"whole": 600}, "image_tokens": {"base": 85, "tile": 0}}


@pytest.fixture
def models(loom_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "models.yaml"
    path.write_text(FILE)
    path.chmod(0o640)
    monkeypatch.setenv("LOOM_MODELS", str(path))
    return path


class TextOnly(Vllm):
    """A server whose model takes no image."""

    def check(self, asked: Asked) -> None:
        if asked.pictures:
            raise self.error("image input is not supported", code=500)
        super().check(asked)


@pytest.mark.parametrize(
    ("software", "name", "chat", "settings"),
    [
        (
            *("llama.cpp", "gemma-3", Vllm("models/Gemma-3.gguf")),
            {**LOCAL, "concurrency": 2, "context_tokens": 2048}
            | {"max_images": 8, "many_images": "grid"},
        ),
        (
            *("Ollama", "qwen3-vl-8b", Ollama("qwen3-vl:8b")),
            {**LOCAL, "context_tokens": 2048},
        ),
    ],
)
def test_the_entry_is_what_the_server_says_and_the_checks_find(
    models: Path, capsys: Any, software: str, name: str, chat: Provider, settings: dict[str, Any]
) -> None:
    with model_server(PAGES[software], chat=chat) as root:
        assert loom(["model", "add", root]) == 0

    entry = {"provider": "openai", "model": chat.model, "base_url": f"{root}/v1", **settings}
    written = models.read_text()
    assert written.startswith(FILE) and models.stat().st_mode & 0o777 == 0o640
    assert yaml.safe_load(written)["models"][name] == entry
    assert load_registry().profile("p").evaluate == ["mine"]
    said = capsys.readouterr().out
    assert f"{software} at {root}/v1 serves {chat.model}.\n" in said
    assert written.removeprefix(FILE) in said, "it prints what it wrote"


def test_a_profile_evaluates_it_only_if_asked_to(models: Path, capsys: Any) -> None:
    link = models.with_name("link.yaml")
    link.symlink_to(models)
    with pytest.MonkeyPatch.context() as patch, model_server(TWO, chat=Vllm("Qwen/VL")) as root:
        patch.setenv("LOOM_MODELS", str(link))
        which = ["--model", "Qwen/VL", "--name", "vl"]
        assert loom(["model", "add", root, *which, "--profile", "p"]) == 0

    assert "{judge: mine, evaluate: [mine, vl]}  # one model\n" in models.read_text()
    assert link.is_symlink()
    assert "vlm-loom build --profile p" in capsys.readouterr().out


def test_a_model_that_takes_no_images_is_written_and_evaluated_by_no_profile(
    models: Path, capsys: Any
) -> None:
    with model_server(PAGES[""], chat=TextOnly("m")) as root:
        assert loom(["model", "add", root, "--profile", "p"]) == 0

    assert "It takes no image, so no profile evaluates it" in capsys.readouterr().out
    assert load_registry().model("m").max_images == 0
    assert load_registry().profile("p").evaluate == ["mine"]


def test_a_model_that_is_there_is_added_to_a_profile_without_being_asked(
    models: Path, capsys: Any
) -> None:
    chat = Vllm("Qwen/VL")
    with model_server(PAGES["vLLM"], chat=chat) as root:
        assert loom(["model", "add", root]) == 0
        n_asked, entry = len(chat.received), models.read_text()
        assert loom(["model", "add", root]) == 2
        assert "name a profile (--profile)" in capsys.readouterr().err
        assert loom(["model", "add", root, "--profile", "p"]) == 0

    assert models.read_text() == entry.replace("[mine]", "[mine, vl]")
    assert len(chat.received) == n_asked


def test_a_server_that_wants_a_key_is_given_it(
    models: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-of-mine")
    with model_server(PAGES["vLLM"], chat=Vllm("Qwen/VL"), key="sk-of-mine") as root:
        assert loom(["model", "add", root]) == 2
        assert "name the variable (--api-key-env)" in capsys.readouterr().err
        assert loom(["model", "add", root, "--api-key-env", "UNSET"]) == 2
        assert "UNSET is not set" in capsys.readouterr().err
        assert loom(["model", "add", root, "--api-key-env", "MY_KEY"]) == 0

    assert load_registry().model("vl").api_key_env == "MY_KEY"
    assert "sk-of-mine" not in models.read_text()


def test_an_entry_that_cannot_be_written_is_printed_and_a_name_does_not_steer_the_terminal(
    models: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = "m\x1b[2J\n- a: b"
    with model_server({"/v1/models": {"data": [{"id": odd}]}}, chat=Vllm(odd)) as root:
        assert loom(["model", "add", root, "--name", "it"]) == 0
    assert "\x1b" not in capsys.readouterr().out
    assert load_registry().model("it").model == odd

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("dagster_project.model_add.write_atomically", refuse)
    with model_server(PAGES["vLLM"], chat=Vllm("Qwen/VL")) as root:
        assert loom(["model", "add", root]) == 2

    said = capsys.readouterr().err
    assert "cannot be written (Operation not permitted). Add these lines to `models`" in said
    assert "context_tokens: 30720" in said


def test_a_name_from_the_server_with_half_a_character_is_refused(models: Path, capsys: Any) -> None:
    chat = Vllm("m")
    with model_server({"/v1/models": {"data": [{"id": "\ud800x"}]}}, chat=chat) as root:
        assert loom(["model", "add", root]) == 2

    said = capsys.readouterr().err
    assert "has half a character (a lone surrogate): \\ud800x. Give it another" in said
    assert (said.count("\n"), models.read_text(), chat.received) == (1, FILE, [])


def test_a_context_that_no_entry_takes_is_the_servers_fault(models: Path, capsys: Any) -> None:
    pages = {"/v1/models": {"data": [{"id": "m", "max_model_len": 10**12}]}}
    with model_server(pages, chat=Vllm("m")) as root:
        assert loom(["model", "add", root]) == 2

    assert f"{root}/v1 says that m takes 1000000000000 tokens" in capsys.readouterr().err
    assert models.read_text() == FILE


def test_a_model_that_does_not_answer_is_not_written(models: Path, capsys: Any) -> None:
    with model_server(PAGES[""], chat=Vllm("another")) as root:
        assert loom(["model", "add", root]) == 1

    assert models.read_text() == FILE
    assert "Nothing was written" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["--name", "mine"],
            "already has a model 'mine', of another server or model. Give the new",
        ),
        (["--name", "rule"], "rule is not a name for a model"),
        (["--name", "a\nb"], "'a\\nb' cannot be a model's name"),
        (["--profile", "q"], "There is no profile 'q' in models.yaml"),
        ([], "serves 2 models: Qwen/VL, llava:7b. Say which (--model).\n"),
    ],
)
def test_what_cannot_be_added_is_a_sentence_before_the_model_is_asked(
    models: Path, capsys: Any, arguments: list[str], sentence: str
) -> None:
    chat = Vllm("Qwen/VL")
    with model_server(PAGES["vLLM"] if "--name" in arguments else TWO, chat=chat) as root:
        assert loom(["model", "add", root, *arguments]) == 2

    said = capsys.readouterr().err
    assert sentence in said and said.count("\n") == 1
    assert (models.read_text(), chat.received) == (FILE, [])


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("Qwen/Qwen3-VL-8B-Instruct", "qwen3-vl-8b-instruct"),
        ("/models/gemma-3-Q4_K_M.gguf", "gemma-3-q4_k_m"),
        ("C:\\models\\a b.gguf", "a-b"),
        ("qwen3-vl:8b", "qwen3-vl-8b"),
        ("视觉模型", "视觉模型"),
        ("://", "model"),
    ],
)
def test_a_name_is_made_from_the_model(model: str, name: str) -> None:
    assert name_of(model) == name
