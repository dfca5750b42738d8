"""`vlm-loom model ask` and `check`: one question; what a model can do, and the setting to change."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from PIL import Image as Picture

from dagster_project import model_check
from methods.errors import printable
from resources.files.home import images_path, ledger_path
from resources.images.store import ImageStore
from resources.llm.ledger import Ledger
from tests.dagster_project.conftest import Refused, Typed
from tests.doubles.odd_api import Asked, OddApi, answering
from tests.doubles.openai_api import ScriptedApi, scripted
from tests.doubles.providers.hosted_models import Gpt4o, OpenAIReasoning
from tests.doubles.providers.open_models import Ollama, Vllm
from tests.doubles.providers.provider import KEY, Provider, running

pytestmark = pytest.mark.slow

PRICE = {"price": {"prompt": 1, "completion": 2}}
Made = Callable[..., None]


@pytest.fixture
def write(loom_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """Writes a models.yaml with one entry `it`, for a server at an address."""

    def make(url: str, **fields: Any) -> None:
        entry = {"provider": "openai", "base_url": url, **fields}
        profile = {"writer": "it", "judge": "it", "evaluate": ["it"]}
        path = tmp_path / "models.yaml"
        path.write_text(yaml.safe_dump({"profiles": {"offline": profile}, "models": {"it": entry}}))
        monkeypatch.setenv("LOOM_MODELS", str(path))

    monkeypatch.setenv("IT_KEY", KEY)
    return make


@pytest.fixture
def api(write: Made) -> Iterator[ScriptedApi]:
    with scripted() as running_api:
        write(running_api.url, **PRICE)
        yield running_api


def kept() -> list[Any]:
    ledger = Ledger(ledger_path())
    try:
        return list(ledger)
    finally:
        ledger.close()


def photo(path: Path, colour: str = "red") -> Path:
    Picture.new("RGB", (30, 20), colour).save(path)
    return path


def test_an_answer_is_printed_with_its_cost_and_its_place_in_the_ledger_and_asked_for_once(
    api: ScriptedApi, typed: Typed
) -> None:
    api.answers(content="Four.", reasoning="Two and two.")
    printed = typed("model ask it", "What is 2+2?").out
    (call,) = kept()
    assert printed == (
        "Four.\n\n"
        "reasoning  Two and two.\n"
        "outcome    answered, finished by stop\n"
        "tokens     3 of the prompt, 2 of the answer\n"
        "cost       $0.000007 (paid now)\n"
        f"ledger     table calls of {ledger_path()}, key {call.key}\n"
    )
    assert call.response == "Four." and call.stage == "ask"
    assert api.received[0]["messages"] == [{"role": "user", "content": "What is 2+2?"}]
    again = typed("model ask it", "What is 2+2?").out
    assert "(it was asked before, nothing is paid now)" in again
    assert len(api.received) == 1


def test_an_image_goes_into_the_store_and_to_the_model(write, tmp_path, typed):
    images = [f"--image={photo(tmp_path / name)}" for name in ("one.png", "two words.jpg")]
    with running(Vllm("it")) as (_, url):
        write(url)
        said = typed("model ask it", *images, "What?").out
    assert said.startswith("I see 2 pictures: 30 by 20, 30 by 20.\n")
    store = ImageStore(images_path())
    stored = kept()[0].request["messages"][0]["parts"][:2]
    assert all(store.has(part["image"]) for part in stored)


@pytest.mark.parametrize(
    ("finish", "message", "outcome", "table"),
    [
        ("stop", {"content": None, "refusal": "No."}, "refused: No.\n", "charges"),
        ("length", {"content": "Fo"}, "truncated: .*raise token_limit.tokens", "calls"),
    ],
)
def test_a_reply_without_an_answer_says_why_and_where_its_charge_is(
    api: ScriptedApi, typed: Typed, finish: str, message: dict[str, Any], outcome: str, table: str
) -> None:
    api.answers(finish, **message)
    said = typed("model ask it Why?", code=1).out
    assert re.search(f"outcome    {outcome}", said)
    assert f"ledger     table {table} of {ledger_path()}" in said


def test_the_question_is_asked_as_it_is_and_what_a_model_says_cannot_steer_the_terminal(
    api: ScriptedApi, tmp_path: Path, typed: Typed
) -> None:
    api.answers(content="\x1b]0;owned\x07 a\u202eb\r\nfine \U0001f469\u200d\U0001f680")
    question = """It's "so": `date` $HOME $(HOME) $$ costs $5? # \\ %s; rm -rf /\nTwo lines."""
    image = photo(tmp_path / 'it\'s $5 "now".png')
    said = typed("model ask it --image", image, "--", question).out
    parts = api.received[0]["messages"][0]["content"]
    assert [part["type"] for part in parts] == ["image_url", "text"]
    assert parts[1]["text"] == question
    assert said.startswith(
        "\\u001b]0;owned\\u0007 a\\u202eb\\u000d\nfine \U0001f469\u200d\U0001f680\n"
    )
    assert printable("tab\there, ümläut, 中文") == "tab\there, ümläut, 中文"


