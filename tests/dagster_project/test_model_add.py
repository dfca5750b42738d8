"""`vlm-loom model add`: the entry in models.yaml is what the server and the checks say."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from dagster_project.model_add import name_of
from dagster_project.model_measures import (
    TokenRate,
    context_settings,
    image_settings,
    slots_of,
    speed_settings,
)
from resources.llm.estimate import image_tokens
from resources.llm.model_spec import ModelSpec
from resources.llm.registry import load_registry
from tests.dagster_project.conftest import Typed
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
        (*("Ollama", "qwen3-vl-8b", Ollama("qwen3-vl:8b")), {**LOCAL, "context_tokens": 2048}),
    ],
)
def test_the_entry_is_what_the_server_says_and_the_checks_find(
    models: Path, typed: Typed, software: str, name: str, chat: Provider, settings: dict[str, Any]
) -> None:
    with model_server(PAGES[software], chat=chat) as root:
        said = typed("model add", root).out
    entry = {"provider": "openai", "model": chat.model, "base_url": f"{root}/v1", **settings}
    written = models.read_text()
    assert written.startswith(FILE) and models.stat().st_mode & 0o777 == 0o640
    assert yaml.safe_load(written)["models"][name] == entry
    assert load_registry().profile("p").evaluate == ["mine"]
    assert f"{software} at {root}/v1 serves {chat.model}.\n" in said
    assert written.removeprefix(FILE) in said, "it prints what it wrote"


def test_a_profile_evaluates_it_only_if_asked_to(models: Path, typed: Typed, monkeypatch) -> None:
    link = models.with_name("link.yaml")
    link.symlink_to(models)
    monkeypatch.setenv("LOOM_MODELS", str(link))
    with model_server(TWO, chat=Vllm("Qwen/VL")) as root:
        said = typed(f"model add {root} --model Qwen/VL --name vl --profile p").out
    assert "{judge: mine, evaluate: [mine, vl]}  # one model\n" in models.read_text()
    assert link.is_symlink() and "vlm-loom build --profile p" in said


def test_a_model_that_takes_no_images_is_written_and_evaluated_by_no_profile(models, typed):
    with model_server(PAGES[""], chat=TextOnly("m")) as root:
        said = typed(f"model add {root} --profile p").out
    assert "It takes no image, so no profile evaluates it" in said
    assert load_registry().model("m").max_images == 0
    assert load_registry().profile("p").evaluate == ["mine"]


def test_a_model_that_is_there_is_added_to_a_profile_without_being_asked(models, typed):
    chat = Vllm("Qwen/VL")
    with model_server(PAGES["vLLM"], chat=chat) as root:
        typed("model add", root)
        n_asked, entry = len(chat.received), models.read_text()
        assert "name a profile (--profile)" in typed("model add", root, code=2).err
        typed(f"model add {root} --profile p")
    assert models.read_text() == entry.replace("[mine]", "[mine, vl]")
    assert len(chat.received) == n_asked


def test_a_server_that_wants_a_key_is_given_it(models: Path, typed: Typed, monkeypatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-of-mine")
    with model_server(PAGES["vLLM"], chat=Vllm("Qwen/VL"), key="sk-of-mine") as root:
        assert "name the variable (--api-key-env)" in typed("model add", root, code=2).err
        unset = typed(f"model add {root} --api-key-env UNSET", code=2)
        assert "UNSET is not set" in unset.err
        typed(f"model add {root} --api-key-env MY_KEY")
    assert load_registry().model("vl").api_key_env == "MY_KEY"
    assert "sk-of-mine" not in models.read_text()


def test_an_entry_that_cannot_be_written_is_printed_and_a_name_does_not_steer_the_terminal(
    models: Path, typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = "m\x1b[2J\n- a: b"
    with model_server({"/v1/models": {"data": [{"id": odd}]}}, chat=Vllm(odd)) as root:
        assert "\x1b" not in typed(f"model add {root} --name it").out
    assert load_registry().model("it").model == odd

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("dagster_project.model_add.write_atomically", refuse)
    with model_server(PAGES["vLLM"], chat=Vllm("Qwen/VL")) as root:
        said = typed("model add", root, code=2).err
    assert "cannot be written (Operation not permitted). Add these lines to `models`" in said
    assert "context_tokens: 30720" in said


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        ({"id": "m", "max_model_len": 10**12}, "says that m takes 1000000000000 tokens"),
        ({"id": "\ud800x"}, "has half a character (a lone surrogate): \\ud800x. Give it another"),
    ],
)
def test_what_a_server_says_that_no_entry_takes_is_refused(models, typed, page, sentence):
    with model_server({"/v1/models": {"data": [page]}}, chat=Vllm("m")) as root:
        assert sentence in typed("model add", root, code=2).err
    assert models.read_text() == FILE


def test_a_model_that_does_not_answer_is_not_written(models: Path, typed: Typed) -> None:
    with model_server(PAGES[""], chat=Vllm("another")) as root:
        assert "Nothing was written" in typed("model add", root, code=1).out
    assert models.read_text() == FILE


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
    models: Path, typed: Typed, arguments: list[str], sentence: str
) -> None:
    chat = Vllm("Qwen/VL")
    with model_server(PAGES["vLLM"] if "--name" in arguments else TWO, chat=chat) as root:
        said = typed("model add", root, *arguments, code=2).err
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


def entry(**fields: object) -> ModelSpec:
    return ModelSpec.model_validate({"name": "m", "provider": "openai", "model": "m", **fields})


@pytest.mark.parametrize(
    ("max_side", "small", "large", "base", "tile"),
    [
        (1024, 255, 765, 85, 170),  # GPT-4o: one tile, and four
        (1024, 64, 64, 64, 0),  # a fixed number
        (1024, 10, 171, 0, 54),  # per pixel; rounded up
        (512, 70, 90, 90, 0),  # the largest image is one tile
    ],
)
def test_image_tokens(max_side: int, small: int, large: int, base: int, tile: int) -> None:
    spec = entry(max_side=max_side)
    settings = image_settings(spec, small, large)
    assert settings == {"image_tokens": {"base": base, "tile": tile}}
    assert image_tokens(entry(max_side=max_side, **settings)) >= large


@pytest.mark.parametrize(
    ("refusal", "context"),
    [
        ("request (9030 tokens) exceeds the available context size (4096 tokens)", 2048),
        ("This model's maximum context length is 32768 tokens.", 30720),
        ("Input length (9030) exceeds max_model_len (8192).", 6144),
        ("The request is too long.", None),
    ],
)
def test_a_context_leaves_room_for_the_answer(refusal: str, context: int | None) -> None:
    expected = {} if context is None else {"context_tokens": context}
    assert context_settings(refusal) == expected


@pytest.mark.parametrize(
    ("seconds", "slots"), [(10.0, None), (12.0, None), (20.0, 2), (40.0, 1), (60.0, 1)]
)
def test_slots_are_how_much_faster_four_are_together(seconds: float, slots: int | None) -> None:
    assert slots_of(TokenRate(100, 10.0), TokenRate(400, seconds), 4) == slots
    # A server that answers in no time says nothing about its slots.
    assert slots_of(TokenRate(100, 0.01), TokenRate(400, 0.04), 4) is None


def test_timeouts_hold_the_longest_answer_and_one_before_it_in_the_queue() -> None:
    # 2,048 tokens at 10 a second are 205 s; with two requests a slot, twice that: 420 s in steps of 30.
    assert speed_settings(entry(), TokenRate(100, 10.0), 2, 2048) == {
        "concurrency": 4,
        "timeouts": {"whole": 420},
    }
    # An entry that asks for fewer at once keeps that: one and a half times 205 s are 307.
    assert speed_settings(entry(concurrency=3), TokenRate(100, 10.0), 2, 2048) == {
        "timeouts": {"whole": 330}
    }
    assert speed_settings(entry(), TokenRate(1000, 10.0), None, 2048) == {}, "the defaults will do"
