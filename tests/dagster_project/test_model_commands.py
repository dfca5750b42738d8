"""`vlm-loom model ask` and `check`: one question; what a model can do, and the setting to change."""

import io
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

from dagster_project.cli import main as loom
from methods.errors import printable
from resources.files.home import images_path, ledger_path
from resources.images.store import ImageStore
from resources.llm.ledger import Ledger
from tests.doubles.odd_api import Asked, OddApi, answering
from tests.doubles.openai_api import ScriptedApi, scripted
from tests.doubles.providers.open_models import Ollama, Vllm
from tests.doubles.providers.openai_models import Gpt4o, OpenAIReasoning
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
    api: ScriptedApi, capsys
) -> None:
    api.answers(content="Four.", reasoning="Two and two.")

    assert loom(["model", "ask", "it", "What is 2+2?"]) == 0

    (call,) = kept()
    assert capsys.readouterr().out == (
        "Four.\n\n"
        "reasoning  Two and two.\n"
        "outcome    answered, finished by stop\n"
        "tokens     3 of the prompt, 2 of the answer\n"
        "cost       $0.000007 (paid now)\n"
        f"ledger     table calls of {ledger_path()}, key {call.key}\n"
    )
    assert call.response == "Four." and call.stage == "ask"
    assert api.received[0]["messages"] == [{"role": "user", "content": "What is 2+2?"}]
    assert loom(["model", "ask", "it", "What is 2+2?"]) == 0
    assert "(it was asked before, nothing is paid now)" in capsys.readouterr().out
    assert len(api.received) == 1


def test_an_image_goes_into_the_store_and_to_the_model(write: Made, tmp_path: Path, capsys) -> None:
    images = [str(photo(tmp_path / name)) for name in ("one.png", "two words.jpg")]
    with running(Vllm("it")) as (_, url):
        write(url)
        code = loom(["model", "ask", "it", f"--image={images[0]}", f"--image={images[1]}", "What?"])

    assert code == 0
    assert capsys.readouterr().out.startswith("I see 2 pictures: 30 by 20, 30 by 20.\n")
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
    api: ScriptedApi, capsys, finish: str, message: dict[str, Any], outcome: str, table: str
) -> None:
    api.answers(finish, **message)

    assert loom(["model", "ask", "it", "Why?"]) == 1

    said = capsys.readouterr().out
    assert re.search(f"outcome    {outcome}", said)
    assert f"ledger     table {table} of {ledger_path()}" in said


def test_the_question_is_asked_as_it_is_and_what_a_model_says_cannot_steer_the_terminal(
    api: ScriptedApi, tmp_path: Path, capsys
) -> None:
    api.answers(content="\x1b]0;owned\x07 a\u202eb\r\nfine \U0001f469\u200d\U0001f680")
    question = """It's "so": `date` $HOME $(HOME) $$ costs $5? # \\ %s; rm -rf /\nTwo lines."""
    image = photo(tmp_path / 'it\'s $5 "now".png')
    assert loom(["model", "ask", "it", "--image", str(image), "--", question]) == 0

    parts = api.received[0]["messages"][0]["content"]
    assert [part["type"] for part in parts] == ["image_url", "text"]
    assert parts[1]["text"] == question
    said = capsys.readouterr().out
    assert said.startswith(
        "\\u001b]0;owned\\u0007 a\\u202eb\\u000d\nfine \U0001f469\u200d\U0001f680\n"
    )
    assert printable("tab\there, ümläut, 中文") == "tab\there, ümläut, 中文"


def test_what_is_wrong_is_one_sentence_and_nothing_is_asked(
    api: ScriptedApi, tmp_path: Path, capsys
) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("no image")
    cut = tmp_path / "cut.png"
    whole = io.BytesIO()
    Picture.effect_noise((64, 64), 90).save(whole, "PNG")
    cut.write_bytes(whole.getvalue()[:200])
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
        assert loom(["model", "ask", *arguments]) == 2, arguments
        said = capsys.readouterr()
        assert said.err.startswith(sentence) and said.err.count("\n") == 1, said.err
        assert said.out == ""
    assert api.received == []


def test_without_its_key_nothing_is_asked(write: Made, monkeypatch, capsys, tmp_path) -> None:
    monkeypatch.delenv("IT_KEY")
    with running(Gpt4o("it")) as (double, url):
        write(url, api_key_env="IT_KEY")
        for command in (["ask", "it", "Why?"], ["check", "it"]):
            assert loom(["model", *command]) == 2
            assert capsys.readouterr().err == (
                "it needs a key: set IT_KEY, or choose the profile 'offline'.\n"
            )
    assert double.received == []
    assert not images_path().exists()


def test_a_key_that_is_refused_is_a_sentence(write: Made, monkeypatch, capsys) -> None:
    monkeypatch.setenv("IT_KEY", "sk-wrong-0123456789")
    with running(Gpt4o("it")) as (_, url):
        write(url, api_key_env="IT_KEY")
        assert loom(["model", "ask", "it", "Why?"]) == 2
        said = capsys.readouterr().err
        assert loom(["model", "check", "it"]) == 1
        said += capsys.readouterr().out

    assert "Incorrect API key provided" in said and "sk-wrong" not in said
    assert "text           does not   auth: " in said and said.count("not tried") == 6


@pytest.mark.parametrize("command", [["ask", "it", "Why?"], ["check", "it"]])
def test_the_budget_bounds_the_commands(api: ScriptedApi, monkeypatch, capsys, command) -> None:
    monkeypatch.setenv("LOOM_BUDGET_USD", "0")

    assert loom(["model", *command]) == 2

    assert "budget" in capsys.readouterr().err.lower()
    assert api.received == []