def test_what_is_wrong_is_one_sentence_and_nothing_is_asked(api, tmp_path, refused):
    text, cut = tmp_path / "notes.txt", tmp_path / "cut.png"
    text.write_text("no image")
    cut.write_bytes(photo(tmp_path / "whole.png").read_bytes()[:60])
    no_file = "There is no file {}: give the path of an image."
    wrong = {
        ("nobody", "Why?"): "There is no model 'nobody' in models.yaml; there is it.",
        (): "vlm-loom model ask: say NAME and QUESTION, too.",
        ("it", " \n"): "The question is empty. Pass the question as the argument.",
        ("it", "--image=/no/such.png", "Why?"): no_file.format("/no/such.png"),
        ("it", "--image=/dev/zero", "Why?"): no_file.format("/dev/zero"),
        ("it", f"--image={text}", "Why?"): f"{text} cannot be used (",
        ("it", f"--image={cut}", "Why?"): f"{cut} cannot be used (",
    }
    for arguments, sentence in wrong.items():
        assert refused("model ask", *arguments).startswith(sentence)
    assert api.received == []


def test_without_its_key_nothing_is_asked(write: Made, monkeypatch, refused: Refused) -> None:
    monkeypatch.delenv("IT_KEY")
    with running(Gpt4o("it")) as (double, url):
        write(url, api_key_env="IT_KEY")
        for command in ("ask it Why?", "check it"):
            said = refused(f"model {command}")
            assert said == "it needs a key: set IT_KEY, or choose the profile 'offline'.\n"
    assert double.received == []
    assert not images_path().exists()


def test_a_key_that_is_refused_is_a_sentence(write: Made, monkeypatch, typed: Typed) -> None:
    monkeypatch.setenv("IT_KEY", "sk-wrong-0123456789")
    with running(Gpt4o("it")) as (_, url):
        write(url, api_key_env="IT_KEY")
        said = typed("model ask it Why?", code=2).err + typed("model check it", code=1).out
    assert "Incorrect API key provided" in said and "sk-wrong" not in said
    assert "text           does not   auth: " in said and said.count("not tried") == 6


@pytest.mark.parametrize("command", ["ask it Why?", "check it"])
def test_the_budget_bounds_the_commands(api: ScriptedApi, monkeypatch, typed, command: str) -> None:
    monkeypatch.setenv("LOOM_BUDGET_USD", "0")
    assert "budget" in typed(f"model {command}", code=2).err.lower()
    assert api.received == []


def checked(
    write: Made, typed: Typed, double: Provider, code: int, **fields: Any
) -> dict[str, str]:
    """What is said of each check by its name, in a command with this exit code."""
    with running(double) as (_, url):
        write(url, api_key_env="IT_KEY", **fields)
        lines = typed("model check it", code=code).out.splitlines()
    assert lines[0].startswith("it: it at http://127.0.0.1:")
    findings = [line for line in lines[1:] if not line.startswith((" ", "Measured", "0 tokens"))]
    return {line[:14].strip(): line[15:] for line in findings if " tokens in all" not in line}


def test_all_works_with_the_right_settings(write: Made, typed: Typed) -> None:
    said = checked(write, typed, Gpt4o("it"), 0, structured_output=True)
    assert list(said) == [
        *("text", "one image", "20 images", "image tokens", "JSON schema", "7200 tokens", "speed")
    ]
    assert all(line.startswith("works ") for line in said.values()), said
    assert "I see 20 pictures: 256 by 256" in said["20 images"]
    assert "The code word is heron." in said["7200 tokens"]