def checked(write: Made, capsys, double: Provider, **fields: Any) -> tuple[int, dict[str, str]]:
    """The exit code, and what is said of each check by its name."""
    with running(double) as (_, url):
        write(url, api_key_env="IT_KEY", **fields)
        code = loom(["model", "check", "it"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("it: it at http://127.0.0.1:")
    findings = [line for line in lines[1:] if not line.startswith((" ", "Measured", "0 tokens"))]
    return code, {line[:14].strip(): line[15:] for line in findings if " tokens in all" not in line}


def test_all_works_with_the_right_settings(write: Made, capsys) -> None:
    code, said = checked(write, capsys, Gpt4o("it"), structured_output=True)

    assert code == 0
    assert list(said) == [
        *("text", "one image", "20 images", "image tokens", "JSON schema", "7200 tokens", "speed"),
    ]
    assert all(line.startswith("works ") for line in said.values()), said
    assert "I see 20 pictures: 256 by 256" in said["20 images"]
    assert "The code word is heron." in said["7200 tokens"]


def test_what_does_not_work_has_its_setting(write: Made, capsys) -> None:
    code, said = checked(write, capsys, OpenAIReasoning("it"))
    assert code == 1
    assert "set `token_limit: {name: max_completion_tokens}`" in said["text"]
    assert list(said.values())[1:] == ["not tried  since text does not work"] * 6

    code, said = checked(write, capsys, Vllm("it"), structured_output=False)

    assert code == 0
    assert said["20 images"].startswith(
        "does not   too_long: Set `max_images: 8`, and `many_images:"
    )
    assert said["JSON schema"].startswith("works      set `structured_output: true` to use it")


class NoSchemas(Gpt4o):
    """A server that does not know the field of schemas."""

    fields = Gpt4o.fields - {"response_format"}


def test_a_schema_that_is_refused_and_switched_off_has_no_setting(write: Made, capsys) -> None:
    _, said = checked(write, capsys, NoSchemas("it"), structured_output=False)
    assert said["JSON schema"] == "does not   leave `structured_output: false`"


def test_twenty_images_are_tried_in_the_way_of_the_entry(write: Made, capsys) -> None:
    _, grid = checked(write, capsys, Vllm("it"), max_images=8, many_images="grid")
    _, fewer = checked(write, capsys, Vllm("it"), max_images=8)

    assert grid["20 images"].startswith('works      as a grid; "I see 1 pictures')
    assert fewer["8 images"].startswith('works      "I see 8 pictures')


def test_a_context_that_is_silently_too_short_is_found_out(write: Made, capsys) -> None:
    code, said = checked(write, capsys, Ollama("it"), context_tokens=16_000)

    assert code == 0
    assert said["14400 tokens"].startswith("does not   the server read 40")
    assert "set `context_tokens: 20" in said["14400 tokens"]


def test_each_check_asks_anew_and_leaves_no_pictures(write: Made, capsys, monkeypatch) -> None:
    from dagster_project import model_check

    times = iter([1_000_000.0, 1_000_001.0])
    clock = SimpleNamespace(time=lambda: next(times), monotonic=time.monotonic)
    monkeypatch.setattr(model_check, "time", clock)
    double = Vllm("it")
    with running(double) as (_, url):
        write(url)
        for _ in range(2):
            loom(["model", "check", "it"])

    assert len(double.received) == 24 and {call.stage for call in kept()} == {"check-model"}
    assert not images_path().exists()
    assert capsys.readouterr().out.count("tokens in all, $0.000000.") == 2


@pytest.fixture
def local() -> Iterator[OddApi]:
    """Two slots, 64 tokens an image, a context of 4,096 tokens."""
    slots = threading.Semaphore(2)

    def answer(asked: Asked) -> None:
        request = json.loads(asked.body)
        parts = [part for each in request["messages"] for part in each["content"]]
        n_images = sum(isinstance(part, dict) and part["type"] == "image_url" for part in parts)
        if len(asked.body) > 20_000 and not n_images:
            words = "request (7210 tokens) exceeds the available context size (4096 tokens)"
            refused = {
                "error": {"code": 400, "message": words, "type": "exceed_context_size_error"}
            }
            asked.send(json.dumps(refused).encode(), 400)
            return
        with slots:
            # The speed is measured with texts: longer than what a busy machine adds.
            time.sleep(0 if n_images else 1)
        asked.says('{"colour": "green"}', tokens=(20 + 64 * n_images, 30))

    with answering(answer) as api:
        yield api


def test_the_settings_of_a_local_server_are_measured(write: Made, capsys, local: OddApi) -> None:
    write(local.url)

    assert loom(["model", "check", "it"]) == 0
    out = capsys.readouterr().out
    assert "image tokens   works      64 for 256 pixels a side, 64 for 1024" in out
    assert "2 at once" in out
    settings = yaml.safe_load(out.partition("set in the entry it of models.yaml:\n")[2])
    assert settings == {
        "image_tokens": {"base": 64, "tile": 0},
        "context_tokens": 2048,
        "concurrency": 4,
    }

    write(local.url, image_tokens=settings["image_tokens"])
    assert loom(["model", "check", "it"]) == 0
    out = capsys.readouterr().out.partition("set in the entry it of models.yaml:\n")[2]
    assert out and "image_tokens" not in out, "the entry has these values"


def test_a_model_that_takes_texts_only_is_sent_no_images(
    write: Made, capsys, local: OddApi
) -> None:
    write(local.url, max_images=0)

    assert loom(["model", "check", "it"]) == 0
    assert capsys.readouterr().out.count("not tried  since max_images is 0") == 3
    assert not any(b"image_url" in asked.body for asked in local.received)