def test_what_does_not_work_has_its_setting(write: Made, typed: Typed) -> None:
    said = checked(write, typed, OpenAIReasoning("it"), 1)
    assert "set `token_limit: {name: max_completion_tokens}`" in said["text"]
    assert list(said.values())[1:] == ["not tried  since text does not work"] * 6
    said = checked(write, typed, Vllm("it"), 0, structured_output=False)
    many = "does not   too_long: Set `max_images: 8`, and `many_images:"
    assert said["20 images"].startswith(many)
    assert said["JSON schema"].startswith("works      set `structured_output: true` to use it")


class NoSchemas(Gpt4o):
    """A server that does not know the field of schemas."""

    fields = Gpt4o.fields - {"response_format"}


def test_a_schema_that_is_refused_and_switched_off_has_no_setting(write, typed):
    said = checked(write, typed, NoSchemas("it"), 0, structured_output=False)
    assert said["JSON schema"] == "does not   leave `structured_output: false`"


def test_twenty_images_are_tried_in_the_way_of_the_entry(write: Made, typed: Typed) -> None:
    grid = checked(write, typed, Vllm("it"), 0, max_images=8, many_images="grid")
    assert grid["20 images"].startswith('works      as a grid; "I see 1 pictures')
    fewer = checked(write, typed, Vllm("it"), 0, max_images=8)
    assert fewer["8 images"].startswith('works      "I see 8 pictures')


def test_a_context_that_is_silently_too_short_is_found_out(write: Made, typed: Typed) -> None:
    said = checked(write, typed, Ollama("it"), 0, context_tokens=16_000)["14400 tokens"]
    assert said.startswith("does not   the server read 40") and "set `context_tokens: 20" in said


def test_each_check_asks_anew_and_leaves_no_pictures(write, typed, monkeypatch):
    times = iter([1_000_000.0, 1_000_001.0])
    clock = SimpleNamespace(time=lambda: next(times), monotonic=time.monotonic)
    monkeypatch.setattr(model_check, "time", clock)
    double = Vllm("it")
    with running(double) as (_, url):
        write(url)
        for _ in range(2):
            assert "tokens in all, $0.000000." in typed("model check it").out
    assert len(double.received) == 24 and {call.stage for call in kept()} == {"check-model"}
    assert not images_path().exists()


@pytest.fixture
def local() -> Iterator[OddApi]:
    """Two slots, 64 tokens an image, a context of 4,096 tokens."""
    slots = threading.Semaphore(2)

    def answer(asked: Asked) -> None:
        request = asked.json
        parts = [part for each in request["messages"] for part in each["content"]]
        n_images = sum(isinstance(part, dict) and part["type"] == "image_url" for part in parts)
        if len(asked.body) > 20_000 and not n_images:
            words = "request (7210 tokens) exceeds the available context size (4096 tokens)"
            fault = {"code": 400, "message": words, "type": "exceed_context_size_error"}
            refused = {"error": fault}
            asked.send(json.dumps(refused).encode(), 400)
            return
        with slots:
            # The speed is measured with texts: longer than what a busy machine adds.
            time.sleep(0 if n_images else 1)
        asked.says('{"colour": "green"}', tokens=(20 + 64 * n_images, 30))

    with answering(answer) as api:
        yield api


def test_the_settings_of_a_local_server_are_measured(write, typed, local):
    write(local.url)
    out = typed("model check it").out
    assert "image tokens   works      64 for 256 pixels a side, 64 for 1024" in out
    assert "2 at once" in out
    advice = "set in the entry it of models.yaml:\n"
    image_tokens = {"image_tokens": {"base": 64, "tile": 0}}
    settings = yaml.safe_load(out.partition(advice)[2])
    assert settings == {**image_tokens, "context_tokens": 2048, "concurrency": 4}
    write(local.url, **image_tokens)
    out = typed("model check it").out.partition(advice)[2]
    assert out and "image_tokens" not in out, "the entry has these values"


def test_a_model_that_takes_texts_only_is_sent_no_images(write, typed, local):
    write(local.url, max_images=0)
    assert typed("model check it").out.count("not tried  since max_images is 0") == 3
    assert not any(b"image_url" in asked.body for asked in local.received)
